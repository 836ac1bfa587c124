"""A labelling sheet: the items that people are to label, and what the estimator will need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.assessment.estimate import estimate
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design, choose, frame_for
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design, auxiliary_of, spec
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.measures import label_losses, measure_of
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray, Loss, Task
from fieldcheck.core.words import counted

FORMAT = 1
"""Of the record; a newer one is refused."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sample on its way through people's hands.

    ids, predictions
        One per distinct item, in the order to label them; predictions are None where only right or wrong can be asked.
    pool_file, pool_options, pool_digest
        The pool it was drawn from: needed to draw more, and by techniques that predict the rest of it.
    seen
        By id, the losses that the design had seen when it drew the last items.
    """

    sample: Sample
    design: Design
    budget: int
    seed: int
    task: Task
    loss: Loss
    threshold: float
    ids: tuple[str, ...]
    predictions: tuple[str | float, ...] | None
    classes: tuple[str, ...]
    pool_file: str
    pool_digest: str
    pool_options: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def draw(
        cls,
        pool: Pool,
        design: Design,
        *,
        budget: int,
        seed: int,
        loss: Loss = "squared",
        threshold: float | None = None,
        losses: FloatArray | None = None,
        activations: npt.NDArray[Any] | None = None,
        pool_file: str = "",
        pool_options: Mapping[str, Any] | None = None,
    ) -> Sheet:
        """Choose items of a pool.

        losses
            Those known so far, for designs that learn on the way.
        pool_file, pool_options
            Where the pool can be read again, and how (arguments of ``sources.load``).
        """
        sample = choose(pool, design, budget=budget, seed=seed, losses=losses, activations=activations)
        items = sample.to_label().tolist()
        return cls(
            sample=sample,
            design=design,
            budget=budget,
            seed=seed,
            task=pool.task,
            loss=loss,
            threshold=pool.threshold(threshold),
            ids=tuple(pool.id_of(item) for item in items),
            predictions=None if pool.predictions is None else pool.predictions_at(items),
            classes=pool.classes,
            pool_file=pool_file,
            pool_digest=derived.digest(pool, auxiliary_names(design, pool)),
            pool_options=dict(pool_options or {}),
            seen={} if losses is None else _seen(pool, items, losses),
        )

    def as_record(self) -> dict[str, Any]:
        """Plain values, for a JSON file."""
        return {
            "format": FORMAT,
            "design": spec(self.design),
            "auxiliary": auxiliary_of(self.design),
            "budget": self.budget,
            "seed": self.seed,
            "task": self.task,
            "loss": self.loss,
            "threshold": self.threshold,
            "ids": list(self.ids),
            "predictions": None if self.predictions is None else list(self.predictions),
            "classes": list(self.classes),
            "pool": {"file": self.pool_file, "digest": self.pool_digest, "options": dict(self.pool_options)},
            "seen": {name: None if np.isinf(loss) else loss for name, loss in self.seen.items()},
            "sample": self.sample.as_record(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Sheet:
        """The inverse of ``as_record``."""
        predictions = record["predictions"]
        auxiliary = record["auxiliary"]
        _check_record(record)
        return cls(
            sample=Sample.from_record(record["sample"]),
            design=build_design(record["design"], None if auxiliary == "none" else auxiliary),
            budget=int(record["budget"]),
            seed=int(record["seed"]),
            task=record["task"],
            loss=record["loss"],
            threshold=float(record["threshold"]),
            ids=tuple(record["ids"]),
            predictions=None if predictions is None else tuple(predictions),
            classes=tuple(record["classes"]),
            pool_file=record["pool"]["file"],
            pool_digest=record["pool"]["digest"],
            pool_options=dict(record["pool"]["options"]),
            seen={name: np.inf if loss is None else float(loss) for name, loss in record["seen"].items()},
        )

    def continued(
        self, pool: Pool, answers: Mapping[str, Label], *, activations: npt.NDArray[Any] | None = None
    ) -> Sheet:
        """The sheet after the design has seen these labels: for designs that learn on the way, with further items."""
        self._check_pool(pool)
        after = Sheet.draw(
            pool,
            self.design,
            budget=self.budget,
            seed=self.seed,
            loss=self.loss,
            threshold=self.threshold,
            losses=self.history(answers),
            activations=activations,
            pool_file=self.pool_file,
            pool_options=self.pool_options,
        )
        return after.declaring(self.classes)

    def declaring(self, new_classes: Sequence[str]) -> Sheet:
        """The sheet whose labels may name these classes, too."""
        return replace(self, classes=tuple(dict.fromkeys((*self.classes, *new_classes))))

    def history(self, answers: Mapping[str, Label]) -> FloatArray:
        """What the design may see: losses, one per item of the pool; nan: not known; infinite: not to be known."""
        # A label that was corrected since must not change what was drawn: the design sees what it saw then.
        seen = np.array([self.seen.get(name, np.nan) for name in self.ids])
        losses = np.full(self.sample.population, np.nan)
        losses[self.sample.to_label()] = np.where(np.isnan(seen), self.losses(answers), seen)
        return losses

    @property
    def needs_pool(self) -> bool:
        """Whether the estimate predicts the rest of the pool, and so has to see it again."""
        return self.sample.draws.needs_frame

    def _check_pool(self, pool: Pool) -> None:
        if derived.digest(pool, auxiliary_names(self.design, pool)) != self.pool_digest:
            raise SampleError(
                f"pool '{pool.name}' is not the one that this sheet was drawn from",
                rule="a sample belongs to the pool it was drawn from: same items, predictions and auxiliary variables",
                hint=f"the original pool, {self.pool_file or 'as it was'}",
            )

    def labelled(
        self, answers: Mapping[str, Label], pool: Pool | Frame | None = None
    ) -> tuple[Labelled, tuple[str, ...]]:
        """The sample with the labels that are there, by id, and what to tell the user about the others.

        pool
            The pool that the sample was drawn from: needed by techniques that predict the rest of it. Or its frame,
            for whoever has checked the pool before and asks often.
        """
        at_draw, draws, warnings = self._labels(answers)
        lost = np.isinf(at_draw)
        if lost.any() and self.sample.draws.needs_all:
            raise LabelError(
                without_answer(self._lost(at_draw, draws), answers),
                rule=f"{self.design.name} weighs its labels step by step, and is estimated from all of them or none",
                hint="find out their labels; or take a technique that can do without them: waves, ssrs, srs",
            )
        if (known := int((~lost).sum())) < 2:
            raise LabelError(
                f"{known} of the {counted(len(lost), 'item')} so far could be labelled",
                rule="a first estimate needs two labels",
                hint="find out some of their labels" + ("" if self.sample.complete else "; or go on with --continue"),
            )
        sample = replace(self.sample.prefix(draws), frame=self._frame(pool)).without(lost)
        return self._as_labelled(sample, at_draw[~lost]), warnings

    def estimate(
        self, answers: Mapping[str, Label], pool: Pool | Frame | None = None, *, level: float = 0.95
    ) -> Estimate:
        """The estimate from the labels that are there, by id; ``pool`` as for ``labelled``."""
        labelled, warnings = self.labelled(answers, pool)
        return estimate(
            labelled,
            self.design,
            budget=self.budget,
            seed=self.seed,
            level=level,
            loss=self.loss,
            warnings=(*warnings, *self._if_lost(answers, pool)),
        )

    def _labels(self, answers: Mapping[str, Label]) -> tuple[FloatArray, int, tuple[str, ...]]:
        """The loss at each usable draw (infinite: not to be known), their number, and remarks."""
        losses = self.losses(answers)
        place = {item: at for at, item in enumerate(self.sample.to_label().tolist())}
        at_draw = losses[[place[item] for item in self.sample.items.tolist()]]
        draws, warnings = self._usable(at_draw, len(answers))
        return at_draw[:draws], draws, warnings

    def _as_labelled(self, sample: Sample, losses: FloatArray) -> Labelled:
        return Labelled(sample, losses, self.measure.failed(losses), self.task)

    def _frame(self, pool: Pool | Frame | None) -> Frame | None:
        if pool is None or isinstance(pool, Frame):
            return pool
        self._check_pool(pool)
        return frame_for(pool, self.design, None) if self.design.needs == "auxiliary" else None

    def if_lost(
        self, answers: Mapping[str, Label], pool: Pool | Frame | None = None, *, loss: float, level: float = 0.95
    ) -> Estimate:
        """The estimate if every item that nobody could label had this loss: 0 where the model is right on them."""
        at_draw, draws, _ = self._labels(answers)
        sample = replace(self.sample.prefix(draws), frame=self._frame(pool))
        labelled = self._as_labelled(sample, np.where(np.isinf(at_draw), loss, at_draw))
        return estimate(labelled, self.design, budget=self.budget, seed=self.seed, level=level, loss=self.loss)

    def _if_lost(self, answers: Mapping[str, Label], pool: Pool | Frame | None) -> tuple[str, ...]:
        """What the items that nobody could label may do to the estimate."""
        at_draw, draws, _ = self._labels(answers)
        if not (lost := self._lost(at_draw, draws)):
            return ()
        them, all_of_them = ("it", "it") if len(lost) == 1 else ("them", "all of them")
        text = f"{without_answer(lost, answers)}: the estimate takes {them} to be like the labelled ones"
        if self.task == "regression":
            return (text,)
        found = [self.if_lost(answers, pool, loss=loss) for loss in (0.0, 1.0)]
        right, wrong = (one.scale.shown(one.value) for one in found)
        return (f"{text}; {right} if the model is right on {all_of_them}, {wrong} if wrong",)

    def _lost(self, at_draw: FloatArray, draws: int) -> list[str]:
        """Ids of the items of the first draws that have no label to be had."""
        items = np.unique(self.sample.items[:draws][np.isinf(at_draw)])
        place = {item: at for at, item in enumerate(self.sample.to_label().tolist())}
        return [self.ids[place[item]] for item in items.tolist()]

    @property
    def measure(self) -> Measure:
        """What right, loss and failure are here."""
        return measure_of(self.task, self.loss, self.threshold)

    def losses(self, answers: Mapping[str, Label]) -> FloatArray:
        """One per item, in the order to label them: nan where there is no label, infinite where it is lost."""
        said = self.predictions or (None,) * len(self.ids)
        return label_losses(self.measure, said, [answers.get(name) for name in self.ids])

    def _usable(self, at_draw: FloatArray, answers: int) -> tuple[int, tuple[str, ...]]:
        """How many of the first draws to estimate from, and what to say about the others."""
        missing = np.flatnonzero(np.isnan(at_draw))
        draws = len(at_draw) if not len(missing) else int(missing[0])
        gap = "" if not len(missing) else self.ids[self._place(int(missing[0]))]
        if len(missing) and not (self.sample.draws.prefix_valid and draws >= 2):
            raise LabelError(
                f"{without_label(len(self.ids) - answers, len(self.ids))}, first '{gap}'",
                rule="this technique is estimated from all its labels"
                if not self.sample.draws.prefix_valid
                else "a first estimate needs the first two labels of the list",
                hint="label them, in the order of the list",
            )
        if not len(missing):
            return draws, self._unfinished()
        used = len(np.unique(self.sample.items[:draws]))
        open_items = f"{len(self.ids) - answers:,} of {counted(len(self.ids), 'item')} not labelled yet"
        text = f"estimated from the first {counted(used, 'label')}; {open_items}"
        if answers > used:
            text += (
                f"; {counted(answers - used, 'label')} after the first gap, item '{gap}', not used: "
                "which items are left out must not depend on what they are"
            )
        return draws, (text,)

    def _unfinished(self) -> tuple[str, ...]:
        if self.sample.complete:
            return ()
        left = counted(self.budget - len(self.sample), "label of the budget is", "labels of the budget are")
        return (
            f"{left} not asked for yet: this technique chooses the next items when it has seen these labels "
            "(fieldcheck sample --continue)",
        )

    def _place(self, draw: int) -> int:
        return int(np.flatnonzero(self.sample.to_label() == self.sample.items[draw])[0])


def _check_record(record: Mapping[str, Any]) -> None:
    """Refuse a record whose parts do not fit each other."""
    sample, ids, predictions = record["sample"], record["ids"], record["predictions"]
    items = sample["items"]
    wrong = [
        name
        for name, fits in {
            "design": isinstance(record["design"], str) and isinstance(record["auxiliary"], str),
            "task": record["task"] in get_args(Task),
            "loss": record["loss"] in get_args(Loss),
            "ids": isinstance(ids, list) and all(isinstance(name, str) for name in ids),
            "items": len(set(items)) == len(ids) and all(0 <= item < sample["population"] for item in items),
            "predictions": predictions is None or len(predictions) == len(ids),
        }.items()
        if not fits
    ]
    if wrong:
        raise ValueError(f"'{wrong[0]}' does not fit the rest")


def _seen(pool: Pool, items: Sequence[int], losses: FloatArray) -> dict[str, float]:
    return {pool.id_of(item): float(losses[item]) for item in items if not np.isnan(losses[item])}


def without_answer(lost: Sequence[str], answers: Mapping[str, Label]) -> str:
    """How many items have no label to be had, and on how many of them people disagree, for messages."""
    disputed = sum(answers[name] == Missing(disputed=True) for name in lost)
    skipped = len(lost) - disputed
    words = [
        f"{counted(skipped, 'item')} could not be labelled" if skipped else "",
        f"people disagree on {counted(disputed, 'item')}" if disputed else "",
    ]
    return ", and ".join(filter(None, words))


def without_label(count: int, all_of_them: int) -> str:
    """How many of the items still want a label, for messages."""
    return f"{count:,} of {counted(all_of_them, 'item')} {'has' if count == 1 else 'have'} no label"
