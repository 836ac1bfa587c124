"""Who is told how far the steps over a large pool are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

R = TypeVar("R")


Told = Callable[[int, int], None]
"""Takes how many parts are done, and of how many; a step that ends early says that all are."""


_told: ContextVar[Told | None] = ContextVar("told", default=None)


@contextmanager
def watched(told: Told | None) -> Iterator[None]:
    """Whatever looks at large pools in here says how far it is; None: nothing is said."""
    before = _told.set(told)
    try:
        yield
    finally:
        _told.reset(before)


def counted(results: Iterator[R], total: int) -> Iterator[R]:
    """The results of a step, one per part; they are counted where that is watched."""
    told = _told.get()
    return results if told is None else _counted(results, total, told)


def _counted(results: Iterator[R], total: int, told: Told) -> Iterator[R]:
    told(0, total)
    try:
        for done, result in enumerate(results, start=1):
            told(done, total)
            yield result
    finally:
        told(total, total)
