"""What labels say about every item of a pool in memory."""

from __future__ import annotations

from fieldcheck.accuracy.estimators.base import ItemFit, ItemValues


def of_all(fit: ItemFit | None) -> ItemValues:
    """All items at once."""
    assert fit is not None
    return fit.rule.of(fit.frame)
