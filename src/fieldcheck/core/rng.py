"""Random numbers for many items at once: one stream per item, and none of them depends on the others.

A stream is SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014) started at
the item's own key. Its n-th number is a function of key and n alone, so a whole batch is a few array operations, and
the result is the same for every batch size, worker and machine. Making one numpy generator per item takes 200 times
as long.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldcheck.core.types import FloatArray, IntArray

Words = npt.NDArray[np.uint64]

_STEP = 0x9E3779B97F4A7C15

_LANE = 2**40
"""Numbers in a lane: more than any item needs."""


@dataclass(frozen=True, eq=False)
class ItemStreams:
    """Random numbers of a batch of items. Asking twice gives the same numbers; ``lane`` gives others.

    keys
        One per item; everything that an item draws follows from its key.
    """

    keys: Words

    @classmethod
    def of(cls, seed: int, purpose: str, items: npt.ArrayLike, severity: npt.ArrayLike) -> ItemStreams:
        """Streams named by seed, purpose (the perturbation), item and severity.

        items, severity
            One whole number per item: its position in the data, and how severely it is perturbed.
        """
        name = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()[:8]
        start = np.frombuffer(name, dtype="<u8").astype(np.uint64)
        keys = _mix(start + np.atleast_1d(np.asarray(items, dtype=np.int64)).astype(np.uint64) * np.uint64(_STEP))
        return cls(_mix(keys + np.atleast_1d(np.asarray(severity, dtype=np.int64)).astype(np.uint64)))

    def __len__(self) -> int:
        return len(self.keys)

    def select(self, rows: IntArray) -> ItemStreams:
        """The streams of some of the items."""
        return ItemStreams(self.keys[rows])

    def words(self, count: int, *, lane: int = 0) -> Words:
        """``count`` whole numbers in [0, 2**64) for each item, one row per item."""
        first = lane * _LANE + 1
        steps = np.arange(first, first + count, dtype=np.uint64) * np.uint64(_STEP)
        return _mix(self.keys[:, None] + steps)

    def uniforms(self, count: int, *, lane: int = 0) -> FloatArray:
        """``count`` numbers in [0, 1) for each item, multiples of 2**-53, one row per item."""
        return np.asarray((self.words(count, lane=lane) >> np.uint64(11)).astype(np.float64) * 2.0**-53)

    def shorts(self, count: int, *, lane: int = 0) -> npt.NDArray[np.uint16]:
        """``count`` whole numbers in [0, 2**16) for each item: four times as many for the same work."""
        words = self.words(-(-count // 4), lane=lane).astype("<u8", copy=False)
        return words.view("<u2")[:, :count].astype(np.uint16, copy=False)

    def below(self, limit: int, count: int = 1, *, lane: int = 0) -> IntArray:
        """``count`` whole numbers in [0, limit) for each item, equally likely (to 2**-53 x limit)."""
        return (self.uniforms(count, lane=lane) * limit).astype(np.int64)

    def generator(self, item: int) -> np.random.Generator:
        """A numpy generator that goes on from the key of one item, for code that wants one."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(self.keys[item]))))


def _mix(words: Words) -> Words:
    """SplitMix64's finaliser, in place: every bit of the result depends on every bit of the word."""
    shifted = words >> np.uint64(30)
    words ^= shifted
    words *= np.uint64(0xBF58476D1CE4E5B9)
    np.right_shift(words, np.uint64(27), out=shifted)
    words ^= shifted
    words *= np.uint64(0x94D049BB133111EB)
    np.right_shift(words, np.uint64(31), out=shifted)
    words ^= shifted
    return words


def stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """The generator for one purpose of one seed; the same on every machine."""
    name = "/".join(str(part) for part in purpose)
    words = np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *(int(w) for w in words)])))
