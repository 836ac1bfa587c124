"""From labelled disagreements to differences: the estimate of every pair, and when it may be called decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fieldcheck.accuracy.comparison.difference import Difference
from fieldcheck.accuracy.comparison.disagreements import ContestedItems, Drawn, Pair, chances, gains_of
from fieldcheck.core.interval import Interval, Kind
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.intervals import boundary, wilson
from fieldcheck.numerics.regression import disagreement

LEAST = 2
"""Labels of a pair below which nothing is said about it."""

SAME = 1e-12
"""A difference below this is rounding."""

NO_GAIN = disagreement.MeanGain(0.0, 0.0, 0.0, 0.0)
"""Of models that never disagree."""


@dataclass(frozen=True)
class Rule:
    """When a pair is decided.

    level
        Chance that no claim, and no interval, of the whole comparison is wrong. With several pairs each gets its share
        (Bonferroni).
    certify
        True where every complete wave is looked at; else only the last label counts.
    margin
        Decide whether the first model is worse than the others by more than this; None: which is better.
    """

    level: float = 0.95
    certify: bool = False
    margin: float | None = None

    def share(self, pairs: int) -> float:
        """The level of one pair."""
        return 1 - (1 - self.level) / pairs


def judge(
    contested: ContestedItems, drawn: Drawn, losses: FloatArray, *, labels: int, rule: Rule
) -> tuple[Difference, ...]:
    """One difference per pair, from the first ``labels`` draws.

    losses
        One row per model, one column per contested item; those of the first ``labels`` draws are known.
    """
    if not rule.certify:
        found = look(contested, drawn, losses, labels=labels, rule=rule)
        final = drawn.complete and labels == len(drawn.items)
        return found if final else tuple(one if one.exact else _open(one) for one in found)
    found = ()
    for end in ends(contested, drawn, labels):
        found = standing(found, look(contested, drawn, losses, labels=end, rule=rule))
    return found


def _open(difference: Difference) -> Difference:
    """Not decided yet: without a rule for looking in between, only the last label decides."""
    return replace(difference, winner=None, decided=False)


def standing(before: Sequence[Difference], now: Sequence[Difference]) -> tuple[Difference, ...]:
    """Differences after a further look: a claim that was made stands, unless all its labels are there."""
    if not before:
        return tuple(now)
    return tuple(old if old.decided and not new.exact else new for old, new in zip(before, now, strict=True))


def ends(contested: ContestedItems, drawn: Drawn, labels: int) -> list[int]:
    """Labels at the end of every complete wave; labels of an earlier campaign are looked at before the first."""
    return [end for end in np.cumsum([0, *drawn.sizes], dtype=np.int64).tolist() if end <= labels][
        not len(contested.before) :
    ]


def look(
    contested: ContestedItems, drawn: Drawn, losses: FloatArray, *, labels: int, rule: Rule
) -> tuple[Difference, ...]:
    """One difference per pair at this many labels, whatever was claimed before."""
    chance = chances(contested, drawn, labels, lost=np.isinf(losses[0]))
    known = contested.known(drawn.items[:labels])
    looks = [contested.known(drawn.items[:end]) for end in ends(contested, drawn, labels)] if rule.certify else []
    return tuple(
        _difference(contested, pair, (known, losses), chance, looks=looks, rule=rule) for pair in contested.pairs
    )


def _difference(
    contested: ContestedItems,
    pair: Pair,
    labelled: tuple[IntArray, FloatArray],
    chance: FloatArray,
    *,
    looks: Sequence[IntArray],
    rule: Rule,
) -> Difference:
    items, gains = gains_of(pair, *labelled)
    members = len(pair.members)
    exact = len(items) == members
    at = np.ones(members) if exact else chance[pair.members]
    gain = NO_GAIN
    if members:
        gain = disagreement.mean_gain(pair.duel, items, gains, chance=at, population=contested.population)
    seen = sorted({len(gains_of(pair, drawn, labelled[1])[0]) for drawn in looks} - {0})
    z = critical(len(items), tuple(seen), members, level=rule.share(len(contested.pairs)), rule=rule)
    interval = _interval(contested, pair, gain, labels=len(items), z=z, rule=rule)
    against = -rule.margin if rule.margin is not None else 0.0
    decided = exact or (interval.trusted and (interval.low > against or interval.high < against))
    won = interval.low > 0 or interval.high < 0 or exact
    better = pair.first if gain.value > 0 else pair.second
    return Difference(
        first=contested.names[pair.first],
        second=contested.names[pair.second],
        metric="accuracy" if contested.task == "classification" else "mse",
        value=gain.value,
        interval=interval,
        future=_future(contested, gain, interval, z=z),
        standard_error=math.sqrt(gain.variance),
        labels=len(items),
        disagreements=members,
        population=contested.population,
        winner=contested.names[better] if decided and won and abs(gain.value) > SAME else None,
        decided=decided,
        more=0 if decided else _more(gain, len(items), members, z=z, against=against),
        margin=rule.margin,
    )


def critical(labels: int, looks: tuple[int, ...], members: int, *, level: float, rule: Rule) -> float:
    """How many standard errors an interval reaches: Student's t, widened where it is looked at again and again."""
    if not rule.certify or not looks or labels >= members:
        return wilson.critical(labels, level)
    widened = boundary.boundary(looks, members, alpha=1 - level)[-1] / wilson.normal_quantile(level)
    return widened * wilson.critical(labels, level)


