"""How well a variable separates two kinds of items."""

from __future__ import annotations

import numpy as np

from fieldcheck.numerics.sampling.partition import kmeans
from fieldcheck.numerics.types import BoolArray, FloatArray, IntArray

_FEW_VALUES = 100


def auc(values: FloatArray, positive: BoolArray) -> float:
    """Chance that a positive item has the larger value, ties counting half; nan when one kind is missing."""
    hits, misses = int(positive.sum()), int((~positive).sum())
    if not hits or not misses:
        return float("nan")
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    midrank = ends - (counts - 1) / 2
    return float((midrank[inverse][positive].sum() - hits * (hits + 1) / 2) / (hits * misses))


def explained(values: FloatArray, positive: BoolArray, classes: IntArray | None) -> float:
    """Share of the outcome's variance that the variable explains with the predicted class, adjusted for chance.

    The variable enters by its values when they are few, else in twenty groups. Near 1 means that whoever knows it
    knows the outcome.
    """
    distinct, group = np.unique(values, return_inverse=True)
    if len(distinct) > _FEW_VALUES:
        for number, members in enumerate(kmeans(values, 20).members):
            group[members] = number
    cell = group if classes is None else group * (int(classes.max()) + 1) + classes
    _, cell, counts = np.unique(cell, return_inverse=True, return_counts=True)
    rate = np.bincount(cell, weights=positive) / counts
    free, overall = len(values) - len(counts), positive.mean()
    if free <= 0 or overall in (0.0, 1.0):
        return float("nan")
    within = float((counts * rate * (1 - rate)).sum()) / free
    return 1.0 - within / float(overall * (1 - overall) * len(values) / (len(values) - 1))
