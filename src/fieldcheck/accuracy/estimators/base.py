"""What every estimator is: from a labelled sample to the mean loss of the pool, with its variance and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from fieldcheck.core.draws import Draws
from fieldcheck.core.interval import Interval
from fieldcheck.core.sample import ItemFit, Labelled


@dataclass(frozen=True)
class MeanLoss:
    """Estimated mean loss of the pool.

    value
        Classification: failure rate. Regression: mean squared (or absolute) error. Not clipped, so that it stays
        unbiased.
    variance
        Estimated variance of ``value`` over repetitions of the campaign.
    guarded
        A wider interval that also holds where items that look safe fail, if the estimator knows one.
    guarded_variance
        What that interval is made of; nan if there is none.
    audit
        A second estimate of the same, exactly unbiased if the number of labels was fixed beforehand and none was
        skipped; nan if there is none.
    items
        What the labels say about every item, if the estimator knows it.
    """

    value: float
    variance: float
    interval: Interval
    guarded: Interval | None = None
    guarded_variance: float = math.nan
    audit: float = math.nan
    items: ItemFit | None = field(default=None, compare=False, repr=False)


@runtime_checkable
class Estimator(Protocol):
    """A way to weigh the labels of a sample.

    accepts
        How a sample must have been drawn.
    """

    name: ClassVar[str]
    accepts: ClassVar[tuple[type[Draws], ...]]

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss: ...
