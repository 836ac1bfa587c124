"""Whether two perturbations act independently: whether ``r_ab / r_0 = (r_a / r_0) (r_b / r_0)`` at all severities."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.rng import stream
from fieldcheck.core.space import Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray

REPLICATES, BLOCK = 999, 111
"""Replicates in all, and at once: their signs take 8 bytes per input each."""


@dataclass(frozen=True)
class PairTest:
    """The result for one pair of perturbations.

    cells
        Second-order tests that entered.
    applicable
        Whether the number of inputs satisfies the published condition ``N > 9 max{(1-r)/r, r/(1-r)}`` in all cells.
    """

    first: str
    second: str
    statistic: float
    cells: int
    p_value: float
    applicable: bool


@dataclass(frozen=True)
class PairVerdict:
    """Both tests of one pair of perturbations.

    independent
        Whether the resampled test, at 5 % over all pairs together (Holm), leaves independence standing. Where no input
        tells the tests of the pair apart (all right, or all wrong), there was nothing to test.
    """

    first: str
    second: str
    published: PairTest
    resampled: PairTest
    independent: bool

    @property
    def decision(self) -> str:
        if not self.resampled.cells:
            return "nothing to compare"
        return "independent" if self.independent else "dependent"


LEAST = 30
"""Inputs of a test below which its rate is not used. Where every test had inputs of its own and nine pairs of levels
were independent, the resampled test at 5 % rejected all of 60 with one input each, 32 % with five, 8 % with 20."""


LEVEL = 0.05
"""Chance that any pair of independent perturbations is called dependent."""


def independence(space: Space, outcomes: Outcomes, *, seed: int = 0) -> tuple[PairVerdict, ...]:
    """All pairs of perturbations that were measured alone and together, in the order of the space."""
    tests, inputs, _ = outcomes.counts()
    outcomes = outcomes.select(np.isin(outcomes.tests, tests[inputs >= LEAST]))
    found = []
    for first, second in combinations(space.names, 2):
        with suppress(SpaceError):  # not measured alone and together
            names = {"first": first, "second": second}
            found.append((published(space, outcomes, **names), resampled(space, outcomes, **names, seed=seed)))
    if not found:
        raise SpaceError(
            "no two perturbations were measured alone and together",
            rule=f"independence needs the unperturbed test and orders 1 and 2, on {LEAST} inputs or more each",
            hint="two perturbations or more, and --plan pairs, or more --inferences",
        )
    kept = _standing([test.p_value for _, test in found])
    return tuple(
        PairVerdict(one.first, one.second, one, other, stands and other.cells > 0)
        for (one, other), stands in zip(found, kept, strict=True)
    )


def _standing(p_values: list[float]) -> list[bool]:
    """Which hypotheses are not rejected by Holm's procedure (Scandinavian Journal of Statistics 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    rejected: set[int] = set()
    for place, at in enumerate(order):
        if p_values[at] > LEVEL / (len(order) - place):
            break
        rejected.add(at)
    return [at not in rejected for at in range(len(p_values))]


@dataclass(frozen=True, eq=False)
class _Cells:
    """The second-order tests of a pair; tests are given by their place in the list of measured tests."""

    both: IntArray
    first: IntArray
    second: IntArray
    base: int


def published(space: Space, outcomes: Outcomes, *, first: str, second: str) -> PairTest:
    """The chi-square test of proposition 1 as published (Arif et al., TestifAI, ICSE 2026).

    It is not a test of its level: ``r_a r_b`` is compared with ``r_ab`` as if the two rates were known, and the base
    accuracy is missing. On perturbations that are independent it rejects far more often than it says.
    """
    from scipy.special import chdtrc

    tests, inputs, held = outcomes.counts()
    cells = _cells(space, tests, first, second)
    rates = held / inputs
    expected = rates[cells.first] * rates[cells.second]
    count = inputs[cells.both]
    inner = (expected > 0) & (expected < 1)
    spread = np.where(inner, expected * (1 - expected), 1.0) / count
    statistic = float(((rates[cells.both] - expected) ** 2 / spread)[inner].sum())
    odds = expected[inner] / (1 - expected[inner])
    applicable = bool(inner.all() and np.all(count[inner] > 9 * np.maximum(odds, 1 / odds)))
    return PairTest(
        first, second, statistic, int(inner.sum()), float(chdtrc(max(inner.sum(), 1), statistic)), applicable
    )


