"""Which objective for which aim: know the accuracy, improve the model with the labels, or both."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fieldcheck.core.errors import BenchError

STUDIES = ("benchmarks/results/training_study.md", "benchmarks/results/training_gain.md")
"""Where the numbers are from: 500 campaigns a cell, 200 labels, half of them kept; five seeds a data set."""

MORE = (
    "Do not hope for much from the choice alone: 200 labels gained 8 to 10 points on fresh items whichever way they "
    "were chosen, and twice as many random labels 1 to 5 points more."
)


@dataclass(frozen=True)
class Measured:
    """What an objective was measured to do.

    error
        Of the next version's estimate from the kept labels, relative to a fresh random sample of as many: mean of five
        fields, lowest, highest.
    gain
        Points on fresh items over random labels, and their standard error, by data set.
    """

    objective: str
    error: tuple[float, float, float]
    gain: dict[str, tuple[float, float]]


def _gains(*pairs: tuple[float, float]) -> dict[str, tuple[float, float]]:
    return dict(zip(("digits", "CIFAR-10", "traffic signs"), pairs, strict=True))


MEASURED = {
    one.objective: one
    for one in (
        Measured("estimate", (0.78, 0.57, 0.87), _gains((-0.3, 0.6), (-0.4, 0.8), (0.7, 0.7))),
        Measured("balanced", (0.87, 0.68, 1.03), _gains((-0.3, 0.4), (0.1, 0.6), (1.5, 0.5))),
        Measured("expose", (1.68, 1.32, 1.89), _gains((0.4, 0.6), (0.2, 0.6), (0.5, 0.5))),
    )
}


AIMS = {"estimate": "estimate", "improve": "balanced", "both": "balanced"}
"""From an aim to an objective. `expose` finds the most failures; training on them gained no more than on others."""


@dataclass(frozen=True)
class Advice:
    """The objective for an aim, and what it rests on."""

    aim: str
    best: Measured
    others: tuple[Measured, ...]

    def __str__(self) -> str:
        train = "" if self.aim == "estimate" else " --train-share 0.5"
        return "\n".join([f"--objective {self.best.objective}{train}", *map(_line, (self.best, *self.others)), MORE])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        measured = [asdict(one) for one in (self.best, *self.others)]
        return {"aim": self.aim, "objective": self.best.objective, "measured": measured, "studies": list(STUDIES)}


def _line(one: Measured) -> str:
    mean, low, high = one.error
    gains = ", ".join(f"{name} {points:+.1f} ± {se:.1f}" for name, (points, se) in one.gain.items())
    return (
        f"  {one.objective:<9} error of the next version's estimate {mean:.2f} ({low:.2f} to {high:.2f}) of that of a "
        f"fresh random sample; points gained over random labels: {gains}"
    )


def advice(aim: str) -> Advice:
    """What to take for an aim: ``estimate``, ``improve`` or ``both``."""
    if aim not in AIMS:
        raise BenchError(f"no aim '{aim}'", rule=", ".join(AIMS), hint="--aim both")
    best = MEASURED[AIMS[aim]]
    return Advice(aim, best, tuple(one for one in MEASURED.values() if one is not best))
