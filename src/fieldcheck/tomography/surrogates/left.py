"""Where tests apply to some of the inputs only: which, and what share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldcheck.core.space import Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray

MOST_KEPT = 2**22
"""Combinations times inputs, of which it is kept which inputs have an object left."""


@dataclass(frozen=True, eq=False)
class ShareLeft:
    """The share of the inputs with an object left, which only perturbations that move things decide.

    axes
        Places of these in the space.
    shares
        One for each combination of their levels.
    inputs
        Which inputs these are: one row per combination, one column per input; None where that is too much to keep.
    """

    axes: tuple[int, ...]
    shares: FloatArray
    inputs: BoolArray | None = None

    @classmethod
    def counted(cls, axes: tuple[int, ...], shape: tuple[int, ...], inputs: BoolArray) -> ShareLeft:
        """From the inputs that are left in each combination."""
        return cls(axes, inputs.mean(axis=1).reshape(shape), inputs if inputs.size <= MOST_KEPT else None)

    def combinations(self, severities: IntArray) -> IntArray:
        """The number of the combination in each row of severities."""
        return np.ravel_multi_index(tuple(severities[:, axis] for axis in self.axes), self.shares.shape)

    def of(self, severities: IntArray) -> FloatArray:
        """One per row of severities."""
        return np.asarray(self.shares[tuple(severities[:, axis] for axis in self.axes)])

    def record(self) -> dict[str, Any]:
        """As plain values."""
        bits = None if self.inputs is None else np.packbits(self.inputs, axis=1).tobytes().hex()
        return {"axes": list(self.axes), "shares": self.shares.tolist(), "inputs": bits}

    @classmethod
    def of_record(cls, record: Any, space: Space, inputs: int) -> ShareLeft | None:
        """The inverse for so many inputs; None for none."""
        if record is None:
            return None
        axes = tuple(map(int, record["axes"]))
        shape = tuple(space.shape[axis] for axis in axes)
        shares = np.array(record["shares"], dtype=np.float64).reshape(shape)
        if record["inputs"] is None:
            return cls(axes, shares)
        packed = np.frombuffer(bytes.fromhex(record["inputs"]), dtype=np.uint8).reshape(shares.size, -1)
        return cls(axes, shares, np.unpackbits(packed, axis=1)[:, :inputs].astype(np.bool_))
