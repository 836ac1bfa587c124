"""Some of the items of inputs, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.column import as_column, take
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.core.types import IntArray


def gather(inputs: Inputs, positions: IntArray) -> Any:
    """Items at increasing positions; runs of neighbours are read in one go."""
    runs = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    parts = [inputs.batch(int(run[0]), int(run[-1]) + 1) for run in runs]
    return [text for part in parts for text in part] if isinstance(parts[0], list) else np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Subset:
    """Items at increasing positions."""

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
        return gather(self.inputs, self.positions[start:stop])
