"""Successive draws without replacement in proportion to size, without paying for the whole population at every step."""

from __future__ import annotations

import numpy as np

from fieldcheck.numerics.sampling.draws import below
from fieldcheck.numerics.types import IntArray

_BLOCK = 256


class Urn:
    """Members that leave when they are taken; the next one is drawn in proportion to whole-number size.

    Draws come from the running sum of all sizes and are repeated when they hit a member that has left, which is the
    same as drawing from those that remain. Once half of the size has left, the sum is built anew: a draw takes two
    tries on average, and the sums are built at most once per halving.

    cumulative
        Running sum of the sizes, one per member of the population.
    """

    def __init__(self, cumulative: IntArray, rng: np.random.Generator) -> None:
        self._sizes = np.diff(cumulative, prepend=0)
        self._cumulative = cumulative
        self._members: IntArray | None = None
        self._gone = bytearray(len(cumulative))
        self._rng = rng
        self._block: list[int] = []
        self.left = int(cumulative[-1])
        self._built = self.left

    def draw(self) -> int:
        """A member that has not left; it stays until it is taken. Something must be left."""
        while True:
            if not self._block:
                self._block = self._candidates()
            member = self._block.pop()
            if not self._gone[member]:
                return member

    def take(self, member: int) -> None:
        """Let a member leave, however it was chosen."""
        self._gone[member] = 1
        self.left -= int(self._sizes[member])
        if self.left * 2 < self._built:
            self._rebuild()

    def _candidates(self) -> list[int]:
        targets = below(self._rng, _BLOCK, self._built)
        found = np.searchsorted(self._cumulative, targets, side="right")
        members: list[int] = (found if self._members is None else self._members[found]).tolist()
        return members[::-1]

    def _rebuild(self) -> None:
        gone = np.frombuffer(self._gone, dtype=np.uint8)
        self._members = np.flatnonzero((gone == 0) & (self._sizes > 0))
        self._cumulative = np.cumsum(self._sizes[self._members])
        self._built, self._block = self.left, []
