"""One thread that does what people send, in the order in which it came; what waits is stored together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


Together = Callable[[], contextlib.AbstractContextManager[None]]


MOST = 100
"""Acts that are stored at one go, at most."""


class Turns:
    """Takes acts from the event loop, one after the other.

    A commit takes as long for twenty labels as for one: what came while the last one was made shares the next. Nothing
    is answered before it is stored. Where acts cannot be stored together (another program wrote, one was sent twice,
    one is refused), each is done on its own.
    """

    def __init__(self, name: str, *, together: Together | None = None) -> None:
        """Within ``together``, acts are stored at one go; without it, each is done on its own."""
        self._storing = together
        self._waiting: SimpleQueue[_Act] = SimpleQueue()
        self._thread = Thread(target=self._run, name=f"fieldcheck-{name}", daemon=True)

    async def take(self, do: Callable[[], T]) -> T:
        """What an act returns, when it is done and stored."""
        if not self._thread.is_alive():
            self._thread.start()
        act = _Act(do)
        self._waiting.put(act)
        found: T = await act.answer
        return found

    def _run(self) -> None:
        while True:
            acts = [self._waiting.get()]
            with contextlib.suppress(Empty):
                while self._storing and len(acts) < MOST:
                    acts.append(self._waiting.get_nowait())
            self._do(acts)

    def _do(self, acts: Sequence[_Act]) -> None:
        done = _done(acts, self._storing) if self._storing and len(acts) > 1 else {}
        for act in acts:
            act.tell(done[act] if act in done else act.alone())


class _Act:
    """Something to be done, and the answer that somebody waits for."""

    def __init__(self, do: Callable[[], Any]) -> None:
        self.do, self._loop = do, asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self._loop.create_future()

    def alone(self) -> Any:
        """Do it: what it returns, or the error."""
        try:
            return self.do()
        except Exception as error:
            return error

    def tell(self, found: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the server was stopped: nobody listens any more
            self._loop.call_soon_threadsafe(self._tell, found)

    def _tell(self, found: Any) -> None:
        if self.answer.cancelled():
            return
        if isinstance(found, Exception):
            self.answer.set_exception(found)
        else:
            self.answer.set_result(found)


def _done(acts: Sequence[_Act], together: Together) -> dict[_Act, Any]:
    """The answers to those acts that were stored; the others are not in it."""
    done = {}
    try:
        with together():
            for act in acts:
                with contextlib.suppress(Exception):  # it is done again, on its own, and fails there
                    done[act] = act.do()
    except Exception:
        return {}
    return done
