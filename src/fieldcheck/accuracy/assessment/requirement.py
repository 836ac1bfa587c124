"""A requirement held against an estimate: passed, failed, or not decided by the labels so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fieldcheck.accuracy.assessment.stopping import ROUNDING, more_labels
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.interval import Interval
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.requirement import Look, Verdict, rounded
from fieldcheck.core.words import counted

Outcome = Literal["pass", "fail", "undecided"]


AT_LEAST = frozenset({"accuracy"})
"""Metrics of which more is better; errors are to be at most what is asked."""


@dataclass(frozen=True)
class Target:
    """What is required: an accuracy of at least ``bound``, or an error of at most ``bound``."""

    metric: str
    bound: float

    def __post_init__(self) -> None:
        if self.metric in AT_LEAST and not 0 < self.bound < 1:
            raise FieldcheckError(
                f"an accuracy of {self.bound:g} is asked for", rule="an accuracy between 0 and 1", hint="0.95 for 95 %"
            )
        if not 0 < self.bound < float("inf"):
            raise FieldcheckError(f"an error of {self.bound:g} is asked for", rule="a number above 0")

    def __str__(self) -> str:
        if self.metric in AT_LEAST:
            return f"{self.metric} at least {100 * self.bound:.6g} %"
        return f"{self.metric} at most {self.shown(self.bound)}"

    def shown(self, value: float) -> str:
        """A value of the metric, as people write it."""
        return SCALES[self.metric].shown(value)

    def decide(self, interval: Interval) -> Outcome:
        """Passed when the whole interval meets it, failed when none of it does."""
        sign = 1.0 if self.metric in AT_LEAST else -1.0
        worst, best = sorted((sign * interval.low, sign * interval.high))
        if worst >= sign * self.bound - ROUNDING:
            return "pass"
        return "fail" if best < sign * self.bound - ROUNDING else "undecided"


@dataclass(frozen=True)
class Ruling:
    """What the labels say about a requirement.

    interval
        The one that it was held against; None where there are too few labels for any.
    more
        About how many more labels would decide, if the estimate stays where it is; 0 when it is decided.
    why
        What kept it from being decided, where it is not the width of the interval.
    """

    target: Target
    outcome: Outcome
    estimate: Estimate | None = None
    interval: Interval | None = None
    more: int = 0
    why: str = ""

    def sentence(self) -> str:
        """The decision in words."""
        words = {"pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED"}[self.outcome]
        return f"{words}: {self.target}; {self._found()}"

    def _found(self) -> str:
        if self.estimate is None or self.interval is None:
            return self.why
        shown = self.target.shown
        text = (
            f"estimated {shown(self.estimate.value)}, {self.interval.level:.0%} interval {shown(self.interval.low)} to "
            f"{shown(self.interval.high)}, from {counted(self.estimate.labels, 'label')}"
        )
        return "; ".join(filter(None, [text, self.reason()]))

    def reason(self) -> str:
        """What it would take to decide it; empty when it is decided."""
        if self.outcome != "undecided" or self.why or self.estimate is None:
            return self.why
        if self.estimate.labels + self.more >= self.estimate.population:
            words = f"it would take (nearly) all {counted(self.estimate.population, 'label')} to decide"
        else:
            more = counted(rounded(self.more), "more label")
            words = f"about {more} would decide, if the estimate stays where it is"
        return words + (f"; the budget of {self.estimate.budget:,} leaves fewer" if self.over_budget else "")

    @property
    def over_budget(self) -> bool:
        """Whether more labels are needed than were planned for; who set no budget planned for the whole pool."""
        return self.estimate is not None and self.more > max(self.estimate.budget - self.estimate.labels, 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "metric": self.target.metric,
            "required": self.target.bound,
            "requirement": str(self.target),
            "outcome": self.outcome,
            "more_labels": self.more,
            "over_budget": self.over_budget,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "sentence": self.sentence(),
        }


def rule(estimate: Estimate, target: Target, *, guarded: bool = False) -> Ruling:
    """Hold an estimate against a requirement, by its interval.

    guarded
        Go by the wider interval that also holds where items which look safe fail more often than they should.
    """
    found = estimate.as_metric(target.metric)
    interval = found.guarded if guarded else found.interval
    if interval is None:
        raise FieldcheckError(
            f"'{found.design}' knows no guarded interval", rule="waves has one", hint="leave out --guarded"
        )
    if not interval.trusted:
        why = f"the interval cannot be trusted: {interval.note or 'its weights are too uneven'}"
        return Ruling(target, "undecided", found, interval, why=why)
    outcome = target.decide(interval)
    more = _more(found, interval, target) if outcome == "undecided" else 0
    return Ruling(target, outcome, found, interval, more=more)


def _more(found: Estimate, interval: Interval, target: Target) -> int:
    """The bound on the side of the requirement must come as near to the estimate as the requirement is."""
    gap = found.value - target.bound
    reach = found.value - (interval.low if gap > 0 else interval.high)
    shrink = max(gap / reach, 0.0) if reach else 0.0
    return more_labels(Look(found.labels, found.value, interval), shrink, found.population)


def rule_of(verdict: Verdict, target: Target) -> Ruling:
    """The same from a verdict that allows for a look after every wave."""
    outcomes: dict[str, Outcome] = {"at least": "pass", "below": "fail"}
    outcome = outcomes.get(verdict.decision, "undecided")
    return Ruling(target, outcome, verdict.estimate, verdict.estimate.interval, more=verdict.more)


def too_early(target: Target, why: str) -> Ruling:
    """Where there are too few labels for any interval."""
    return Ruling(target, "undecided", why=why)
