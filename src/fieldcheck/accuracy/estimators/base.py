"""What every estimator is: from a labelled sample to the mean loss of the pool, and to what is said of every item."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from fieldcheck.core.draws import Draws, PoolChances
from fieldcheck.core.interval import Interval, protected_of
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray


@dataclass(frozen=True, eq=False)
class ItemValues:
    """What the labels say about some items: one value per item each.

    expected
        Predicted loss, after all labels.
    spread
        Variance of the loss around it, as the labels let expect.
    chance
        Probability that the item was drawn, and labelled.
    """

    expected: FloatArray
    spread: FloatArray
    chance: FloatArray


class ItemRule(Protocol):
    """From a part of a frame to what the labels say about its items; it is sent to where these are."""

    def of(self, part: Frame) -> ItemValues: ...


@dataclass(frozen=True, eq=False)
class ItemFit:
    """What the labels say about every item. Parts of the pool, other metrics and other models follow from it.

    frame, rule
        All items, and what is said about a part of them.
    drawn
        What is said about the labelled ones: one per draw.
    optimism
        How much farther off, in squares, the prediction is for items whose labels it has not seen; at least 1.
    """

    frame: Frame
    rule: ItemRule
    drawn: ItemValues
    optimism: float = 1.0


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


@runtime_checkable
class KnowsChances(Estimator, Protocol):
    """An estimator that knows the chance of every item of the pool, so that the labels serve another model as well."""

    def chances(self, labelled: Labelled) -> PoolChances:
        """Where the draws are ``reusable``."""
        ...
