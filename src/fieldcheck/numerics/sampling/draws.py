"""Random draws that come out the same on every machine and with every numpy 2.

numpy does not promise stable streams for ``choice``, ``permutation`` or ``integers``. It does for the raw output of a
bit generator, so every draw here is made of raw uniforms, and every size that is drawn in proportion to is a whole
number: sums of whole numbers do not depend on the order or width of the machine's additions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.types import FloatArray, IntArray

_RESOLUTION = 2**52
"""Sum of the whole-number sizes of a population: one-draw probabilities are multiples of about 2e-16."""


def uniforms(rng: np.random.Generator, count: int) -> FloatArray:
    """Numbers in [0, 1), multiples of 2**-53."""
    raw: npt.NDArray[np.uint64] = rng.bit_generator.random_raw(count)
    return np.asarray((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def below(rng: np.random.Generator, count: int, limit: int) -> IntArray:
    """Whole numbers in [0, limit), each equally likely (to 2**-53 × limit)."""
    return (uniforms(rng, count) * limit).astype(np.int64)


def permutation(rng: np.random.Generator, size: int) -> IntArray:
    """All of ``range(size)`` in random order."""
    keys: npt.NDArray[np.uint64] = rng.bit_generator.random_raw(size)
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)


def without_replacement(rng: np.random.Generator, count: int, size: int) -> IntArray:
    """``count`` different members of ``range(size)``, in random order."""
    if count * 2 > size:
        return permutation(rng, size)[:count]
    chosen = below(rng, count, size)
    while True:  # drawing again what came twice is the same as drawing one by one from those not yet drawn
        _, first = np.unique(chosen, return_index=True)
        chosen = chosen[np.sort(first)]
        if len(chosen) == count:
            return chosen
        chosen = np.concatenate([chosen, below(rng, count - len(chosen), size)])


@dataclass(frozen=True, eq=False)
class Sizes:
    """A population to draw from in proportion to size.

    whole
        One per item: its size as a whole number.
    total
        Their sum; ``whole / total`` is exactly the probability with which an item is drawn.
    """

    whole: IntArray
    total: int

    @cached_property
    def probability(self) -> FloatArray:
        """One-draw selection probability, one per item."""
        return self.whole / self.total

    @cached_property
    def cumulative(self) -> IntArray:
        """Running sum, one per item."""
        return np.cumsum(self.whole)

    @cached_property
    def least_probability(self) -> float:
        """Probability of the item that is hardest to draw."""
        return float(self.probability.min())

    @cached_property
    def unreachable(self) -> int:
        """Number of items that can never be drawn."""
        return int(np.sum(self.whole == 0))


def pps_sizes(values: FloatArray, floor: float) -> Sizes:
    """Sizes for ``π = (1 - floor) χ/Σχ + floor/N``; all equal when χ is zero everywhere."""
    top = float(values.max())
    if top <= 0.0:
        return Sizes(np.ones(len(values), dtype=np.int64), len(values))
    exponent = 51 - len(values).bit_length()
    scaled = np.rint(values / top * 2.0**exponent).astype(np.int64)
    share = scaled / int(scaled.sum())
    whole = np.rint(((1.0 - floor) * share + floor / len(values)) * _RESOLUTION).astype(np.int64)
    return Sizes(whole, int(whole.sum()))


def pps_with_replacement(rng: np.random.Generator, count: int, cumulative: IntArray) -> IntArray:
    """Positions drawn one by one in proportion to size; ``cumulative`` is the running sum of whole-number sizes."""
    targets = below(rng, count, int(cumulative[-1]))
    return np.searchsorted(cumulative, targets, side="right").astype(np.int64, copy=False)
