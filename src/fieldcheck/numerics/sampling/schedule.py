"""How many labels each wave gets."""

from __future__ import annotations

from collections.abc import Sequence

FIRST_LEAST, FIRST_MOST, FIRST_SHARE = 20, 60, 0.2

GROWTH = 1.5

OPEN_GROWTH = 0.25

OPEN_FIRST = 40
"""Labels before the first look of a campaign that may stop after any wave."""


def schedule(budget: int) -> list[int]:
    """Sizes of the waves of a known budget: a first one large enough to learn from, then half as many again each time.

    A rest that would be under half a wave joins the wave before it: 50 is 20 + 30, 200 is 40 + 60 + 100.
    """
    size = float(min(max(FIRST_LEAST, FIRST_SHARE * budget), FIRST_MOST))
    sizes: list[int] = []
    left = budget
    while left > 0:
        count = min(int(size), left)
        size *= GROWTH
        if left - count < size / 2:
            count = left
        sizes.append(count)
        left -= count
    return sizes


def staged(budgets: Sequence[int], first: int | None = None) -> list[tuple[int, int]]:
    """Size of each wave, and the budget that was known when it was drawn, of a budget that was extended.

    first
        Size of the first wave, where waves do not depend on the budget.
    """
    found: list[tuple[int, int]] = []
    for budget in budgets:
        done = sum(size for size, _ in found)
        sizes = schedule(budget - done) if first is None else open_schedule(first, budget, done)
        found += [(size, budget) for size in sizes]
    return found


def open_schedule(first: int, budget: int, done: int = 0) -> list[int]:
    """Sizes of waves that may end after any of them: each adds a quarter of the labels so far (40, 10, 12, 16, ...).

    They do not depend on the budget, but for the last one.

    done
        Labels of the waves before these.
    """
    sizes: list[int] = []
    while (spent := done + sum(sizes)) < budget:
        sizes.append(min(next_open(spent) if spent else first, budget - spent))
    return sizes


def next_open(spent: int) -> int:
    """Size of such a wave after so many labels."""
    return max(1, round(OPEN_GROWTH * spent))