def _interval(
    contested: ContestedItems, pair: Pair, gain: disagreement.MeanGain, *, labels: int, z: float, rule: Rule
) -> Interval:
    """Wilson's, for the share of disagreements won by the first model (neither: half); numbers: symmetric."""
    share = len(pair.members) / contested.population
    kind: Kind = "anytime" if rule.certify else "asymptotic"
    note = "holds after every wave" if rule.certify else "holds for this number of labels, looked at once"
    if len(contested.pairs) > 1:
        note += ", for all pairs together"
    if labels == len(pair.members):
        return Interval(gain.value, gain.value, rule.level, "exact", "every disagreement labelled", note="exact")
    if labels < LEAST:
        reach = share if contested.task == "classification" else math.inf
        return Interval(-reach, reach, rule.level, "none", "", trusted=False, note="too few labels of this pair")
    if contested.task == "regression":
        reach = z * math.sqrt(gain.variance)
        return Interval(gain.value - reach, gain.value + reach, rule.level, kind, "Student's t", note=note)
    rate, variance = (1 + gain.value / share) / 2, gain.variance / share**2 / 4
    low, high = wilson.effective_wilson(rate, variance, labels, z=z)
    return Interval((2 * low - 1) * share, (2 * high - 1) * share, rule.level, kind, "Wilson", note=note)


def _future(contested: ContestedItems, gain: disagreement.MeanGain, here: Interval, *, z: float) -> Interval:
    """Wider than that of this pool at both ends: the pool itself is taken for a random sample."""
    scatter = z**2 * gain.scatter / contested.population
    low = gain.value - math.sqrt((gain.value - here.low) ** 2 + scatter)
    high = gain.value + math.sqrt((here.high - gain.value) ** 2 + scatter)
    if contested.task == "classification":
        low, high = max(low, -1.0), min(high, 1.0)
    note = "if they come from the same source as this pool"
    return Interval(low, high, here.level, "asymptotic", "as on this pool, and the pool as a random sample", note=note)


def _more(gain: disagreement.MeanGain, labels: int, members: int, *, z: float, against: float) -> int:
    """Further labels until the interval leaves 0 (or a margin) behind, were the difference as estimated."""
    left, gap = members - labels, gain.value - against
    if labels < LEAST or abs(gap) < SAME:
        return left
    wanted = boundary.clock(labels, members) * gain.variance * (z / gap) ** 2
    return min(max(math.ceil(wanted / (1 + wanted / members)) - labels, 1), left)
