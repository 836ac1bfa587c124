"""A labelling sheet: the items that people are to label, and what the estimator will need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.campaign.answers import Answer, classification_losses, regression_offsets
from fieldcheck.campaign.assess import estimate
from fieldcheck.campaign.choose import auxiliary_names, auxiliary_of, build_design, choose
from fieldcheck.campaign.field import failure_threshold
from fieldcheck.core.design import Design, spec
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray, Loss, Task

FORMAT = 1
"""Of the record; a newer one is refused."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sample on its way through people's hands.

    ids, predictions
        One per distinct item, in the order to label them; predictions are None where only right or wrong can be asked.
    pool_file, pool_digest
        The pool it was drawn from: needed only to draw more.
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
    ) -> Sheet:
        """Choose items of a pool; ``losses`` are those known so far, for designs that learn on the way."""
        sample = choose(pool, design, budget=budget, seed=seed, losses=losses, activations=activations)
        items = sample.to_label().tolist()
        return cls(
            sample=sample,
            design=design,
            budget=budget,
            seed=seed,
            task=pool.task,
            loss=loss,
            threshold=failure_threshold(pool, threshold) if pool.task == "regression" else 0.5,
            ids=tuple(pool.id_of(item) for item in items),
            predictions=None if pool.predictions is None else tuple(_prediction(pool, item) for item in items),
            classes=pool.classes,
            pool_file=pool_file,
            pool_digest=pool.digest(auxiliary_names(design)),
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
            "pool": {"file": self.pool_file, "digest": self.pool_digest},
            "sample": self.sample.as_record(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Sheet:
        """The inverse of ``as_record``."""
        predictions = record["predictions"]
        auxiliary = record["auxiliary"]
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
        )

    def continued(
        self, pool: Pool, answers: Mapping[str, Answer], *, activations: npt.NDArray[Any] | None = None
    ) -> Sheet:
        """The sheet after the design has seen these labels: for designs that learn on the way, with further items."""
        if pool.digest(auxiliary_names(self.design)) != self.pool_digest:
            raise SampleError(
                f"pool '{pool.name}' is not the one that this sheet was drawn from",
                rule="a sample goes on in the pool it began in: same items, predictions and auxiliary variable",
                hint=f"the original pool, {self.pool_file or 'as it was'}",
            )
        offsets, _ = self._offsets(answers)
        losses = np.full(len(pool), np.nan)
        losses[self.sample.to_label()] = self._as_losses(offsets)
        return Sheet.draw(
            pool,
            self.design,
            budget=self.budget,
            seed=self.seed,
            loss=self.loss,
            threshold=self.threshold,
            losses=losses,
            activations=activations,
            pool_file=self.pool_file,
        )

    def estimate(self, answers: Mapping[str, Answer], *, level: float = 0.95) -> Estimate:
        """The estimate from the labels that are there, by id."""
        offsets, warnings = self._offsets(answers)
        place = {item: at for at, item in enumerate(self.sample.to_label().tolist())}
        at_draw = offsets[[place[item] for item in self.sample.items.tolist()]]
        draws, more = self._usable(at_draw, len(answers))
        at_draw = at_draw[:draws]
        labelled = Labelled(self.sample.prefix(draws), self._as_losses(at_draw), at_draw > self.threshold, self.task)
        return estimate(
            labelled,
            self.design,
            budget=self.budget,
            seed=self.seed,
            level=level,
            loss=self.loss,
            warnings=(*warnings, *more),
        )

    def _offsets(self, answers: Mapping[str, Answer]) -> tuple[FloatArray, tuple[str, ...]]:
        """How far off the model is, one per item, nan where there is no label; classification: 1.0 where it fails."""
        at = [place for place, name in enumerate(self.ids) if name in answers]
        given = [answers[self.ids[place]] for place in at]
        predicted = None if self.predictions is None else [self.predictions[place] for place in at]
        offsets = np.full(len(self.ids), np.nan)
        warnings: tuple[str, ...] = ()
        if self.task == "classification":
            words = None if predicted is None else [str(value) for value in predicted]
            offsets[at], warnings = classification_losses(given, words, self.classes)
        else:
            offsets[at] = regression_offsets(given, [float(value) for value in predicted or ()])
        return offsets, warnings

    def _as_losses(self, offsets: FloatArray) -> FloatArray:
        return offsets**2 if self.task == "regression" and self.loss == "squared" else offsets

    def _usable(self, at_draw: FloatArray, answers: int) -> tuple[int, tuple[str, ...]]:
        """How many of the first draws to estimate from, and what to say about the others."""
        missing = np.flatnonzero(np.isnan(at_draw))
        draws = len(at_draw) if not len(missing) else int(missing[0])
        gap = "" if not len(missing) else self.ids[self._place(int(missing[0]))]
        if len(missing) and not (self.sample.prefix_valid and draws >= 2):
            raise LabelError(
                f"{len(self.ids) - answers:,} of {len(self.ids):,} items have no label, first '{gap}'",
                rule="this technique is estimated from all its labels"
                if not self.sample.prefix_valid
                else "a first estimate needs the first two labels of the list",
                hint="label them, in the order of the list",
            )
        if not len(missing):
            return draws, ()
        used = len(np.unique(self.sample.items[:draws]))
        open_items = f"{len(self.ids) - answers:,} of {len(self.ids):,} items are not labelled yet"
        text = f"estimated from the first {used:,} labels; {open_items}"
        if answers > used:
            text += (
                f"; {answers - used:,} labels after the first gap, item '{gap}', are not used: "
                "which items are left out must not depend on what they are"
            )
        return draws, (text,)

    def _place(self, draw: int) -> int:
        return int(np.flatnonzero(self.sample.to_label() == self.sample.items[draw])[0])


def _prediction(pool: Pool, item: int) -> str | float:
    if pool.task == "classification":
        return pool.classes[int(pool.predictions[item])]  # type: ignore[index]
    return float(pool.predictions[item])  # type: ignore[index]
