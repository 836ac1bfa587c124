"""Some of the items of inputs, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.column import as_column, take
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.core.rng import stream
from fieldcheck.core.types import IntArray


@dataclass(frozen=True, eq=False)
class Subset:
    """Items at increasing positions; runs of neighbours are read in one go."""

    inputs: Inputs
    positions: IntArray

    @property
    def name(self) -> str:
        return self.inputs.name

    @property
    def kind(self) -> Kind:
        return self.inputs.kind

    @property
    def ids(self) -> Any:
        return take(as_column(self.inputs.ids, "id"), self.positions)

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        labels = self.inputs.labels
        return None if labels is None else labels[self.positions]

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(getattr(self.inputs, "classes", ()))

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, start: int, stop: int) -> Any:
        wanted = self.positions[start:stop]
        runs = np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1)
        parts = [self.inputs.batch(int(run[0]), int(run[-1]) + 1) for run in runs]
        return [text for part in parts for text in part] if self.kind == "text" else np.concatenate(parts)


def limited(inputs: Inputs, limit: int | None, *, seed: int) -> tuple[Inputs, tuple[str, ...]]:
    """The inputs, or ``limit`` of them drawn at random, and what to say about it."""
    if limit is None or limit >= len(inputs):
        return inputs, ()
    # The raw output of the generator is what numpy promises to keep: its order is a permutation.
    raw = stream(seed, "predict", "reference").bit_generator.random_raw(len(inputs))
    chosen = np.sort(np.argsort(raw, kind="stable")[:limit])
    return Subset(inputs, chosen), (f"{limit:,} of {len(inputs):,} reference items, drawn at random (seed {seed})",)
