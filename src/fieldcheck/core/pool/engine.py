"""Where steps run: a step is a function of a shard, an engine only maps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

S = TypeVar("S")

C = TypeVar("C")

R = TypeVar("R")


@runtime_checkable
class Engine(Protocol):
    """Something that runs steps: here, in other processes, on other machines.

    name, title
        The word on the command line; for people, what it is called.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    def map(self, step: Callable[[S, C], R], shards: Sequence[S], constants: C) -> Iterator[R]:
        """``step(shard, constants)`` for every shard: results in the order of the shards, whoever was first.

        What a step raises is raised here. A worker that dies is replaced, and its shard is done again; so a step may be
        run twice, and must then leave the same behind.

        step
            A function of a module: it is sent by its name.
        constants
            What all shards share. It reaches each worker once, and stays there: what it opens (a model) stays open.
        """
        ...


@runtime_checkable
class AsDone(Engine, Protocol):
    """An engine that can also give results as they come: what is done is kept sooner."""

    def as_done(self, step: Callable[[S, C], R], shards: Sequence[S], constants: C) -> Iterator[tuple[int, R]]:
        """Results with the number of their shard, in the order in which they are done."""
        ...


@runtime_checkable
class Keeping(Engine, Protocol):
    """An engine that can keep its workers for many short steps."""

    def kept(self) -> Engine:
        """The same, whose workers stay as long as it is held."""
        ...


def in_order(coming: Iterator[tuple[int, R]]) -> Iterator[R]:
    """Results by their number, of those that come as they are done; what is done before its turn waits."""
    waiting: dict[int, R] = {}
    given = 0
    for at, result in coming:
        waiting[at] = result
        while given in waiting:
            yield waiting.pop(given)
            given += 1


@dataclass(frozen=True)
class Loop:
    """The plainest of them: one shard after the other, here."""

    name: ClassVar[str] = "local"
    title: ClassVar[str] = "this process"

    def map(self, step: Callable[[S, C], R], shards: Sequence[S], constants: C) -> Iterator[R]:
        """A loop."""
        return (step(shard, constants) for shard in shards)
