"""Reading ahead: the next batches are read and prepared in a thread while the model works on this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


DEPTH = 2
"""Batches that wait, at most."""


def ahead(read: Callable[[int, int], T], size: int, *, batch: int) -> Iterator[tuple[int, T]]:
    """``read(start, stop)`` for every batch, in order, with its start. What reading raises is raised here."""
    coming: deque[tuple[int, Future[T]]] = deque()
    with ThreadPoolExecutor(1) as thread:
        try:
            for start in range(0, size, batch):
                coming.append((start, thread.submit(read, start, min(start + batch, size))))
                if len(coming) > DEPTH:
                    at, future = coming.popleft()
                    yield at, future.result()
            for at, future in coming:
                yield at, future.result()
        finally:
            for _, future in coming:
                future.cancel()
