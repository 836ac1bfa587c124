"""Whether pairs suffice: what orders one and two foretell of the higher ones, held against what was measured there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fieldcheck.core.space import Outcomes, Space
from fieldcheck.tomography import surrogates
from fieldcheck.tomography.plans.base import count_of_order
from fieldcheck.tomography.surrogates.base import Evidence

LEAST = 100
"""Rows of order three and more below which nothing is said."""


CLEAR, FAR = 3.0, 0.02
"""Standard errors, and points, from which on a difference is worth a word."""


SHARE, INPUTS = 0.05, 100
"""Of the tests of order three, and inputs of each, that are proposed."""


@dataclass(frozen=True)
class HigherOrders:
    """The mean outcome of the rows of order three and more, and what lower orders foretell of them.

    error
        Standard error of the difference: of the outcomes, and of the prediction.
    proposed
        Inferences in tests of order three that would mend it.
    """

    rows: int
    measured: float
    foretold: float
    error: float
    proposed: int

    @property
    def differs(self) -> bool:
        """Whether pairs do not suffice."""
        off = abs(self.measured - self.foretold)
        return off > FAR and off > CLEAR * self.error

    def __str__(self) -> str:
        off = 100 * (self.measured - self.foretold)
        head = f"orders up to two foretell those above {abs(off):.1f} points too {'high' if off < 0 else 'low'}"
        tail = f"about {self.proposed:,} inferences in tests of order 3 are worth it"
        return f"{head} (± {100 * 1.96 * self.error:.1f}): {tail}"


def higher_orders(space: Space, outcomes: Outcomes, *, guess: float = 0.0, seed: int = 0) -> HigherOrders | None:
    """The comparison; None where too few rows of order three and more, or of lower ones, were measured."""
    orders = space.orders(outcomes.tests)
    high = outcomes.select(orders >= 3)
    if len(high) < LEAST or np.count_nonzero(orders == 2) < LEAST:
        return None
    fitted = surrogates.registry.build("closure").fit(
        Evidence(space, outcomes.select(orders <= 2), None, guess), seed=seed
    )
    weights = np.full(len(high), 1 / len(high))
    foretold, doubt = fitted.region(high.tests, weights)
    noise = float(high.held.var() / len(high))
    proposed = math.ceil(SHARE * count_of_order(space, 3)) * INPUTS
    return HigherOrders(len(high), float(high.held.mean()), foretold, math.sqrt(noise + doubt**2), proposed)
