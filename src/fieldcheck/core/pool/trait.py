"""What is known of an auxiliary variable before any label, beside its values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trait:
    """Declared by each variable; what is not declared is what is believed of any column.

    surprise
        It has no natural zero: in classification it is scaled to [0, 1] before it is a size.
    slope
        Prior mean and standard deviation of the slope of its normal score, for failures.
    error_slope
        Prior mean of that slope for squared or absolute errors.
    echo
        It says part of what the confidence says, whose slope gives up a little for it.
    threshold
        Over which DeepEST takes an item for suspicious: a number, or a rule for the column.
    """

    surprise: bool = False
    slope: tuple[float, float] = (0.0, 0.57)
    error_slope: float = 0.0
    echo: bool = False
    threshold: float | str = "mean+2sd"
