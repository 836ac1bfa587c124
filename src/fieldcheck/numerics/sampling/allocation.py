"""How many labels each stratum gets."""

from __future__ import annotations

import numpy as np

from fieldcheck.numerics.types import FloatArray, IntArray


def allocate(budget: int, sizes: IntArray, wanted: FloatArray) -> IntArray:
    """Whole numbers in proportion to ``wanted`` that add up to the budget, one per stratum.

    At least two in every stratum where the budget allows (else one), so that each has a mean and a variance; never
    more than the stratum holds. There must not be more strata than labels, nor more labels than items.
    """
    least = np.minimum(sizes, 2 if budget >= int(np.minimum(sizes, 2).sum()) else 1)
    share = wanted if float(wanted.sum()) > 0.0 else sizes.astype(np.float64)
    return _round_down_then_largest_rest(budget, _within_bounds(budget, least, sizes, share), least, sizes)


def _within_bounds(budget: int, least: IntArray, most: IntArray, share: FloatArray) -> FloatArray:
    """The real-valued allocation: proportional, with those that leave their bounds fixed there, one side at a time."""
    fixed = np.zeros(len(share), dtype=bool)
    amount = np.zeros(len(share))
    for _ in range(2 * len(share) + 1):
        free = ~fixed
        rest = budget - amount[fixed].sum()
        weight = share[free].sum()
        amount[free] = rest * share[free] / weight if weight > 0 else rest * (most[free] / max(most[free].sum(), 1))
        low, high = free & (amount < least), free & (amount > most)
        # Fix the side that is violated more: fixing both at once may overshoot.
        deficit, excess = (least - amount)[low].sum(), (amount - most)[high].sum()
        out = low if deficit >= excess else high
        if not out.any():
            break
        amount[out] = np.where(amount[out] < least[out], least[out], most[out])
        fixed |= out
    return amount


def _round_down_then_largest_rest(budget: int, amount: FloatArray, least: IntArray, most: IntArray) -> IntArray:
    amount = np.round(
        amount, 9
    )  # so that a sum taken in another order cannot change which side of a whole number it is
    whole = np.clip(np.floor(amount).astype(np.int64), least, most)
    rest = amount - np.floor(amount)
    for index in np.argsort(-rest, kind="stable").tolist() * 2:
        missing = budget - int(whole.sum())
        if missing == 0:
            break
        step = 1 if missing > 0 else -1
        if least[index] <= whole[index] + step <= most[index]:
            whole[index] += step
    return whole
