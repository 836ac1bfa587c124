"""An estimate that explains itself: the same object on the terminal, in a notebook, in a report and as JSON."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.interval import KINDS, Interval, protected_of
from fieldcheck.core.measures import measure_of
from fieldcheck.core.measures.base import SCALES, ResultScale
from fieldcheck.core.types import Loss, Task
from fieldcheck.core.words import counted

SPOKEN = {"1-mse": "rmse", "1-mae": "mae"}
"""Scales of the papers, and what people speak of."""

UNREAD = 0.0005
"""An estimate that leaves [0, 1] by less than can be read is not worth a word."""

BAR = 40
"""Letters of the bar of an interval."""

AUDIT = "exactly unbiased if the number of labels was fixed beforehand and none was skipped; slightly less precise"
"""When labels decide where to stop, or which of them are missing, nothing is exactly unbiased."""


@dataclass(frozen=True)
class Estimate:
    """What one campaign says about the pool.

    metric, value
        What was estimated; ``value`` is not clipped to its range, so that its mean over campaigns stays where it is.
    interval
        Bounds for it, with the kind of promise they make.
    beside
        A second interval with another promise, for techniques that know one; the ``basis`` of each says which it is.
    audit
        A second estimate, for those who must claim that it is unbiased: exactly so where ``value`` is only nearly so,
        if the number of labels was fixed beforehand and none was skipped.
    labels, failures
        Distinct items labelled, and how many of them failed.
    truth
        The metric on the whole pool, where every label is known.
    warnings, notes
        What would make the number wrong; what else there is to know about it.
    """

    metric: str
    value: float
    interval: Interval
    standard_error: float
    labels: int
    failures: int
    population: int
    task: Task
    design: str
    design_title: str
    paper: str
    auxiliary: str
    budget: int
    seed: int
    mean_loss: float
    loss: Loss = "squared"
    truth: float | None = None
    beside: Interval | None = None
    audit: float | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def as_metric(self, metric: str) -> Estimate:
        """The same estimate on another scale (``rmse`` for ``1-mse``, ...); the interval moves with it."""
        allowed = measure_of(self.task, self.loss).scales
        if metric not in allowed:
            losses = [loss for loss in get_args(Loss) if metric in measure_of(self.task, loss).scales]
            raise FieldcheckError(
                f"no metric '{metric}' for {self.task}" + (f" with {self.loss} loss" if losses else ""),
                rule="there are: " + ", ".join(allowed),
                hint=f"--loss {losses[0]}, when the items are drawn" if losses else "",
            )
        scale = SCALES[metric]
        value = scale.of(self.mean_loss)

        def move(old: float) -> float:
            return scale.of(self.scale.back(old))

        return replace(
            self,
            metric=metric,
            value=value,
            interval=self.interval.map(move),
            beside=None if self.beside is None else self.beside.map(move),
            audit=None if self.audit is None else move(self.audit),
            standard_error=self.standard_error / self.scale.slope(self.value) * scale.slope(value),
            truth=None if self.truth is None else move(self.truth),
        )

    @property
    def shown(self) -> float:
        """What people are told: the value, cut to what is possible; an estimate by weights may leave that range."""
        low, high = measure_of(self.task, self.loss).range
        return self.scale.of(min(max(self.mean_loss, low), high))

    @property
    def protected(self) -> Interval | None:
        """The interval that is made to hold also where items that look safe fail, for techniques that know one."""
        return protected_of(self.interval, self.beside)

    @property
    def scale(self) -> ResultScale:
        """How the metric is made of a mean loss, and written."""
        return SCALES[self.metric]

    def spoken(self) -> Estimate:
        """On the scale that people speak of: an error has the unit of the target."""
        return self.as_metric(SPOKEN[self.metric]) if self.metric in SPOKEN else self

    @property
    def cut(self) -> str:
        """That the value was cut, in words; empty where it was not."""
        if abs(self.shown - self.value) < UNREAD:
            return ""
        return f"{self.scale.shown(self.value)} by its weights, cut to what is possible"

    def sentence(self) -> str:
        """The answer in words."""
        if self.metric in SPOKEN:
            return self.spoken().sentence()
        bounds = f"{100 * self.interval.level:.4g} % interval {self._between(self.interval)}"
        if not self.interval.trusted:
            bounds += ", which cannot be trusted here"
        cut = f"; {self.cut}" if self.cut else ""
        return (
            f"{self.name} on this pool of {counted(self.population, 'item')} is estimated at "
            f"{self.scale.shown(self.shown)} ({bounds}{cut}), from {counted(self.labels, 'label')} that exposed "
            f"{counted(self.failures, 'failure')}."
        )

    @property
    def name(self) -> str:
        """Of what was estimated, at the head of a line."""
        return self.metric.capitalize() if self.scale.share else self.metric.upper()

    def lines(self, width: int = 120) -> list[str]:
        """The answer as a terminal shows it: value and interval, the interval as a bar, the second interval.

        width
            Of the terminal: on a narrow one what the answer is based on has a line of its own.
        """
        found = self.spoken()
        head = f"{found.name}  "
        left, shown = " " * len(head), found.scale.shown
        kind = ", protected" if found.interval is found.protected else ""
        trust = "" if found.interval.trusted else ", which cannot be trusted here"
        bounds = f"{100 * found.interval.level:.4g} % interval {found._dash(found.interval)}{kind}{trust}"
        answer = f"{head}{shown(found.shown)}   {bounds}"
        basis = f"{counted(self.labels, 'label')}, {counted(self.failures, 'failure')}, pool of {self.population:,}"
        fits = len(answer) + 4 + len(basis) <= width
        rows = [f"{answer}    {basis}"] if fits else [answer, f"{left}{basis}"]
        rows.append(f"{left}{found._bar()}")
        if found.beside is not None:
            beside = "protected" if found.beside is found.protected else "if the risk model is right"
            shown_beside = found._dash(found.beside) if found.beside.trusted else f"none, {found.beside.note}"
            rows.append(f"{left}{beside}: {shown_beside}")
        return [*rows, *([f"{left}{found.cut}"] if found.cut else [])]

    def _dash(self, interval: Interval) -> str:
        return f"{self.scale.shown(interval.low)} – {self.scale.shown(interval.high)}"

    def _bar(self) -> str:
        """The interval on an axis whose ends are round numbers."""
        low, high = round_ends(self.interval.low, self.interval.high)
        if self.scale.share:
            low, high = max(low, 0.0), min(high, 1.0)
        at = [
            round((min(max(one, low), high) - low) / ((high - low) or 1.0) * (BAR - 1))
            for one in (self.interval.low, self.shown, self.interval.high)
        ]
        cells = ["·"] * BAR
        cells[at[0] : at[2] + 1] = "─" * (at[2] + 1 - at[0])
        cells[at[0]], cells[at[2]] = "├", "┤"
        cells[at[1]] = "●"
        return f"{self.scale.round(low)} {''.join(cells)} {self.scale.round(high)}"

    def _between(self, interval: Interval) -> str:
        return f"{self.scale.shown(interval.low)} to {self.scale.shown(interval.high)}"

    def facts(self) -> list[tuple[str, str]]:
        """Everything else, as pairs of what and how much."""
        words = self.interval.note or KINDS[self.interval.kind]
        rows = [
            (
                "interval",
                f"{self.interval.kind} ({self.interval.method}): {words}" if self.interval.method else words,
            ),
            ("standard error", f"{self.standard_error:.4g}"),
            (
                "labels",
                f"{self.labels:,}" + (f" of a budget of {self.budget:,}" if self.budget < self.population else ""),
            ),
            ("failures found", f"{self.failures:,}"),
            ("design", f"{self.design} ({self.design_title})"),
            ("auxiliary", self.auxiliary),
            ("paper", self.paper),
            ("seed", str(self.seed)),
        ]
        if self.beside is not None:
            name = "protected interval" if self.beside is self.protected else "narrower interval"
            bounds = f"{self._between(self.beside)}: " if self.beside.trusted else "none, "
            rows.insert(1, (name, bounds + self.beside.note))
        if self.audit is not None:
            root = "before the root is taken " if self.metric == "rmse" else ""
            rows.insert(2, ("audit form", f"{self.scale.shown(self.audit)}: {root}{AUDIT}"))
        if self.truth is not None:
            inside = "inside" if self.truth in self.interval else "OUTSIDE"
            rows.insert(0, ("truth", f"{self.scale.shown(self.truth)} ({inside} the interval)"))
        return rows

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.facts())
        lines = [self.sentence(), *(f"  {name:<{width}}  {words}" for name, words in self.facts())]
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        rows = "".join(
            f"<tr><th {left}>{html.escape(name)}</th><td {left}>{html.escape(words)}</td></tr>"
            for name, words in self.facts()
        )
        notes = "".join(f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in self.warnings)
        notes += "".join(f"<p>{html.escape(text)}</p>" for text in self.notes)
        return f"<p><b>{html.escape(self.sentence())}</b></p>{notes}<table>{rows}</table>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "metric": self.metric,
            "value": self.value,
            "shown": self.shown,
            "interval": self.interval.to_dict(),
            "beside": None if self.beside is None else self.beside.to_dict(),
            "audit": self.audit,
            "standard_error": None if math.isnan(self.standard_error) else self.standard_error,
            "labels": self.labels,
            "failures": self.failures,
            "population": self.population,
            "task": self.task,
            "design": self.design,
            "auxiliary": self.auxiliary,
            "paper": self.paper,
            "budget": self.budget,
            "seed": self.seed,
            "truth": self.truth,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "versions": dict(self.versions),
            "sentence": self.sentence(),
        }


def round_ends(low: float, high: float) -> tuple[float, float]:
    """Round numbers around an interval, about five steps apart."""
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-9)))
    step = next(step * one for one in (0.2, 0.5, 1.0, 2.0, 5.0) if (high - low) / (step * one) <= 5)
    return math.floor(low / step) * step, math.ceil(high / step) * step
