"""What a stop rule found, in words and as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import Line, LineChart, Table
from fieldcheck.core.interval import Basis, Interval
from fieldcheck.core.words import counted

Decision = Literal["at least", "below", "undecided", "reached", "not reached"]


DECIDED: frozenset[Decision] = frozenset({"at least", "below", "reached"})


CERTIFYING: frozenset[Decision] = frozenset({"at least", "below", "undecided"})


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
class Verdict:
    """Where a campaign stopped, and what it may claim.

    decision
        ``at least``, ``below`` or ``undecided`` for a threshold; ``reached`` or ``not reached`` for a half-width.
    estimate
        At the stop; its interval is the one that the rule went by.
    looks
        All looks up to the stop.
    aim
        The threshold, or the half-width wanted.
    more
        About how many more labels would decide, if the estimate stays where it is; 0 when it is decided.
    """

    decision: Decision
    estimate: Estimate
    looks: tuple[Look, ...]
    aim: float
    more: int

    @property
    def decided(self) -> bool:
        return self.decision in DECIDED

    @property
    def labels(self) -> int:
        return self.looks[-1].labels

    def sentence(self) -> str:
        """The answer in words."""
        found = self.estimate
        here = f"{found.metric.capitalize()} on this pool of {counted(found.population, 'item')}"
        words = {
            "at least": f"{here} is at least {self._aim()}",
            "below": f"{here} is below {self._aim()}",
            "undecided": f"{here}: undecided whether it is at least {self._aim()}, {self._more()}",
            "reached": f"{here} is known to ±{self._half_width()}, asked for ±{self._aim()}",
            "not reached": f"{here} is known to ±{self._half_width()}, not to ±{self._aim()}, {self._more()}",
        }
        low, value, high = map(found.scale.shown, (found.interval.low, found.value, found.interval.high))
        return f"{words[self.decision]}: {value} ({low} to {high}) after {counted(self.labels, 'label')}."

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
        certifying = self.decision in CERTIFYING
        return LineChart(
            "looks",
            f"{found.metric.capitalize()} at every look",
            "labels",
            found.metric,
            (line,),
            reference=self.aim if certifying else found.truth,
            reference_label="threshold" if certifying else "truth",
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
            "threshold" if self.decision in CERTIFYING else "half_width": self.aim,
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
        if self.decision not in CERTIFYING:
            return f"about {share} of campaigns, or fewer, stop with an interval that misses the truth"
        how = "exactly" if self._basis == "sequence" else "approximately, checked by simulation"
        return f"at most {share} of campaigns ever make a false claim, at any of their looks ({how})"

    def _aim(self) -> str:
        return f"{100 * self.aim:.6g} %" if self.decision in CERTIFYING else self.estimate.scale.distance(self.aim)

    def _half_width(self) -> str:
        return self.estimate.scale.distance(self.estimate.interval.width / 2)

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
