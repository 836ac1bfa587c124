"""What every estimator is: from a labelled sample to the mean loss of the pool, with its variance and interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from fieldcheck.core.draws import Draws
from fieldcheck.core.interval import Interval, protected_of
from fieldcheck.core.sample import ItemFit, Labelled


@dataclass(frozen=True)
class MeanLoss:
    """Estimated mean loss of the pool.

    value
        Classification: failure rate. Regression: mean squared (or absolute) error. Not clipped, so that it stays
        unbiased.
    variance
        Estimated variance of ``value`` over repetitions of the campaign.
    interval
        The one that the design is made for.
    beside
        A second one with another promise, if the estimator knows one: the ``basis`` of each says which it is.
    audit
        A second estimate of the same, exactly unbiased if the number of labels was fixed beforehand and none was
        skipped; nan if there is none.
    make_items
        Makes ``items``.
    """

    value: float
    variance: float
    interval: Interval
    beside: Interval | None = None
    audit: float = math.nan
    make_items: Callable[[], ItemFit] | None = field(default=None, compare=False, repr=False)

    @property
    def items(self) -> ItemFit | None:
        """What the labels say about every item, if the estimator knows it; made when it is asked for."""
        return None if self.make_items is None else self.make_items()

    @property
    def protected(self) -> Interval | None:
        """The interval that is made to hold also where items that look safe fail, if the estimator knows one."""
        return protected_of(self.interval, self.beside)


@runtime_checkable
class Estimator(Protocol):
    """A way to weigh the labels of a sample.

    accepts
        How a sample must have been drawn.
    """

    name: ClassVar[str]
    accepts: ClassVar[tuple[type[Draws], ...]]

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss: ...
