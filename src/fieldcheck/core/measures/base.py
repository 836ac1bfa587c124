"""What every measure says of itself, and how a mean loss is spoken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from fieldcheck.core.types import BoolArray, FloatArray
from fieldcheck.core.words import percent, short


@runtime_checkable
class Measure(Protocol):
    """From what a model said and the truth to a loss, and when an item counts as a failure.

    scales
        Names of what a mean loss may be expressed as; the first is the usual one.
    range
        Of the losses.
    raw
        Whether it reads what a model gives back as it is, and not as classes or values.
    """

    name: ClassVar[str]
    raw: ClassVar[bool]

    @property
    def scales(self) -> tuple[str, ...]: ...

    @property
    def range(self) -> tuple[float, float]: ...

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        """One per item, in the order given."""
        ...

    def failed(self, losses: FloatArray) -> BoolArray:
        """True where an item with this loss is a failure."""
        ...


@dataclass(frozen=True)
class ResultScale:
    """What a mean loss is expressed as.

    form
        ``gain``: 1 minus the loss; ``loss``: the loss itself; ``root``: its root.
    share
        Whether it is a share of items, written as a percentage.
    """

    name: str
    words: str
    form: Literal["gain", "loss", "root"]
    share: bool = False

    def of(self, mean_loss: float) -> float:
        """A mean loss on this scale."""
        if self.form == "root":
            return math.sqrt(max(mean_loss, 0.0))
        return mean_loss if self.form == "loss" else 1.0 - mean_loss

    def back(self, value: float) -> float:
        """The mean loss behind a value."""
        if self.form == "root":
            return value * value
        return value if self.form == "loss" else 1.0 - value

    def slope(self, value: float) -> float:
        """How fast the value moves with the mean loss, without its sign."""
        if self.form != "root":
            return 1.0
        return 1 / (2 * value) if value > 0 else math.nan

    def shown(self, value: float) -> str:
        """A value as every face writes it."""
        return percent(value) if self.share else short(value, 4)

    def round(self, value: float) -> str:
        """The end of an axis: without digits that say nothing."""
        return f"{100 * value:.4g} %" if self.share else f"{value:.4g}"

    def distance(self, value: float) -> str:
        """The distance between two values, as every face writes it."""
        if not self.share:
            return short(value, 3)
        points = f"{100 * value:.2g}"
        return f"{points} point{'' if points == '1' else 's'}"


SCALES = {
    scale.name: scale
    for scale in (
        ResultScale("accuracy", "share of items that the model gets right", "gain", share=True),
        ResultScale("robustness", "share of perturbed inputs that the model gets right", "gain", share=True),
        ResultScale("1-mse", "1 minus the mean squared error, as in the papers", "gain"),
        ResultScale("mse", "mean squared error", "loss"),
        ResultScale("rmse", "root of the mean squared error", "root"),
        ResultScale("1-mae", "1 minus the mean absolute error", "gain"),
        ResultScale("mae", "mean absolute error", "loss"),
        ResultScale("cost", "mean cost", "loss"),
        ResultScale("score", "mean score", "gain"),
    )
}
