"""Where tests make the same of an input: what the model says of one of them, it says of all."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from fieldcheck.core.space import Outcomes
from fieldcheck.core.types import IntArray

MOST_CELLS = 2**20
"""Tests times inputs, up to which it is looked for: every input has to be perturbed by every test."""


@dataclass(frozen=True, eq=False)
class Alike:
    """Tests that make the same of an input, as a text without a contraction is left as it is at every level.

    first
        For every test (rows) and input (columns) the first test that makes the same of it.
    """

    first: IntArray

    @classmethod
    def of(cls, codes: IntArray) -> Alike | None:
        """From any codes, the same where a test makes the same of an input; None where no two do."""
        size, inputs = codes.shape
        _, at, back = np.unique(codes * inputs + np.arange(inputs), return_index=True, return_inverse=True)
        return cls((at // inputs)[back].reshape(size, inputs).astype(np.int64)) if len(at) < codes.size else None

    def cells(self, tests: IntArray, inputs: IntArray) -> IntArray:
        """A number for what each row asks the model: rows with the same one ask the same."""
        return np.asarray(self.first[tests, inputs] * self.first.shape[1] + inputs)

    def known(self, outcomes: Outcomes) -> Outcomes:
        """Everything that outcomes say: of every test and input that are the same as one that was run."""
        size, inputs = self.first.shape
        held = np.full(size * inputs, np.nan)
        held[self.cells(outcomes.tests, outcomes.inputs)] = outcomes.held
        tests, places = np.divmod(np.arange(size * inputs), inputs)
        every = Outcomes(tests, places, held[self.cells(tests, places)], np.full(size * inputs, np.nan))
        return every.applicable

    def distinct(self, outcomes: Outcomes) -> Outcomes:
        """The inverse: every question to the model once, as the first test that asks it."""
        _, rows = np.unique(self.cells(outcomes.tests, outcomes.inputs), return_index=True)
        some = outcomes.select(rows)
        return Outcomes(self.first[some.tests, some.inputs], some.inputs, some.held)

    def record(self) -> str:
        """As plain text."""
        return zlib.compress(self.first.astype("<i4").tobytes(), 9).hex()

    @classmethod
    def of_record(cls, record: str | None, size: int, inputs: int) -> Alike | None:
        """The inverse for so many tests and inputs; None for none."""
        if record is None:
            return None
        numbers = np.frombuffer(zlib.decompress(bytes.fromhex(record)), dtype="<i4").astype(np.int64)
        found = numbers.reshape(size, inputs)
        if np.any((found < 0) | (found > np.arange(size)[:, None])):
            raise ValueError("a test is the same as one that the run does not have")
        return cls(found)
