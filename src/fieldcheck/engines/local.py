"""Here, one shard after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.engine import C, R, S


@dataclass(frozen=True)
class Local:
    """A loop in this process."""

    name: ClassVar[str] = "local"
    title: ClassVar[str] = "this process"

    def map(self, step: Callable[[S, C], R], shards: Sequence[S], constants: C) -> Iterator[R]:
        """One after the other."""
        return (step(shard, constants) for shard in shards)