def resampled(space: Space, outcomes: Outcomes, *, first: str, second: str, seed: int = 0) -> PairTest:
    """A test that keeps its level: the inputs are resampled.

    In every cell ``r_ab r_0 - r_a r_b`` is divided by its standard error, which knows that all four rates are estimates
    from the same or from different inputs; the statistic is the sum of the squares. Its distribution under independence
    comes from weighting each input's share of the differences at random (the multiplier bootstrap; Chernozhukov,
    Chetverikov and Kato, Annals of Statistics 2013), so that correlations between cells are kept.
    """
    tests, inputs, held = outcomes.counts()
    cells = _cells(space, tests, first, second)
    rates = held / inputs
    differences = rates[cells.both] * rates[cells.base] - rates[cells.first] * rates[cells.second]
    shares = _shares(outcomes, tests, inputs, rates, cells)
    errors = np.sqrt((shares**2).sum(axis=0))
    inner = errors > 0
    scaled = shares[:, inner] / errors[inner]
    statistic = float(((differences[inner] / errors[inner]) ** 2).sum())
    above = sum(_count_above(scaled, statistic, block, seed) for block in range(REPLICATES // BLOCK))
    p_value = (1 + above) / (REPLICATES + 1)
    return PairTest(first, second, statistic, int(inner.sum()), p_value, True)


def _shares(outcomes: Outcomes, tests: IntArray, inputs: IntArray, rates: FloatArray, cells: _Cells) -> FloatArray:
    """What each input adds to each difference, to first order: one row per input, one column per cell."""
    items, row = np.unique(outcomes.inputs, return_inverse=True)
    column = np.searchsorted(tests, outcomes.tests)
    deviations = np.zeros((len(items), len(tests)))
    np.add.at(deviations, (row, column), (outcomes.held - rates[column]) / inputs[column])
    return np.asarray(
        deviations[:, cells.both] * rates[cells.base]
        + deviations[:, [cells.base]] * rates[cells.both]
        - deviations[:, cells.first] * rates[cells.second]
        - deviations[:, cells.second] * rates[cells.first]
    )


def _cells(space: Space, tests: IntArray, first: str, second: str) -> _Cells:
    for name in (first, second):
        if name not in space:
            raise SpaceError(f"no perturbation '{name}'", rule="there are: " + ", ".join(space.names))
    a, b = space.names.index(first), space.names.index(second)
    severities = space.severities(tests)
    rest = np.delete(severities, [a, b], axis=1).any(axis=1)
    both = np.flatnonzero((severities[:, a] > 0) & (severities[:, b] > 0) & ~rest)
    alone = severities[both][:, :, None] * np.eye(len(space.axes), dtype=np.int64)[None, :, [a, b]]
    needed = np.column_stack([space.numbers(alone[:, :, 0]), space.numbers(alone[:, :, 1])])
    at = np.minimum(np.searchsorted(tests, needed), len(tests) - 1)
    if not len(both) or tests[0] != 0 or not np.array_equal(tests[at], needed):
        raise SpaceError(
            f"{first} and {second} were not measured alone and together",
            rule="independence needs the unperturbed test and orders 1 and 2",
            hint="--plan pairs",
        )
    return _Cells(both, at[:, 0], at[:, 1], 0)


def _count_above(shares: FloatArray, statistic: float, block: int, seed: int) -> int:
    """In how many replicates of a block the statistic is as large or larger."""
    signs = _signs(BLOCK, len(shares), stream(seed, "independence", block))
    return int(np.count_nonzero(((signs @ shares) ** 2).sum(axis=1) >= statistic))


def _signs(rows: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """Random signs, made of raw words, which numpy promises to keep."""
    words = rng.bit_generator.random_raw(rows * (columns // 64 + 1))
    bits = np.unpackbits(words.astype("<u8").view(np.uint8)).reshape(rows, -1)[:, :columns]
    return np.asarray(bits * 2.0 - 1.0)
