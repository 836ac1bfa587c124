"""Intervals for a mean loss from draws with unequal chances, by a risk model.

Both bounds are quantiles of the beta distribution with the mean and variance of the estimate. Each allows for part of
one failure that no label showed: the *protected* one for a failure where labels are sparsest, the narrower one, right
if the risk model is, for one where failures are expected that no label showed; as far as the labels speak for signals
that are worth nothing, it becomes the protected one. That they cover is a result of simulation
(benchmarks/results/right_numbers.md), not a theorem.

Where labels are sparsest depends on how many failures hide: a tenth of the pool does not fit into the hundred items
with the smallest chances. The upper bound is the one that agrees with itself: what it leaves for hidden failures is
the part of the pool whose mean chance it was made with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fieldcheck.numerics.intervals.moments import WORST, beta_quantile
from fieldcheck.numerics.intervals.wilson import critical, log_bounds, normal_quantile
from fieldcheck.numerics.types import FloatArray

Bounds = tuple[float, float]


@dataclass(frozen=True, eq=False)
class MeanEvidence:
    """What the labels say about a failure rate, or another mean loss.

    value
        The estimate.
    seen, foreseen
        Its variance as the labels show it, and as the risk model expects it.
    least, typical, unseen
        How densely labels were drawn where they are sparsest, where failures are expected, and where such are expected
        that no label showed: the chance that such an item has a label is ``1 - exp(-rate)``. ``least`` has one value
        per item of the population (a forecast: of an even part of it): the mean rate over the one, two, three, ...
        items with the smallest ones.
    failures, labels, population
        Counts; failures may be a sum of losses between 0 and 1.
    useless
        Chance that the signals which the risk model goes by are worth nothing.
    lighter
        What the labels would say if the failure that weighs most had been a right answer, where that one makes up most
        of the variance.
    """

    value: float
    seen: float
    foreseen: float
    least: FloatArray
    typical: float
    unseen: float
    failures: float
    labels: int
    population: int
    useless: float = 0.0
    lighter: MeanEvidence | None = None


def protected(found: MeanEvidence, *, level: float, strict: bool = False) -> Bounds:
    """Bounds that are made to hold also where confident items fail.

    The upper bound leaves out the variance that the risk model expects: what it believes shall not matter there.

    strict
        Allow for a whole failure that no label showed, which is exact without failures, not for three quarters.
    """
    share = 1.0 if strict else WORST
    return _possible(found, _lower(found, level, share), _hidden_upper(found, level=level, share=share))


def trusting(found: MeanEvidence, *, level: float) -> Bounds:
    """Bounds that hold if the risk model is right; never wider than the protected ones."""
    low, most = protected(found, level=level)
    # Where failures were sought and none was found, there are no more than a random sample would leave possible.
    rate = found.unseen if found.failures else max(found.unseen, found.labels / found.population)
    high = min(_upper(found, max(found.seen, found.foreseen), rate, level=level, share=WORST), most)
    # Labels without a failure say nothing about where failures are.
    return _possible(found, low, high + (found.useless if found.failures else 0.0) * (most - high))


def protected_loss(found: MeanEvidence, *, level: float) -> Bounds:
    """The same for losses without a limit: an ordinary loss may have been missed where labels are sparsest."""
    low, high = _loss_bounds(found, float(found.least[0]), level=level)
    return low, max(high, trusting_loss(found, level=level)[1])


def trusting_loss(found: MeanEvidence, *, level: float) -> Bounds:
    """The same for losses without a limit: one may have been missed where losses are expected."""
    return _loss_bounds(found, found.unseen, level=level)


def _loss_bounds(found: MeanEvidence, rate: float, *, level: float) -> Bounds:
    z, unseen = critical(found.labels, level), WORST * found.value / (found.population * rate)
    low, _ = log_bounds(found.value, found.seen, z=z)
    _, high = log_bounds(found.value + unseen, found.seen + unseen**2, z=z)
    return max(low, found.failures / found.population), high


def _hidden_upper(found: MeanEvidence, *, level: float, share: float) -> float:
    """The bound that allows for failures in just that part of the pool, the sparsest, which it leaves for them."""

    def bound(limit: float) -> float:
        hidden = int((limit - found.value) * len(found.least))
        rate = float(found.least[min(max(hidden, 1), len(found.least)) - 1])
        return _upper(found, found.seen, rate, level=level, share=share)

    low, high = found.value, bound(found.value)
    for _ in range(40):  # the bound falls as more room is left for them: there is one crossing
        middle = (low + high) / 2
        low, high = (middle, high) if bound(middle) > middle else (low, middle)
    return high


def _upper(found: MeanEvidence, variance: float, rate: float, *, level: float, share: float) -> float:
    unseen = share / (found.population * rate)
    # Without a failure the labels show no spread: what is left of it is what the risk model had expected.
    spread = (_inflation(found, level) * variance if found.value else 0.0) + unseen**2
    return beta_quantile(found.value + unseen, spread, q=0.5 + level / 2)


def _lower(found: MeanEvidence, level: float, share: float) -> float:
    if not found.failures:
        return 0.0
    if found.value >= 1:  # no right answer was seen: the mirror image of no failure
        return 1 - _hidden_upper(replace(found, value=0.0), level=level, share=share)
    unseen = share / (found.population * found.typical)
    spread = _inflation(found, level) * max(found.seen, found.foreseen) + unseen**2
    low = beta_quantile(found.value, spread, q=0.5 - level / 2)
    # What is sure without a failure is sure with it: one that weighs much adds more to the spread than to the mean.
    return max(low, _lower(found.lighter, level, share)) if found.lighter else low


def _inflation(found: MeanEvidence, level: float) -> float:
    """The variance is itself estimated: a quantile of Student's t takes the place of the normal one."""
    return (critical(found.labels, level) / normal_quantile(level)) ** 2


def _possible(found: MeanEvidence, low: float, high: float) -> Bounds:
    """Around the estimate, and within what the labelled items alone leave possible."""
    least = found.failures / found.population
    most = least + 1 - found.labels / found.population
    return min(max(low, least), found.value), max(min(high, most), found.value)
