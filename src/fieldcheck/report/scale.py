"""From values to places on the paper: ranges, scales and ticks that fall on round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fieldcheck.core import words

BEYOND = 1e100  # no axis shows larger numbers; they count as infinite


_FAR = 1e5  # pixels: far outside any picture, yet not too far for a renderer's arithmetic


@dataclass(frozen=True)
class AxisScale:
    """Values ``low`` to ``high`` laid out from ``start`` to ``end`` (pixels; ``start`` may be the larger).

    share
        Whether they are shares, written in percent.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    share: bool = False

    def at(self, value: float) -> float:
        """Where the value is, also outside of the range."""
        low, high = self._map(self.low), self._map(self.high)
        share = (self._map(value) - low) / (high - low)
        return min(max(self.start + share * (self.end - self.start), -_FAR), _FAR)

    def held(self, value: float) -> float:
        """Where the value is, or the end of the axis that it lies beyond."""
        return self.at(min(max(value, self.low), self.high))

    def side(self, value: float) -> int:
        """-1 below the range, 1 above it, 0 inside."""
        return (value > self.high) - (value < self.low)

    def _map(self, value: float) -> float:
        bounded = min(max(value, -BEYOND), BEYOND)
        return math.log10(max(bounded, 1 / BEYOND)) if self.log else bounded

    def ticks(self, wanted: int = 5) -> tuple[float, ...]:
        """Round values within the range, in increasing order."""
        make = log_ticks if self.log else linear_ticks
        return make(self.low, self.high, wanted=wanted)

    def labels(self, ticks: tuple[float, ...]) -> list[str]:
        """The ticks, as they are written."""
        if not self.share:
            return tick_labels(ticks)
        return [f"{text} %" for text in tick_labels(tuple(100 * tick for tick in ticks))]

    def written(self, value: float) -> str:
        """A value in a sentence, or beside its mark."""
        return words.percent(value) if self.share and math.isfinite(value) else words.short(value)


def usable(values: Iterable[float], *, log: bool = False) -> list[float]:
    """The values that an axis can show."""
    return [v for v in values if abs(v) < BEYOND and (v > 1 / BEYOND or not log)]


def shown_range(
    values: Iterable[float], *, log: bool = False, keep: tuple[float, ...] = (), squeeze: float = 4.0
) -> tuple[float, float]:
    """The range of an axis: all values, unless a few lie so far out that the others would be squeezed flat.

    Those few are for the chart to mark at its edge. They are told by Tukey's fences at four times the spread of
    the middle half, and only left out where they would make the range more than ``squeeze`` times as wide.
    ``keep`` is always shown.
    """
    inside = sorted(usable((*values, *keep), log=log))
    if not inside:
        return (1.0, 10.0) if log else (0.0, 1.0)
    near = inside if log else sorted((*_within_fences(inside), *keep))
    needed = max(near[-1] - near[0], 0.1 * max(abs(near[0]), abs(near[-1])))
    if inside[-1] - inside[0] <= squeeze * needed:
        near = inside
    return _not_flat(near[0], near[-1], log=log)


def _within_fences(ordered: list[float]) -> list[float]:
    first, middle, third = (ordered[round(share * (len(ordered) - 1))] for share in (0.25, 0.5, 0.75))
    reach = 4 * max(third - first, 0.05 * abs(middle))
    return [v for v in ordered if first - reach <= v <= third + reach]


def _not_flat(low: float, high: float, *, log: bool) -> tuple[float, float]:
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * max(size, 1e-9):
        return low, high
    if log:
        return low / 2, high * 2
    return (low - 0.1 * size, high + 0.1 * size) if size > 1 / BEYOND else (0.0, 1.0)


def padded(low: float, high: float, *, share: float = 0.04, log: bool = False) -> tuple[float, float]:
    """The range with a little air at both ends."""
    if log:
        factor = (high / low) ** share
        return low / factor, high * factor
    air = share * (high - low)
    return low - air, high + air


def linear_ticks(low: float, high: float, *, wanted: int = 5) -> tuple[float, ...]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    step = _round_step((high - low) / max(wanted, 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(index * step for index in range(first, last + 1))


def _round_step(raw: float) -> float:
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * nice for nice in (1, 2, 5, 10) if power * nice >= raw * (1 - 1e-9))


def log_ticks(low: float, high: float, *, wanted: int = 5) -> tuple[float, ...]:
    """Powers of ten, or 1-2-5 steps where there are few of them, or a linear choice where there are none."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = [10.0**power for power in range(first, last + 1) if low <= 10.0**power <= high]
    if len(decades) > 2:
        return tuple(decades[:: math.ceil(len(decades) / (wanted + 1))])
    finer = [10.0**power * step for power in range(first, last + 1) for step in (1, 2, 5)]
    finer = [tick for tick in finer if low <= tick <= high]
    if len(finer) > 2:
        return tuple(finer)
    return tuple(tick for tick in linear_ticks(low, high, wanted=wanted) if tick > 0)


def tick_labels(ticks: tuple[float, ...]) -> list[str]:
    """Each tick with the fewest digits that tell its value and keep neighbours apart."""
    sizes = [abs(tick) for tick in ticks if tick]
    if not sizes or (min(sizes) >= 1e-4 and max(sizes) < 1e6):
        labels = _plain(ticks)
        if len(set(labels)) == len(ticks):
            return labels
    digits = next((d for d in range(16) if _tell(ticks, d)), 16)
    return [words.scientific(tick, digits) if tick else "0" for tick in ticks]


def _plain(ticks: tuple[float, ...]) -> list[str]:
    """Equal decimals, except for ticks that span decades, where these would be mostly zeros."""
    decimals = [_decimals(tick) for tick in ticks]
    if not (ticks and ticks[0] > 0 and ticks[-1] / ticks[0] > 99):
        decimals = [max(decimals, default=0)] * len(ticks)
    return [words.minus(f"{tick:,.{places}f}") for tick, places in zip(ticks, decimals, strict=True)]


def _decimals(tick: float) -> int:
    return next((d for d in range(9) if math.isclose(round(tick, d), tick, rel_tol=1e-6, abs_tol=1e-12)), 9)


def _tell(ticks: tuple[float, ...], digits: int) -> bool:
    """Whether so many digits after the first tell all ticks, and tell them apart."""
    read = [float(f"{tick:.{digits}e}") for tick in ticks]
    close = all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(read, ticks, strict=True))
    return close and len(set(read)) == len(ticks)
