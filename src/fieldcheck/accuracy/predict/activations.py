"""Files that are there as a whole or not at all, also when the work is interrupted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import FieldcheckError, ModelError


@dataclass(frozen=True)
class ActivationsFile:
    """Where the activations go: a ``.npy`` file, memory-mapped while it is written.

    dtype
        ``float32``, or ``float16``: half the size, three digits.
    """

    path: Path
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if self.path.suffix != ".npy" or self.dtype not in ("float16", "float32"):
            raise FieldcheckError(f"activations to {self.path} as {self.dtype}", rule="a .npy file, float16 or float32")


class FilledRows:
    """Rows that are filled in batch by batch, on disk; its width is that of the first batch."""

    def __init__(self, place: Path, size: int, dtype: str) -> None:
        self._place, self._size, self._dtype = place, size, np.dtype(dtype)
        self._rows: npt.NDArray[Any] | None = None

    def fill(self, start: int, values: npt.NDArray[Any]) -> None:
        """Put a batch into its place."""
        if self._rows is None:
            shape = (self._size, values.shape[1])
            self._rows = np.lib.format.open_memmap(self._place, mode="w+", dtype=self._dtype, shape=shape)
        limit = float(np.finfo(self._dtype).max)
        if self._dtype == np.float16 and float(np.abs(values).max(initial=0.0)) > limit:
            raise ModelError(
                f"an activation exceeds {limit:g}, the largest that float16 holds",
                rule="activations are finite",
                hint="--activations-type float32",
            )
        self._rows[start : start + len(values)] = values

    def close(self) -> tuple[int, ...]:
        """Everything on disk; the shape."""
        if self._rows is None:
            return (0, 0)
        self._rows.flush()  # type: ignore[attr-defined]
        shape = self._rows.shape
        self._rows = None
        return shape
