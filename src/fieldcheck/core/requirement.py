"""What is asked of a model, and what was decided about it: one comparison, one rounding and one set of words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import Line, LineChart, Table
from fieldcheck.core.interval import Basis, Interval
from fieldcheck.core.measures.base import SCALES, ResultScale
from fieldcheck.core.words import counted

Decided = Literal["failed", "undecided", "passed"]
"""From the worst."""

EXIT_CODES: dict[Decided, int] = {"passed": 0, "failed": 1, "undecided": 2}

ROUNDING = 1e-12
"""By so much a bound may miss what is asked and still meet it: numbers that are equal come out so far apart."""

FIRST_SHARE, NEXT_SHARE = 0.8, 0.2
"""Of the error that is allowed, the first decision takes the one, and each further one the other of the one before it:
4 %, .8 %, .16 %, ... never add up to more than 5 %."""


def look_error(number: int, *, level: float = 0.95) -> float:
    """The error at which a campaign is decided after so many extensions of its budget."""
    return (1 - level) * FIRST_SHARE * NEXT_SHARE**number


@dataclass(frozen=True)
class BudgetLook:
    """One budget of a campaign: its labels are looked at once, when all of them are there.

    extensions
        Of the budget, before this look.
    labels
        That it waits for, and how many of them there are.
    error
        At which it decides.
    when
        What it waits for where that is no number of labels.
    every
        Whether every wave is looked at, and ``error`` is that of all these looks together.
    """

    extensions: int
    labels: int
    there: int
    error: float
    when: str = ""
    every: bool = False

    @property
    def spent(self) -> bool:
        return self.there >= self.labels

    @property
    def next_error(self) -> float:
        """At which it is decided after one more extension."""
        return self.error * NEXT_SHARE

    def words(self) -> str:
        """Which look it was, or what it waits for."""
        if not self.spent and self.when:
            return f"preliminary: {counted(self.there, 'label')}, and it is decided {self.when}"
        if not self.spent:
            have = f"{self.there:,} of the {counted(self.labels, 'label')} of the budget"
            return f"preliminary: {have}, and it is decided when all of them are there"
        if self.every:
            return f"looked at after every wave, at {100 * self.error:.2g} % error in all"
        which = f"look {self.extensions + 1}, after {counted(self.extensions, 'extension')}" if self.extensions else ""
        return f"{which or 'first look'}, at {100 * self.error:.2g} % error"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "number": self.extensions + 1,
            "extensions": self.extensions,
            "labels": self.labels,
            "labels_there": self.there,
            "error": self.error,
            "preliminary": not self.spent,
        }


@dataclass(frozen=True)
class Requirement:
    """What is asked: an accuracy (or robustness) of at least ``bound``, or an error of at most ``bound``."""

    metric: str
    bound: float

    def __post_init__(self) -> None:
        if self.scale.share and not 0 < self.bound < 1:
            raise FieldcheckError(
                f"{self.metric} of {self.bound:g} is asked for",
                rule="a share between 0 and 1",
                hint=f"{self.bound / 100:g} for {self.bound:g} %" if 1 < self.bound < 100 else "0.95 for 95 %",
            )
        if not 0 < self.bound < float("inf"):
            raise FieldcheckError(f"an error of {self.bound:g} is asked for", rule="a number above 0")

    @property
    def scale(self) -> ResultScale:
        """How its numbers are written."""
        return SCALES[self.metric]

    def __str__(self) -> str:
        return f"{self.metric} at {'least' if self.scale.share else 'most'} {self.shown}"

    @property
    def shown(self) -> str:
        """What is asked, as people write it: 95 %, not 95.0 %."""
        return f"{100 * self.bound:.6g} %" if self.scale.share else self.scale.shown(self.bound)

    def decide(self, interval: Interval) -> Decision:
        """Passed when the whole interval meets it, failed when none of it does."""
        return Decision(self, self._decided(interval), interval=interval)

    def _decided(self, interval: Interval) -> Decided:
        sign = 1.0 if self.scale.share else -1.0
        worst, best = sorted((sign * interval.low, sign * interval.high))
        if worst >= sign * self.bound - ROUNDING:
            return "passed"
        return "failed" if best < sign * self.bound - ROUNDING else "undecided"


@dataclass(frozen=True)
class Decision:
    """What is known about a requirement.

    interval
        The one that it was held against; None where there are too few labels for any.
    more
        About how many more labels would decide, if the estimate stays where it is; 0 when it is decided.
    why
        What kept it from being decided, where it is not the width of the interval.
    look
        At which budget of a campaign it was decided, or will be.
    """

    requirement: Requirement
    word: Decided
    estimate: Estimate | None = None
    interval: Interval | None = None
    more: int = 0
    why: str = ""
    look: BudgetLook | None = None

    @property
    def preliminary(self) -> bool:
        """Whether the budget is not spent, so that nothing is decided yet."""
        return self.look is not None and not self.look.spent

    def at(self, look: BudgetLook) -> Decision:
        """As this look may say it: nothing is decided before its labels are there."""
        if look.spent:
            return replace(self, look=look)
        return replace(self, look=look, word="undecided", why=look.words())

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.word]

    def sentence(self) -> str:
        """The decision in words."""
        look = self.look.words() if self.look is not None and self.look.spent else ""
        words = filter(None, [str(self.requirement), self._found(), self.reason(), look])
        return f"{'PRELIMINARY' if self.preliminary else self.word.upper()}: {'; '.join(words)}"

    def _found(self) -> str:
        if self.interval is None:
            return ""
        shown = self.requirement.scale.shown
        bounds = f"{100 * self.interval.level:.4g} % interval {shown(self.interval.low)} to {shown(self.interval.high)}"
        if self.estimate is None:
            return bounds
        return f"estimated {shown(self.estimate.value)}, {bounds}, from {counted(self.estimate.labels, 'label')}"

    def reason(self) -> str:
        """What it would take to decide it; empty when it is decided."""
        if self.word != "undecided" or self.why or self.estimate is None:
            return self.why
        if self.estimate.labels + self.more >= self.estimate.population:
            words = f"it would take (nearly) all {counted(self.estimate.population, 'label')} to decide"
        else:
            more = counted(rounded(self.more), "more label")
            words = f"about {more} would decide, if the estimate stays where it is"
        spent = self.estimate.labels >= self.estimate.budget
        left = f"; the budget of {self.estimate.budget:,} {'is spent' if spent else 'leaves fewer'}"
        return words + (left if self.over_budget else "")

    @property
    def over_budget(self) -> bool:
        """Whether more labels are needed than were planned for; without a budget the whole pool was."""
        return self.estimate is not None and self.more > max(self.estimate.budget - self.estimate.labels, 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "metric": self.requirement.metric,
            "required": self.requirement.bound,
            "requirement": str(self.requirement),
            "decision": self.word,
            "preliminary": self.preliminary,
            "look": None if self.look is None else self.look.to_dict(),
            "more_labels": self.more,
            "over_budget": self.over_budget,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "sentence": self.sentence(),
        }


def worst(decisions: Iterable[Decision]) -> Decided:
    """What several requirements come to: failed where one is, passed only where all are."""
    order: tuple[Decided, ...] = ("failed", "undecided", "passed")
    return min((decision.word for decision in decisions), key=order.index)


POINTS = 400
"""Looks that a figure shows at most."""

ASSUMES: dict[Basis, str] = {
    "random": "that items were drawn at random and labels are right; nothing about the model",
    "sequence": "that items were drawn at random and labels are right; nothing about the model, nor when you look",
    "model": "that the risk model is about right where few labels were taken",
    "protected": "that items which look safe fail at most as often as their labels permit",
    "boundary": "for 'at least': that items which look safe fail at most as often as their labels permit; "
    "for 'below': that the risk model is about right where few labels were taken",
}

AT_RANDOM: frozenset[Basis] = frozenset({"random", "sequence"})
"""Nothing is assumed about the model."""

WRONG_IF = {
    "random": "labels are wrong, or items were left out because of what they are",
    "model": "labels are wrong, items were left out because of what they are, or many of the most confident items fail "
    "and no label has reached them (srs does not depend on that)",
}


@dataclass(frozen=True)
class Look:
    """One look at a campaign: labels so far, the estimate, and the interval that the rule goes by."""

    labels: int
    value: float
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"labels": self.labels, "value": self.value, "low": self.interval.low, "high": self.interval.high}


@dataclass(frozen=True)
class Stop:
    """Where a campaign stopped, and what it may claim.

    estimate
        At the stop; its interval is the one that the rule went by.
    looks
        All looks up to the stop.
    aim
        The requirement, or the half-width wanted.
    more
        About how many more labels would decide, if the estimate stays where it is; 0 when it is decided.
    """

    decision: Decided
    estimate: Estimate
    looks: tuple[Look, ...]
    aim: Requirement | float
    more: int

    @property
    def decided(self) -> bool:
        return self.decision != "undecided"

    @property
    def labels(self) -> int:
        return self.looks[-1].labels

    def sentence(self) -> str:
        """The answer in words."""
        found = self.estimate
        here = f"{found.metric.capitalize()} on this pool of {counted(found.population, 'item')}"
        words = f"{here} {self._certified(self.aim) if isinstance(self.aim, Requirement) else self._known(self.aim)}"
        low, value, high = map(found.scale.shown, (found.interval.low, found.value, found.interval.high))
        return f"{words}: {value} ({low} to {high}) after {counted(self.labels, 'label')}."

    def _certified(self, wanted: Requirement) -> str:
        if not self.decided:
            return f"may or may not be at least {wanted.shown}, {self._more()}"
        return f"is {'at least' if self.decision == 'passed' else 'below'} {wanted.shown}"

    def _known(self, wanted: float) -> str:
        reached, asked = map(self.estimate.scale.distance, (self.estimate.interval.width / 2, wanted))
        if self.decided:
            return f"is known to ±{reached}, asked for ±{asked}"
        return f"is known to ±{reached}, not to ±{asked}, {self._more()}"

    def facts(self) -> list[tuple[str, str]]:
        """What the decision rests on, as pairs of what and how much."""
        rows = [
            ("decision", self.decision),
            (
                "looks",
                f"{len(self.looks):,}, up to {self.labels:,} of at most {counted(self.estimate.budget, 'label')}",
            ),
            ("error", self._error()),
            ("assumes", ASSUMES[self._basis]),
            ("wrong if", WRONG_IF["random" if self._basis in AT_RANDOM else "model"]),
            ("about", f"the {self.estimate.population:,} items of this pool, not future data from the same source"),
        ]
        if self.estimate.truth is not None:
            rows.insert(1, ("truth", self.estimate.scale.shown(self.estimate.truth)))
        return rows

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.facts())
        return "\n".join([self.sentence(), *(f"  {name:<{width}}  {words}" for name, words in self.facts())])

    def chart(self) -> LineChart:
        """The estimate and its interval over the labels."""
        found, looks = self.estimate, _thinned(self.looks)
        line = Line(
            "estimate",
            x=tuple(float(look.labels) for look in looks),
            y=tuple(look.value for look in looks),
            low=tuple(look.interval.low for look in looks),
            high=tuple(look.interval.high for look in looks),
        )
        bound = self.aim.bound if isinstance(self.aim, Requirement) else None
        return LineChart(
            "looks",
            f"{found.metric.capitalize()} at every look",
            "labels",
            found.metric,
            (line,),
            reference=found.truth if bound is None else bound,
            reference_label="truth" if bound is None else "threshold",
            note="The band is the interval that the rule goes by.",
        )

    def table(self) -> Table:
        """What the decision rests on."""
        return Table("decision", "What the decision rests on", ("what", "words"), tuple(self.facts()))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "decision": self.decision,
            "decided": self.decided,
            **({"threshold": self.aim.bound} if isinstance(self.aim, Requirement) else {"half_width": self.aim}),
            "labels": self.labels,
            "max_labels": self.estimate.budget,
            "more_labels": self.more,
            "sentence": self.sentence(),
            "facts": dict(self.facts()),
            "estimate": self.estimate.to_dict(),
            "looks": [look.to_dict() for look in self.looks],
        }

    @property
    def _basis(self) -> Basis:
        return self.estimate.interval.basis

    def _error(self) -> str:
        share = f"{100 * (1 - self.estimate.interval.level):.2g} %"
        if not isinstance(self.aim, Requirement):
            return f"about {share} of campaigns, or fewer, stop with an interval that misses the truth"
        how = "exactly" if self._basis == "sequence" else "approximately, checked by simulation"
        return f"at most {share} of campaigns ever make a false claim, at any of their looks ({how})"

    def _more(self) -> str:
        if self.labels + self.more >= self.estimate.population:
            return f"it would take (nearly) all {counted(self.estimate.population, 'label')}"
        return f"about {counted(rounded(self.more), 'more label')}"


def rounded(labels: int) -> int:
    """Two digits: a forecast has no more."""
    scale = int(10 ** max(len(str(labels)) - 2, 0))
    return -(-labels // scale) * scale


def _thinned(looks: tuple[Look, ...]) -> tuple[Look, ...]:
    """At most about POINTS of them, the last one always."""
    step = -(-len(looks) // POINTS)
    return looks[::-1][::step][::-1]
