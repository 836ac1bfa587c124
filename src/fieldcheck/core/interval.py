"""An interval that says what kind of promise it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal

Kind = Literal["exact", "asymptotic", "anytime", "model-based", "none"]

KINDS: dict[Kind, str] = {
    "exact": "holds at every sample size, whatever the model does",
    "asymptotic": "holds approximately; checked by simulation for the sizes in the documentation",
    "anytime": "holds at every moment you may look at it",
    "model-based": "rests on an assumption that the data cannot confirm",
    "none": "no interval can be trusted here",
}

Basis = Literal["random", "sequence", "model", "protected", "boundary"]
"""What has to be true for it to hold: that items were drawn at random (and at every look), that a risk model is about
right, that items which look safe fail no more often than their labels permit, or the last two, one for each end."""


@dataclass(frozen=True)
class Interval:
    """Bounds for the quantity that was estimated.

    level
        The promised share of campaigns whose interval contains the truth.
    kind
        Why one may believe it; ``KINDS`` has the words.
    trusted
        False where the weights are so uneven that the bounds are shown for orientation only.
    note
        What the interval assumes, or why it cannot be trusted.
    basis
        The same for programs: no text is there to be matched.
    """

    low: float
    high: float
    level: float = 0.95
    kind: Kind = "asymptotic"
    method: str = ""
    trusted: bool = True
    note: str = ""
    basis: Basis = "model"

    @property
    def width(self) -> float:
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def map(self, function: Callable[[float], float]) -> Interval:
        """The interval of a monotone function of the quantity."""
        low, high = sorted((function(self.low), function(self.high)))
        return replace(self, low=low, high=high)

    def to_dict(self) -> dict[str, float | str | bool]:
        """Plain values, for JSON."""
        return asdict(self)


def protected_of(*intervals: Interval | None) -> Interval | None:
    """The one of them that is made to hold also where items that look safe fail; None if none is."""
    return next((one for one in intervals if one is not None and one.basis == "protected"), None)
