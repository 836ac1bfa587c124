"""Wilson's interval for an estimate that is worth more, or fewer, labels than it took."""

from __future__ import annotations

import math
from functools import lru_cache

from fieldcheck.numerics import special

LEAST, MOST = 0.25, 50.0
"""An estimate counts as at least and at most this many times its labels."""


@lru_cache
def critical(labels: int, level: float, *, coefficients: int = 6) -> float:
    """Two-sided quantile of Student's t after this many coefficients were fitted."""
    return float(special.stdtrit(max(labels - coefficients, 3), 0.5 + level / 2))


def effective_wilson(rate: float, variance: float, labels: int, *, z: float) -> tuple[float, float]:
    """Bounds for a rate whose estimate has this variance: those of a simple random sample with the same variance."""
    rate = min(max(rate, 0.0), 1.0)
    wanted = rate * (1 - rate) / variance if variance > 0 else MOST * labels
    size = min(max(wanted, LEAST * labels), MOST * labels)
    centre = (rate + z * z / (2 * size)) / (1 + z * z / size)
    half = z * math.sqrt(rate * (1 - rate) / size + z * z / (4 * size * size)) / (1 + z * z / size)
    # Rounding must not push a bound past the rate itself: at 0 and at 1 they are the same number.
    return max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0)


def log_bounds(mean: float, variance: float, *, z: float) -> tuple[float, float]:
    """Bounds for a positive mean whose estimate has this variance, symmetric on the logarithmic scale."""
    if mean <= 0:
        return 0.0, z * math.sqrt(variance)
    factor = math.exp(min(z * math.sqrt(variance) / mean, 700.0))
    return mean / factor, mean * factor


@lru_cache
def normal_quantile(level: float) -> float:
    """Two-sided quantile of the normal distribution."""
    return float(special.ndtri(0.5 + level / 2))
