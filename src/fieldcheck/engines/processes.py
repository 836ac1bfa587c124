"""Processes of this machine, by the standard library."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from typing import Any, ClassVar

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool import engine

TRIES = 3
"""Times in a row that workers may die without any shard getting done."""


@dataclass(frozen=True)
class Processes:
    """Several processes on this machine; one that dies is replaced, and its shard is done again.

    workers
        How many; left out, one for each processor.
    """

    name: ClassVar[str] = "processes"
    title: ClassVar[str] = "processes of this machine"

    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise FieldcheckError(f"{self.workers} workers", rule="at least one", hint="processes:workers=2")

    def map(
        self, step: Callable[[engine.S, engine.C], engine.R], shards: Sequence[engine.S], constants: engine.C
    ) -> Iterator[engine.R]:
        """Results in order; what is done before its turn waits."""
        return engine.in_order(self.as_done(step, shards, constants))

    def as_done(
        self, step: Callable[[engine.S, engine.C], engine.R], shards: Sequence[engine.S], constants: engine.C
    ) -> Iterator[tuple[int, engine.R]]:
        """Results with the number of their shard, as they come."""
        missing, tries = dict(enumerate(shards)), 0
        while missing:
            before = len(missing)
            try:
                for at, result in self._some(step, dict(missing), constants):
                    del missing[at]
                    yield at, result
            except BrokenProcessPool:
                tries = 1 if len(missing) < before else tries + 1
                if tries >= TRIES:
                    raise self._dead(len(missing)) from None

    def _some(
        self, step: Callable[[engine.S, engine.C], engine.R], shards: Mapping[int, engine.S], constants: engine.C
    ) -> Iterator[tuple[int, engine.R]]:
        """Results by the number of their shard, as they come, until all are there or a worker dies."""
        count = min(self.workers or os.cpu_count() or 1, len(shards))
        executor = _spawning(count, constants)
        try:
            with _deaf(), _sending():
                coming = {executor.submit(_work, step, one): at for at, one in shards.items()}
            yield from _as_they_come(executor, coming)
        except BaseException:
            _end(executor)  # what is under way is lost either way: nothing is waited for
            raise
        finally:
            # Waited for: a pool that is still closing when Python exits trips over its own pipe.
            executor.shutdown(wait=True, cancel_futures=True)

    def kept(self) -> KeptProcesses:
        """The same whose processes stay for the next steps, as long as it is held."""
        return KeptProcesses(self.workers)

    def _dead(self, left: int) -> FieldcheckError:
        return FieldcheckError(
            f"workers died {TRIES} times, with {left:,} shards left",
            rule="a worker is not killed and has the memory that a shard needs; a script that starts several does so "
            'under `if __name__ == "__main__":`',
            hint="smaller shards (--rows), or one worker: --engine processes:workers=1",
        )


@dataclass(frozen=True, eq=False)
class KeptProcesses(Processes):
    """Processes that are started once for many short steps."""

    _held: dict[str, ProcessPoolExecutor] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        weakref.finalize(self, _let_go, self._held)
        _waiting[id(self)] = self  # equal ones are not the same

    def kept(self) -> KeptProcesses:
        """Itself: several pools share its processes."""
        return self

    def _some(
        self, step: Callable[[engine.S, engine.C], engine.R], shards: Mapping[int, engine.S], constants: engine.C
    ) -> Iterator[tuple[int, engine.R]]:
        if "" not in self._held:
            self._held[""] = _spawning(self.workers or os.cpu_count() or 1, None)
        executor = self._held[""]
        try:
            with _deaf(), _sending():
                sent = pickle.dumps((step, constants))
                coming = {executor.submit(_work_on, sent, one): at for at, one in shards.items()}
            yield from _as_they_come(executor, coming)
        except BaseException:
            _let_go(self._held)
            raise


_waiting: weakref.WeakValueDictionary[int, KeptProcesses] = weakref.WeakValueDictionary()
"""All whose processes may wait for steps."""


def let_go() -> None:
    """End the processes that wait for steps, at the end of a command. Python would wait for them, and Ctrl-C, in that
    moment, print where it was."""
    with suppress(KeyboardInterrupt), _heard_later():
        for one in list(_waiting.values()):
            _let_go(one._held)


def _let_go(held: dict[str, ProcessPoolExecutor]) -> None:
    """Nothing is waited for but the end of the processes."""
    while held:
        _end(held.popitem()[1])


def _spawning(count: int, constants: Any) -> ProcessPoolExecutor:
    """Spawned: a fork of a process with threads, as models have them, may hang."""
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin, (constants,))


def _workers(executor: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((executor._processes or {}).values())


def _end(executor: ProcessPoolExecutor) -> None:
    """Now. Python's thread for the answers may be in the middle of one whose writer has died, and waits for the rest
    as long as anybody, itself too, could write it."""
    for worker in _workers(executor):
        worker.terminate()
    answers = getattr(executor, "_result_queue", None)  # none, when it has ended
    if answers is not None and not answers._writer.closed:
        answers._writer.close()
    executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that start here do not hear Ctrl-C; this one does, when they have started, and stops them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _heard_later():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _heard_later() -> Iterator[None]:
    """Ctrl-C waits. A mask is of one thread: another one may take the signal, and Python tells the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
        if heard:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _sending() -> Iterator[None]:
    """Python says in three ways that an object cannot be sent."""
    try:
        yield
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise FieldcheckError(
            f"this cannot be sent to another process: {error}",
            rule="models and inputs are given by their files",
            hint="--engine local",
        ) from error


IDLE = 2.0
"""Seconds without an answer, after which somebody looks whether workers live."""


def _as_they_come(
    executor: ProcessPoolExecutor, coming: Mapping[Future[engine.R], int]
) -> Iterator[tuple[int, engine.R]]:
    """What is done, and only then that a worker died: all that was done before is kept."""
    broken: BrokenProcessPool | None = None
    done = queue.SimpleQueue[Future[engine.R]]()
    for future in coming:
        future.add_done_callback(done.put)
    for _ in coming:
        future = _next(done, executor)
        try:
            yield coming[future], future.result()
        except (BrokenProcessPool, CancelledError):
            broken = BrokenProcessPool()
    if broken is not None:
        raise broken


def _next(done: queue.SimpleQueue[Future[engine.R]], executor: ProcessPoolExecutor) -> Future[engine.R]:
    """What is done next. Of a worker that died in the middle of its answer Python itself says nothing: see ``_end``."""
    while True:
        try:
            return done.get(timeout=IDLE)
        except queue.Empty:
            if any(not one.is_alive() for one in _workers(executor)) and done.empty():
                _end(executor)


_constants: Any = None
"""Of a worker process: they reach it once."""


def _begin(constants: Any) -> None:
    global _constants  # noqa: PLW0603 -- the only way to hand a worker process its state once
    _constants = constants
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that it works for hears it, and stops it
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """End with the process that it works for, also where that one was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


_last: dict[bytes, Any] = {}
"""Of a worker that is kept: the step and the constants that it was sent last."""


def _work_on(sent: bytes, shard: Any) -> Any:
    if sent not in _last:
        _last.clear()
        _last[sent] = pickle.loads(sent)  # noqa: S301 -- by the process that this one works for
    step, constants = _last[sent]
    return step(shard, constants)


def _work(step: Callable[[Any, Any], Any], shard: Any) -> Any:
    return step(shard, _constants)
