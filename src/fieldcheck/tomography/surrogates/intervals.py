"""What the outcomes of one test say by themselves, without any surrogate.

The inputs are drawn without replacement from data of known size, so a test that has seen all of them is known exactly.
"""

from __future__ import annotations

import math

from fieldcheck.numerics.intervals import wilson
from fieldcheck.numerics.intervals.sequence import sequence_bounds


def measured_interval(held: int, inputs: int, *, population: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for the robustness of a test, narrowed by the share of the data that it has seen.

    Wilson, JASA 1927; the correction for a finite pool as in Cochran, Sampling techniques, 1977, ch. 2. It holds for a
    number of inputs that was fixed before.
    """
    if inputs >= population:
        return held / inputs, held / inputs
    z = wilson.normal_quantile(level) * math.sqrt((population - inputs) / max(population - 1, 1))
    rate = held / inputs
    centre = (rate + z * z / (2 * inputs)) / (1 + z * z / inputs)
    half = z * math.sqrt(rate * (1 - rate) / inputs + z * z / (4 * inputs * inputs)) / (1 + z * z / inputs)
    return max(min(centre - half, rate), 0.0), min(max(centre + half, rate), 1.0)


def anytime_interval(held: int, inputs: int, *, population: int, level: float = 0.95) -> tuple[float, float]:
    """Bounds for the robustness of a test that hold at every number of inputs at once: one may look and stop at will.

    Waudby-Smith and Ramdas, Confidence sequences for sampling without replacement, NeurIPS 2020.
    """
    low, high = sequence_bounds(held, inputs, population=population, expected=0.5, level=level)
    return float(low), float(high)
