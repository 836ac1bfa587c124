"""Small spaces whose robustness is known."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.surrogates.base import Evidence

INPUTS = 200


def space(*levels: int) -> Space:
    return Space(tuple(Axis(f"p{at}", level) for at, level in enumerate(levels)))


class Smooth:
    """Inputs of two classes; the chance falls with every severity, and faster for the second class."""

    def __init__(self, *levels: int) -> None:
        self.space = space(*levels)
        self.classes: IntArray = np.arange(INPUTS) % 2
        self.hardness = np.linspace(-1.0, 1.0, INPUTS)
        severities = self.space.severities(np.arange(self.space.size)) / np.array(levels)
        load = severities @ np.linspace(1.5, 3.0, len(levels))
        logits = 2.5 - load[:, None] * (1 + 0.5 * self.classes) - self.hardness
        self.chances: FloatArray = expit(logits)
        self.truth: FloatArray = self.chances.mean(axis=1)

    def evidence(self, rows: int, *, seed: int = 0, tests: IntArray | None = None, classes: bool = True) -> Evidence:
        rng = np.random.default_rng(seed)
        among = np.arange(self.space.size) if tests is None else tests
        chosen, inputs = rng.choice(among, rows), rng.integers(0, INPUTS, rows)
        held = (rng.random(rows) < self.chances[chosen, inputs]).astype(float)
        return Evidence(self.space, Outcomes(chosen, inputs, held), self.classes if classes else None)


def exact(where: Space, rates: FloatArray, tests: IntArray, *, inputs: int = 1000, guess: float = 0.0) -> Evidence:
    """Outcomes whose rates are as given, to one input."""
    held = np.round(rates[tests] * inputs).astype(int)
    outcomes = (np.arange(inputs)[None, :] < held[:, None]).astype(float)
    return Evidence(
        where,
        Outcomes(np.repeat(tests, inputs), np.tile(np.arange(inputs), len(tests)), outcomes.ravel()),
        guess=guess,
    )
