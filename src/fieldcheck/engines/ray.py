"""A cluster of machines, by Ray: one actor for each processor, each with the constants in its memory."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool import engine

TRIES = 3
"""Times that a shard is done again whose worker died."""


PATIENCE = 10.0
"""Seconds that a cluster has to answer."""


@dataclass(frozen=True)
class Ray:
    """Ray Core: workers on this machine, or on those of a cluster that is there; it must see the same folders.

    address
        Of a cluster: ``host:6379`` where this machine is part of it, ``ray://host:10001`` from outside, with Ray's
        extra ``client`` on both sides. Left out, one is started here, and stopped again.
    workers
        How many; left out, one for each processor of the cluster.
    """

    name: ClassVar[str] = "ray"
    title: ClassVar[str] = "a cluster, by Ray"

    address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise FieldcheckError(f"{self.workers} workers", rule="at least one", hint="ray:workers=2")

    def map(
        self, step: Callable[[engine.S, engine.C], engine.R], shards: Sequence[engine.S], constants: engine.C
    ) -> Iterator[engine.R]:
        """Results in order; what is done before its turn waits."""
        return engine.in_order(self.as_done(step, shards, constants))

    def as_done(
        self, step: Callable[[engine.S, engine.C], engine.R], shards: Sequence[engine.S], constants: engine.C
    ) -> Iterator[tuple[int, engine.R]]:
        """Results with the number of their shard, as they come."""
        ray = _imported()
        with self._connected(ray):
            # In a list Ray leaves it alone: each worker fetches it when its first shard comes, a new one too.
            kept = [ray.put(constants)]
            count = min(self.workers or int(ray.cluster_resources().get("CPU", 1)), len(shards))
            try:
                with self._working(ray, count) as actors:
                    yield from _as_done(ray, actors, step, shards, kept)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayActorError as error:
                raise FieldcheckError(
                    "a worker of Ray died several times",
                    rule="a worker is not killed and has the memory that a shard needs",
                    hint="smaller shards (--rows), or fewer workers: --engine ray:workers=1",
                ) from error
            except ray.exceptions.RayError as error:
                raise FieldcheckError(
                    f"a worker of Ray cannot work: {str(error).strip().splitlines()[-1]}",
                    rule="every machine of the cluster has the same fieldcheck, and sees the same folders",
                    hint="pip install there what is installed here",
                ) from error

    @contextmanager
    def _working(self, ray: Any, count: int) -> Iterator[list[Any]]:
        """So many workers, as long as it takes."""
        actors = _made(ray, count)
        try:
            yield actors
        finally:
            for actor in actors:
                ray.kill(actor)

    def kept(self) -> KeptRay:
        """The same whose workers stay for the next steps; this process stays in the cluster until it leaves it."""
        ray = _imported()
        if not ray.is_initialized():
            self._join(ray)
        return KeptRay(self.address, self.workers)

    @contextmanager
    def _connected(self, ray: Any) -> Iterator[None]:
        """In a cluster; one that was joined or started here is left again."""
        if ray.is_initialized():
            yield
            return
        self._join(ray)
        try:
            yield
        finally:
            ray.shutdown()

    def _join(self, ray: Any) -> None:
        own: dict[str, Any] = {"address": self.address} if self.address else {"include_dashboard": False}
        try:
            _knock(self.address or "")
            ray.init(**own, log_to_driver=False, logging_level="ERROR")
        except (OSError, RuntimeError, ValueError, ImportError) as error:
            if "ray[client]" in str(error):
                raise self._outside() from error
            raise FieldcheckError(
                f"no cluster at {self.address or 'this machine'}: {str(error).splitlines()[0]}",
                rule="a cluster of Ray that is up",
                hint="--engine ray, which starts one here",
            ) from error

    def _outside(self) -> FieldcheckError:
        return FieldcheckError(
            f"{self.address} is outside: this needs Ray's extra client",
            rule="an address with ray:// needs Ray's extra client, here and on the cluster",
            hint='pip install "ray[client]"; or, on a machine of the cluster, --engine ray:address=HOST:6379',
        )


@dataclass(frozen=True, eq=False)
class KeptRay(Ray):
    """Workers that are started once for many short steps: Ray ends them when nothing holds them any more.

    _held
        By the stay in a cluster, those that were made in it.
    """

    _held: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    def kept(self) -> KeptRay:
        """Itself: several pools share its workers."""
        return self

    @contextmanager
    def _working(self, ray: Any, count: int) -> Iterator[list[Any]]:
        stay = ray.get_runtime_context().get_job_id()
        actors = self._held.pop(stay, [])
        self._held.clear()
        actors += _made(ray, count - len(actors))
        yield actors[:count]
        self._held[stay] = actors  # not where a step failed, or nobody waits for the rest: workers may be at it


def _made(ray: Any, count: int) -> list[Any]:
    made = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=TRIES)(_Worker)
    return [made.remote(str(Path.cwd())) for _ in range(count)]


class _Worker:
    """Lives in a process of the cluster."""

    def __init__(self, folder: str) -> None:
        self.constants: tuple[Any, Any] | None = None
        with suppress(OSError):  # a machine without it can still read what has a whole path
            os.chdir(folder)

    def run(self, step: Callable[[Any, Any], Any], shard: Any, kept: list[Any]) -> Any:
        if self.constants is None or self.constants[0] != kept[0]:
            self.constants = (kept[0], _imported().get(kept[0]))
        return step(shard, self.constants[1])


def _as_done(
    ray: Any, actors: Sequence[Any], step: Callable[[Any, Any], Any], shards: Sequence[Any], kept: list[Any]
) -> Iterator[tuple[int, Any]]:
    """A worker that is free gets the next shard."""
    coming: dict[Any, tuple[int, Any]] = {}
    free, sent = list(actors), 0
    while coming or sent < len(shards):
        while free and sent < len(shards):
            actor = free.pop()
            coming[actor.run.remote(step, shards[sent], kept)] = (sent, actor)
            sent += 1
        ready, _ = ray.wait(list(coming), num_returns=1)
        at, actor = coming.pop(ready[0])
        free.append(actor)
        yield at, ray.get(ready[0])


def _knock(address: str) -> None:
    """Raise OSError where nothing listens at ``host:port``: Ray itself goes on trying for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "://" not in host:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()


def _imported() -> Any:
    try:
        import ray
    except ImportError:
        raise FieldcheckError(
            "the package ray is not installed",
            rule="the engine ray needs it",
            hint='pip install "fieldcheck[ray]", or --engine processes',
        ) from None
    return ray
