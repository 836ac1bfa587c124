"""When to stop labelling: once the interval is narrow enough, or once a threshold is decided.

A rule is a pure function of the labels so far: a campaign asks it after each wave whether to go on and how far, and
``run_until`` simulates the whole of it where the truth is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.designs import base as designs
from fieldcheck.accuracy.designs.base import Design, OpenEnded, auxiliaries_of
from fieldcheck.core import measures
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import DesignError, FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.interval import Interval
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.requirement import Decided, Look, Requirement, Stop
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import Loss, Task
from fieldcheck.numerics import special
from fieldcheck.numerics.intervals import boundary
from fieldcheck.numerics.intervals.sequence import sequence_bounds
from fieldcheck.numerics.sampling import schedule

LAST = 5
"""Labels of the smallest wave."""


Seen = tuple[int, float, Interval]
"""Labels, mean loss and its interval at one look."""


class StopRule(Protocol):
    """What a campaign waits for."""

    @property
    def aim(self) -> Requirement | float:
        """What it waits for: a requirement that is decided, or a half-width."""
        ...

    def careful(self, frame: Frame) -> bool:
        """Whether it goes by the protected interval, which does not take on trust that items which look safe are."""
        ...

    def looks(self, sample: Sample) -> tuple[int, ...]:
        """Numbers of labels at which to look; they must not depend on what the labels say."""
        ...

    def read(self, labelled: Labelled, looks: tuple[int, ...], *, after: int, level: float) -> Iterator[Seen]:
        """The looks with more than ``after`` labels, one by one."""
        ...

    def decision(self, look: Look) -> Decided:
        """What this look decides; while it is undecided: go on."""
        ...

    def shrink(self, look: Look) -> float:
        """The factor by which the interval must shrink to decide, if the estimate stays where it is; 0: never."""
        ...

    def wave(self, look: Look) -> int:
        """Labels of the next wave, after a look that decides nothing."""
        ...


@dataclass(frozen=True)
class HalfWidth:
    """Stop when the interval reaches no farther than ``target`` from its middle.

    Looking after every wave does no harm: it stops on the spread of the estimate, not on its value. ``waves`` waits for
    the protected interval, since the other one may be narrow only because nobody looked where failures hide.

    target
        Half-width wanted, in the unit of the metric: 0.02 is two points of accuracy.
    """

    target: float

    def __post_init__(self) -> None:
        if not self.target > 0:
            raise FieldcheckError(
                f"a half-width of {self.target:g}", rule="more than 0", hint="0.02 for two points of accuracy"
            )

    def check_for(self, task: Task) -> None:
        """Refused where every interval is as narrow."""
        if task == "classification" and self.target >= 0.5:
            raise FieldcheckError(
                f"a half-width of {self.target:g} for an accuracy",
                rule="less than 0.5: 0.02 is two points",
                hint="0.05 for ± 5 points",
            )

    @property
    def aim(self) -> float:
        return self.target

    def careful(self, frame: Frame) -> bool:
        return True

    def looks(self, sample: Sample) -> tuple[int, ...]:
        return _schedule(sample)

    def read(self, labelled: Labelled, looks: tuple[int, ...], *, after: int, level: float) -> Iterator[Seen]:
        for labels in looks:
            if labels > after:
                yield self._look(first_look(labelled, labels), level=level)

    def _look(self, labelled: Labelled, *, level: float) -> Seen:
        found = estimators.estimate(labelled, level=level)
        return len(labelled.sample), found.value, found.protected or found.interval

    def decision(self, look: Look) -> Decided:
        return "passed" if look.interval.width / 2 <= self.target else "undecided"

    def shrink(self, look: Look) -> float:
        return 2 * self.target / look.interval.width

    def wave(self, look: Look) -> int:
        """A quarter more labels, or as many as are surely needed: no interval shrinks faster than they grow in number.

        The last waves are small, so that hardly a label is taken that the half-width did not need.
        """
        surely = math.ceil(look.labels * (1 / self.shrink(look) - 1))
        return min(schedule.next_open(look.labels), max(surely, LAST))


@dataclass(frozen=True)
class Certify:
    """Stop when the accuracy is at least ``threshold`` for all that is known, or below it.

    Every look is allowed for: of campaigns whose truth lies on the threshold, at most ``1 - level`` ever make a false
    claim (``waves``: group-sequential boundary, approximate, checked by simulation; ``srs``: exact at every label).
    With ``waves``, "at least" rests on the protected bound, and half of the chances are the same for all items; where
    many confident items fail it can still be wrong more often than that, and ``srs`` cannot.
    """

    threshold: float

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise FieldcheckError(
                f"a threshold of {self.threshold:g}", rule="an accuracy between 0 and 1", hint="0.95 for 95 %"
            )

    @property
    def aim(self) -> Requirement:
        return Requirement("accuracy", self.threshold)

    def careful(self, frame: Frame) -> bool:
        return True

    def looks(self, sample: Sample) -> tuple[int, ...]:
        return tuple(range(1, len(sample) + 1)) if sample.draws.anytime else _schedule(sample)

    def read(self, labelled: Labelled, looks: tuple[int, ...], *, after: int, level: float) -> Iterator[Seen]:
        if labelled.task != "classification":
            raise DesignError(
                f"a threshold on the accuracy of a {labelled.task}",
                rule="only classification has an accuracy to certify",
                hint="--half-width, and compare the interval with what you need",
            )
        read = self._read_srs if labelled.sample.draws.anytime else self._read_waves
        return read(labelled, looks, after=after, level=level)

    def _read_srs(self, labelled: Labelled, looks: tuple[int, ...], *, after: int, level: float) -> Iterator[Seen]:
        labels = np.array([look for look in looks if look > after], dtype=np.int64)
        failures = np.cumsum(labelled.losses).astype(np.int64)[labels - 1]
        # Evidence is gathered fastest around the threshold: that is where it is needed, and it is known beforehand.
        lows, highs = sequence_bounds(
            failures, labels, population=labelled.sample.population, expected=1 - self.threshold, level=level
        )
        note = "holds at every single label, whatever the model does"
        for n, k, low, high in zip(labels.tolist(), failures.tolist(), lows.tolist(), highs.tolist(), strict=True):
            yield (
                n,
                k / n,
                Interval(low, high, level, "anytime", "hypergeometric sequence", note=note, basis="sequence"),
            )

    def _read_waves(self, labelled: Labelled, looks: tuple[int, ...], *, after: int, level: float) -> Iterator[Seen]:
        population = labelled.sample.population
        partial = tuple(look for look in looks if look < population)
        constants = boundary.boundary(partial, population, alpha=round(1 - level, 12))
        for labels, constant in zip(looks, (*constants, 0.0), strict=False):
            if labels > after:
                first = first_look(labelled, labels)
                value = estimators.estimate(first, level=level).value
                yield labels, value, group_sequential(first, constant, level=level)

    def decision(self, look: Look) -> Decided:
        return self.aim.decide(look.interval).word

    def wave(self, look: Look) -> int:
        """A quarter more, however close it is: when to look must not depend on the estimate."""
        return schedule.next_open(look.labels)

    def shrink(self, look: Look) -> float:
        """The bound on the side of the threshold must come as near to the estimate as the threshold is."""
        gap = look.value - self.threshold
        reach = look.value - (look.interval.low if gap > 0 else look.interval.high)
        return max(gap / reach, 0.0) if reach else 0.0


def group_sequential(labelled: Labelled, constant: float, *, level: float) -> Interval:
    """The protected bounds at the level of the boundary."""
    note = "allows for a look after every wave; its lower end also holds where items that look safe fail more often"
    found = estimators.estimate(labelled, level=2 * float(special.ndtr(constant)) - 1 if constant else level)
    bounds = found.protected or found.interval
    return Interval(bounds.low, bounds.high, level, "anytime", "group-sequential", note=note, basis="boundary")


def open_ended(design: Design, rule: StopRule, frame: Frame) -> OpenEnded:
    """The design as a campaign that stops by this rule; one that cannot is refused."""
    known = frame.only(auxiliaries_of(design, frame.helpful()))
    return designs.open_ended(design, careful=rule.careful(known))


def until_settled(labelled: Labelled, rule: StopRule, *, after: int, level: float, loss: Loss) -> list[Look]:
    """The looks with more than ``after`` labels, up to the first that decides."""
    metric = measures.measure_of(labelled.task, loss).scales[0]
    found = []
    for labels, value, interval in rule.read(labelled, rule.looks(labelled.sample), after=after, level=level):
        moved = interval.map(SCALES[metric].of)
        found.append(Look(labels, SCALES[metric].of(value), moved))
        if rule.decision(found[-1]) != "undecided":
            break
    return found


def look_now(labelled: Labelled, rule: HalfWidth, *, loss: Loss, level: float = 0.95) -> Look:
    """What all these labels show."""
    return until_settled(labelled, rule, after=len(labelled.sample) - 1, level=level, loss=loss)[-1]


def concluded(rule: StopRule, looks: Sequence[Look], found: Estimate) -> Stop:
    """Where it stopped, with the estimate under the interval that the rule went by."""
    last = looks[-1]
    decision = rule.decision(last)
    beside = found.beside if last.interval == found.interval else None
    return Stop(
        decision=decision,
        estimate=replace(found, interval=last.interval, beside=beside),
        looks=tuple(looks),
        aim=rule.aim,
        more=0 if decision != "undecided" else more_labels(last, rule.shrink(last), found.population),
    )


def more_labels(look: Look, shrink: float, population: int) -> int:
    """About how many more labels decide, if the interval shrinks with the root of the information; all, if none do."""
    if shrink <= 0 or look.labels >= population:
        return population - look.labels
    information = boundary.clock(look.labels, population) / shrink**2
    return max(1, math.ceil(information / (1 + information / population)) - look.labels)


def _schedule(sample: Sample) -> tuple[int, ...]:
    """Ends of the waves that are complete; a simple random sample is looked at as if it had the same waves."""
    draws = sample.draws
    if not (draws.anytime or isinstance(draws, WaveDraws)):
        raise designs.no_looks("such a sample")
    sizes = draws.sizes if isinstance(draws, WaveDraws) else schedule.open_schedule(schedule.OPEN_FIRST, len(sample))
    return tuple(int(end) for end in np.cumsum(sizes) if end <= len(sample))


def first_look(labelled: Labelled, draws: int) -> Labelled:
    sample = labelled.sample.prefix(draws)
    return Labelled(sample, labelled.losses[:draws], labelled.failed[:draws], labelled.task)
