"""A drawn sample and the labels that came in: which draws can be used, gaps, and items without a label to be had."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fieldcheck.accuracy.assessment.estimate import estimate
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core import measures, words
from fieldcheck.core.errors import LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.pool.frame import FEW, Frame
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray, IntArray, Loss, Task


@dataclass(frozen=True, eq=False)
class FewLosses:
    """Losses of a large pool, of which few are known: an array with one per item would be larger than all else.

    items
        Positions with a loss, in order.
    """

    items: IntArray
    known: FloatArray
    population: int

    def __len__(self) -> int:
        return self.population

    def __getitem__(self, items: IntArray) -> FloatArray:
        at = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        return np.where(self.items[at] == items, self.known[at], np.nan)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        found = np.full(self.population, np.nan)
        found[self.items] = self.known
        return found


@dataclass(frozen=True, eq=False)
class PartlyLabelled:
    """A sample of which some items are labelled.

    frame
        What the sample was drawn from; None for techniques that do not look at it again.
    ids, predictions
        One per distinct item, in the order to label them; predictions are None where only right or wrong can be told.
    labels
        By id, those that are there.
    in_work
        Ids of items that people have at hand: that the others wait for them goes without saying.
    """

    sample: Sample
    frame: Frame | None
    design: Design
    budget: int
    seed: int
    task: Task
    loss: Loss
    threshold: float
    ids: tuple[str, ...]
    predictions: Sequence[str | float] | None
    labels: Mapping[str, Label]
    in_work: Collection[str] = ()

    def labelled(self) -> tuple[Labelled, tuple[str, ...]]:
        """The sample with the labels that are there, and what to tell the user about the others."""
        at_draw, warnings = self._usable
        lost = np.isinf(at_draw)
        if lost.any() and self.sample.draws.needs_all:
            raise LabelError(
                self._without_answer(),
                rule=f"{self.design.name} weighs its labels step by step, and is estimated from all of them or none",
                hint="find out their labels; or take a technique that can do without them: waves, ssrs, srs",
            )
        if (known := int((~lost).sum())) < 2:
            raise LabelError(
                f"{known} of the {words.counted(len(lost), 'item')} so far could be labelled",
                rule="a first estimate needs two labels",
                hint="find out some of their labels, or label further items",
            )
        sample = replace(self.sample.prefix(len(at_draw)), frame=self.frame)
        if self.sample.draws.lost_stay:
            stay = replace(sample, draws=sample.draws.without(lost, sample.items))
            return self._as_labelled(stay, np.where(lost, 1.0, at_draw)), warnings
        sample = sample.without(lost)
        return self._as_labelled(sample, at_draw[~lost]), warnings

    def estimate(self, *, level: float = 0.95) -> Estimate:
        """The estimate from the labels that are there."""
        labelled, warnings = self.labelled()
        return self._estimate(labelled, level, (*warnings, *self._what_if()))

    def if_lost(self, loss: float, *, level: float = 0.95) -> Estimate:
        """The estimate if every item that has no label to be had had this loss: 0 where the model is right on them."""
        at_draw, _ = self._usable
        sample = replace(self.sample.prefix(len(at_draw)), frame=self.frame)
        return self._estimate(self._as_labelled(sample, np.where(np.isinf(at_draw), loss, at_draw)), level, ())

    def losses(self) -> FloatArray:
        """One per item of the pool; nan where there is no label, infinite where there is none to be had."""
        items = self.sample.to_label()
        if self.sample.population > FEW:
            order = np.argsort(items, kind="stable")
            return FewLosses(items[order], self._known[order], self.sample.population)  # type: ignore[return-value]
        losses = np.full(self.sample.population, np.nan)
        losses[items] = self._known
        return losses

    def _estimate(self, labelled: Labelled, level: float, warnings: tuple[str, ...]) -> Estimate:
        return estimate(
            labelled, self.design, budget=self.budget, seed=self.seed, level=level, loss=self.loss, warnings=warnings
        )

    def _as_labelled(self, sample: Sample, losses: FloatArray) -> Labelled:
        return Labelled(sample, losses, self._measure.failed(losses), self.task)

    @property
    def _measure(self) -> Measure:
        return measures.measure_of(self.task, self.loss, self.threshold)

    @cached_property
    def _known(self) -> FloatArray:
        """Losses, one per item, in the order to label them; nan: no label, infinite: none to be had."""
        said = self.predictions or (None,) * len(self.ids)
        return measures.label_losses(self._measure, said, [self.labels.get(name) for name in self.ids])

    @cached_property
    def _places(self) -> dict[int, int]:
        """By item of the pool, its place in the order to label them."""
        return {item: at for at, item in enumerate(self.sample.to_label().tolist())}

    @cached_property
    def _usable(self) -> tuple[FloatArray, tuple[str, ...]]:
        """The loss at each of the first draws, up to a gap, and what to say about the others."""
        at_draw = self._known[[self._places[item] for item in self.sample.items.tolist()]]
        missing = np.flatnonzero(np.isnan(at_draw))
        if not len(missing):
            return at_draw, ()
        draws, first = int(missing[0]), self.ids[self._places[int(self.sample.items[missing[0]])]]
        if not (self.sample.draws.prefix_valid and draws >= 2):
            self._refuse(first)
        return at_draw[:draws], self._about_the_gap(draws, first)

    def _refuse(self, first: str) -> None:
        rule = "a first estimate needs the first two labels of the list"
        raise LabelError(
            f"{without_label(len(self.ids) - len(self.labels), len(self.ids))}, first '{first}'",
            rule=rule if self.sample.draws.prefix_valid else "this technique is estimated from all its labels",
            hint="label them, in the order of the list",
        )

    def _about_the_gap(self, draws: int, first: str) -> tuple[str, ...]:
        """What labels wait for; that some are still to come is no news, and neither is what people have at hand."""
        waiting = len(self.labels) - len(np.unique(self.sample.items[:draws]))
        if waiting <= 0 or first in self.in_work:
            return ()
        more = words.counted(waiting, "label counts", "labels count")
        return (f"{more} only once item '{first}', which comes before, has one: what is left out must not be chosen",)

    def _what_if(self) -> tuple[str, ...]:
        """What the items that have no label to be had may do to the estimate."""
        lost = self._lost()
        if not lost:
            return ()
        them, all_of_them = ("it", "it") if len(lost) == 1 else ("them", "all of them")
        if self.sample.draws.lost_stay:
            return (f"{self._without_answer()}: {them} counted as failures, and against either claim",)
        text = f"{self._without_answer()}: the estimate takes {them} to be like the labelled ones"
        if self.task == "regression":
            return (text,)
        found = [self.if_lost(loss) for loss in (0.0, 1.0)]
        right, wrong = (one.scale.shown(one.value) for one in found)
        return (f"{text}; {right} if the model is right on {all_of_them}, {wrong} if wrong",)

    def _lost(self) -> list[str]:
        """Ids of the items of the usable draws that have no label to be had."""
        at_draw, _ = self._usable
        items = np.unique(self.sample.items[: len(at_draw)][np.isinf(at_draw)])
        return [self.ids[self._places[item]] for item in items.tolist()]

    def _without_answer(self) -> str:
        """How many items have no label to be had, and on how many of them people disagree, for messages."""
        lost = [self.labels[name] for name in self._lost()]
        disputed = sum(isinstance(label, Missing) and label.disputed for label in lost)
        skipped = len(lost) - disputed
        parts = [
            f"{words.counted(skipped, 'item')} could not be labelled" if skipped else "",
            f"people disagree on {words.counted(disputed, 'item')}" if disputed else "",
        ]
        return ", and ".join(filter(None, parts))


def without_label(count: int, all_of_them: int) -> str:
    """How many of the items still want a label, for messages."""
    return f"{count:,} of {words.counted(all_of_them, 'item')} {'has' if count == 1 else 'have'} no label"
