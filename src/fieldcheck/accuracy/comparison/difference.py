"""How much better one model is than another, in numbers and in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fieldcheck.core import words
from fieldcheck.core.interval import Interval
from fieldcheck.core.requirement import Decided

ASSUMES = "that the labels are right, and that the belief about who is right is about right where few labels were taken"

SILENT = "how accurate either model is: only items on which they disagree were labelled"


POINTS = " points"
"""The unit of a difference between two accuracies."""


@dataclass(frozen=True)
class Difference:
    """What the labels say about two models on one pool.

    first, second
        Names of the models.
    value
        How much better the first one is: its accuracy minus that of the second, or the mean squared error of the
        second minus its own.
    interval
        For the difference on this pool.
    future
        For the difference on further items from the same source, many of them: wider, since this pool is a sample too.
    labels, disagreements
        Labelled items on which the two disagree, and all of these.
    winner
        The model that is better on this pool; None while that is undecided, or where they are equal.
    decided
        True where it was claimed which one is better, or where every disagreement is labelled.
    more
        Labels that would decide it, were the difference as it is estimated; 0 where these are enough.
    truth
        The difference where every label is known.
    """

    first: str
    second: str
    metric: Literal["accuracy", "mse"]
    value: float
    interval: Interval
    future: Interval
    standard_error: float
    labels: int
    disagreements: int
    population: int
    winner: str | None
    decided: bool
    more: int
    truth: float | None = None
    margin: float | None = None

    @property
    def not_worse(self) -> Decided:
        """Whether the first model is worse than the second by no more than the margin."""
        if not self.decided or self.margin is None:
            return "undecided"
        return "passed" if self.interval.low >= -self.margin else "failed"

    @property
    def exact(self) -> bool:
        """True where every disagreement is labelled, or there is none."""
        return self.labels == self.disagreements

    def sentence(self) -> str:
        """The answer in words."""
        pool = words.counted(self.population, "item")
        if not self.disagreements:
            return f"{self.first} and {self.second} say the same about all {pool} of this pool."
        if self.margin is not None and self.decided:
            return self._within()
        if self.winner is not None:
            return self._claim()
        if self.exact:
            return f"{self.first} and {self.second} are equally good on this pool: {self._counted()}."
        return (
            f"Undecided which is better on this pool of {pool}: {self._compared()} is estimated at "
            f"{self.shown(self.value)} ({self._bounds(self.interval)}), {self._counted()}; {self._outlook()}."
        )

    def _within(self) -> str:
        point = self.metric == "accuracy" and self.margin == 0.01
        size = "a point" if point else self.shown(self.margin or 0.0, sign="")
        verb = "is not worse" if self.not_worse == "passed" else "is worse"
        return (
            f"{self.first} {verb} than {self.second} by more than {size} on this pool of "
            f"{words.counted(self.population, 'item')}: {self._compared()} is estimated at {self.shown(self.value)} "
            f"({self._bounds(self.interval)}), {self._counted()}."
        )

    def _claim(self) -> str:
        loser = self.second if self.winner == self.first else self.first
        low, high = sorted((abs(self.interval.low), abs(self.interval.high)))
        bounds = "exactly" if self.exact else self._bounds(replace(self.interval, low=low, high=high), sign="")
        what = "accuracy is higher" if self.metric == "accuracy" else "mean squared error is lower"
        return (
            f"{self.winner} is better than {loser} on this pool of {words.counted(self.population, 'item')}: "
            f"its {what} by {self.shown(abs(self.value), sign='')} ({bounds}), {self._counted()}."
        )

    def _compared(self) -> str:
        if self.metric == "accuracy":
            return f"the accuracy of {self.first} minus that of {self.second}"
        return f"the mean squared error of {self.second} minus that of {self.first}"

    def _counted(self) -> str:
        if self.exact:
            return f"all {words.counted(self.disagreements, 'disagreement')} labelled"
        return f"from {words.counted(self.labels, 'label')} of {words.counted(self.disagreements, 'disagreement')}"

    def _outlook(self) -> str:
        left = self.disagreements - self.labels
        if not self.more:
            return "it is decided when the labels that are still to come are there"
        if self.more >= left:
            return f"the other {words.counted(left, 'disagreement')} would have to be labelled too"
        return f"about {words.counted(self.more, 'more label')} would decide it if the difference is as estimated"

    def _bounds(self, interval: Interval, sign: str = "+") -> str:
        low = self.shown(interval.low, sign=sign).removesuffix(POINTS)
        return f"{100 * interval.level:.4g} % interval {low} to {self.shown(interval.high, sign=sign)}"

    def shown(self, value: float, sign: str = "+") -> str:
        """A difference as every face writes it: of accuracies in points."""
        return f"{100 * value:{sign}.3g}{POINTS}" if self.metric == "accuracy" else f"{value:{sign}.4g}"

    def facts(self) -> list[tuple[str, str]]:
        """The pair, and numbers with what they mean."""
        rows = [
            ("difference", self._compared()),
            ("on this pool", f"{self.shown(self.value)}, {self._bounds(self.interval)}: {self.interval.note}"),
            ("on future data", f"{self.shown(self.value)}, {self._bounds(self.future)}: {self.future.note}"),
            ("standard error", self.shown(self.standard_error, sign="")),
        ]
        if self.truth is not None:
            inside = "inside" if self.truth in self.interval or self.exact else "OUTSIDE"
            rows.insert(1, ("truth", f"{self.shown(self.truth)} ({inside} the interval)"))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "metric": self.metric,
            "value": self.value,
            "interval": self.interval.to_dict(),
            "future_interval": self.future.to_dict(),
            "standard_error": None if math.isnan(self.standard_error) else self.standard_error,
            "labels": self.labels,
            "disagreements": self.disagreements,
            "winner": self.winner,
            "decided": self.decided,
            "margin": self.margin,
            "not_worse": self.not_worse,
            "more_labels": self.more,
            "truth": self.truth,
            "sentence": self.sentence(),
        }


@dataclass(frozen=True)
class Comparison:
    """Two or more models on one pool.

    differences
        One per pair of models.
    contested
        Items on which not all models say the same.
    """

    differences: tuple[Difference, ...]
    labels: int
    contested: int
    population: int
    budget: int
    seed: int
    certify: bool
    warnings: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def decided(self) -> bool:
        """True where every pair is."""
        return all(difference.decided for difference in self.differences)

    def names(self) -> tuple[str, ...]:
        """Of the models."""
        return tuple(dict.fromkeys(name for one in self.differences for name in (one.first, one.second)))

    def best(self) -> str | None:
        """The model that is better than every other; None while that is not decided."""
        names = self.names()
        won = Counter(one.winner for one in self.differences)
        return next((name for name in names if won[name] == len(names) - 1), None)

    def not_worse(self) -> Decided:
        """Whether the first model is worse than no other by more than the margin."""
        found = [one.not_worse for one in self.differences if one.first == self.names()[0]]
        return "failed" if "failed" in found else "undecided" if "undecided" in found else "passed"

    def beaten(self, name: str) -> bool:
        """Whether another model is better than this one."""
        return any(one.winner not in (None, name) and name in (one.first, one.second) for one in self.differences)

    def headline(self) -> str:
        """The answer in a few words."""
        best = self.best()
        word = "better" if len(self.differences) == 1 else "best"
        return f"{best} is {word}" if best else "decided" if self.decided else "undecided"

    def sentence(self) -> str:
        """The answer in words, one sentence per pair."""
        return "\n".join(difference.sentence() for difference in self.differences)

    def facts(self) -> list[tuple[str, str]]:
        """How it was made, what it assumes, and what it does not say."""
        rows = [row for difference in self.differences for row in difference.facts()]
        agree = self.population - self.contested
        return [
            *rows,
            (
                "labels",
                f"{self.labels:,} of {words.counted(self.contested, 'item')} on which the models do not all agree",
            ),
            (
                "not labelled",
                f"{words.counted(agree, 'item')} on which all models say the same: the difference there is 0",
            ),
            ("rule", self._rule()),
            ("assumes", ASSUMES),
            ("says nothing of", SILENT),
            ("seed", str(self.seed)),
        ]

    def _rule(self) -> str:
        if self.certify:
            return "looked at after every wave, with critical values that make up for it"
        return f"one look, after {words.counted(min(self.budget, self.contested), 'label')}"

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.facts())
        lines = [self.sentence(), *(f"  {name:<{width}}  {text}" for name, text in self.facts())]
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "differences": [difference.to_dict() for difference in self.differences],
            "labels": self.labels,
            "contested": self.contested,
            "population": self.population,
            "budget": self.budget,
            "seed": self.seed,
            "certify": self.certify,
            "decided": self.decided,
            "assumes": ASSUMES,
            "says_nothing_of": SILENT,
            "warnings": list(self.warnings),
            "versions": dict(self.versions),
        }
