"""What a campaign says: its sample and labels, the estimate and how it developed, failures, progress."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from fieldcheck.accuracy.assessment.development import Development, Point
from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, frame_for
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.drawing import sample_of
from fieldcheck.campaign.labels import meaning
from fieldcheck.campaign.log import EventLog
from fieldcheck.campaign.places import find, find_pool
from fieldcheck.campaign.progress import Failure, Nonresponse, Progress, progress_of, reasons_of
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.state import ItemState, State
from fieldcheck.campaign.stores import file_of
from fieldcheck.campaign.stores.base import Store
from fieldcheck.core.errors import CampaignError, LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import SheetLabel
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled

T = TypeVar("T")


class Findings(EventLog):
    """What the events of a campaign, and its pool, say. Nothing here changes it."""

    settings: Settings
    pool: Pool

    def __init__(
        self, store: Store, pool: Pool | str | Path | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(store, clock=clock)
        self.settings = self._state.settings
        self.pool = find_pool(self._state, pool, file_of(store))
        self._design = self.settings.build()
        self._check_pool()
        self._frame = frame_for(self.pool, self._design, None) if self._design.needs == "auxiliary" else None
        self._development = Development()
        self._found: dict[str, tuple[Any, Any]] = {}

    def _check_pool(self) -> None:
        if derived.digest(self.pool, auxiliary_names(self._design, self.pool)) != self.settings.pool_digest:
            raise CampaignError(
                f"pool '{self.pool.name}' is not the one that this campaign was started on",
                rule="the same items, predictions and auxiliary variables",
                hint=f"the original pool, {self.settings.pool_file or 'as it was'}",
            )

    @property
    def design(self) -> Design:
        """The technique."""
        return self._design

    @property
    def pool_place(self) -> str:
        """The file that the pool was read from; where it was not one, the file that it was at the start, if any."""
        file = self.pool.origin.file
        return str(Path(file).resolve()) if file else self.settings.pool_file

    @property
    def items_folder(self) -> Path | None:
        """The folder of the items' files, where there is one and it can be found."""
        return find(Place(self.settings.items, self.settings.items_beside), file_of(self._store))

    def prediction_of(self, position: int) -> str | float | None:
        """What the model said about an item of the pool; None where only outcomes are known."""
        if self.pool.predictions is None:
            return None
        said = self.pool.predictions[position]
        return self.pool.classes[int(said)] if self.pool.task == "classification" else float(said)

    def sheet(self) -> Sheet:
        """The sample so far as a labelling sheet: what slices, metrics and stop rules work on."""
        return self._sheet(self.refresh())

    def _sheet(self, state: State) -> Sheet:
        return self._remembered("sheet", len(state.draws), lambda: self._make_sheet(state))

    def _make_sheet(self, state: State) -> Sheet:
        positions = [item.position for item in state.items.values()]
        known = self.pool.predictions is not None
        return Sheet(
            # Whether more is to come is said by the progress of the campaign, not by each of its estimates.
            sample=replace(sample_of(state.draws, len(self.pool)), complete=True),
            design=self._design,
            budget=self.settings.most,
            seed=self.settings.seed,
            task=self.settings.task,
            loss=self.settings.loss,
            threshold=self.settings.threshold,
            ids=tuple(state.items),
            predictions=tuple(self.prediction_of(at) for at in positions) if known else None,  # type: ignore[misc]
            classes=self.settings.classes,
            pool_file=self.pool_place,
            pool_digest=self.settings.pool_digest,
            pool_options=self.settings.pool_options,
            seen=state.seen,
        )

    def answers(self) -> dict[str, SheetLabel]:
        """By id, what is settled: the label that counts, or that there is none.

        While people disagree about an item, it has none: that must not keep the others from being counted.
        """
        return dict(self._answers(self.refresh()))

    def _answers(self, state: State) -> Mapping[str, SheetLabel]:
        return self._remembered("answers", state.changed, lambda: self._make_answers(state))

    def _make_answers(self, state: State) -> Mapping[str, SheetLabel]:
        classes = self.settings.classes
        return {
            item.id: SheetLabel(item.id, at, item.label, meaning(item.label, classes))
            if item.verdict == "labelled"
            else SheetLabel(item.id, at, "skip", "lost" if item.done else "disputed")
            for at, item in enumerate(state.items.values(), start=1)
            if item.done or item.verdict == "disputed"
        }

    def labelled(self) -> tuple[Labelled, tuple[str, ...]]:
        """The sample with its labels, as far as it can be estimated from, and what to say about the rest."""
        return self._labelled(self.refresh())

    def _labelled(self, state: State) -> tuple[Labelled, tuple[str, ...]]:
        return self._sheet(state).labelled(self._answers(state), self._frame)

    def estimate(self, *, level: float = 0.95) -> Estimate:
        """What the labels say about the whole pool; ``LabelError`` while there are too few."""
        state = self.refresh()
        return self._remembered(
            "estimate",
            (state.changed, level),
            lambda: self._sheet(state).estimate(self._answers(state), self._frame, level=level),
        )

    def development(self, *, level: float = 0.95, points: int = 60) -> list[Point]:
        """The estimate as it developed with the labels, in the order of the design, in about so many points."""
        state = self.refresh()
        try:
            labelled, _ = self._labelled(state)
        except LabelError:
            return []
        return self._development.points(labelled, loss=self.settings.loss, level=level, most=points)

    def progress(self) -> Progress:
        """How far it is."""
        state = self.refresh()
        return progress_of(state, failures=len(self._failures(state)), now=self._clock())

    def failures(self) -> list[Failure]:
        """Items on which the model is wrong, in the order of the design."""
        return list(self._failures(self.refresh()))

    def _failures(self, state: State) -> list[Failure]:
        return self._remembered("failures", state.changed, lambda: self._make_failures(state))

    def _make_failures(self, state: State) -> list[Failure]:
        labelled = (item for item in state.items.values() if item.verdict == "labelled")
        return [self._failure(item) for item in labelled if self._is_failure(item)]

    def _is_failure(self, item: ItemState) -> bool:
        said = self.prediction_of(item.position)
        if isinstance(said, float):
            return abs(float(item.label) - said) > self.settings.threshold
        return item.label == "wrong" if said is None else item.label != said

    def _failure(self, item: ItemState) -> Failure:
        mark = next((mark for mark in item.labels if mark.text == item.label), item.labels[0])
        return Failure(item.id, item.position, item.label, self.prediction_of(item.position), mark.by, mark.at)

    def nonresponse(self, *, level: float = 0.95) -> Nonresponse | None:
        """What the items that have no label to count may do to the estimate; None where there are none."""
        state = self.refresh()
        standing = Counter(item.verdict for item in state.items.values())
        if not (standing["skipped"] or standing["disputed"]):
            return None
        sheet, answers = self._sheet(state), self._answers(state)
        whole = sheet.sample.draws.needs_all
        wrong = None if self.settings.task == "regression" else 1.0
        return Nonresponse(
            count=standing["skipped"] + standing["disputed"],
            disputed=standing["disputed"],
            reasons=reasons_of(state.items.values()),
            estimate=None if whole else self.estimate(level=level),
            if_right=sheet.if_lost(answers, self._frame, loss=0.0, level=level),
            if_wrong=None if wrong is None else sheet.if_lost(answers, self._frame, loss=wrong, level=level),
        )

    def _remembered(self, name: str, key: Any, make: Callable[[], T]) -> T:
        """What was found for the same key last time, or found now."""
        last, value = self._found.get(name, (None, None))
        if last != key:
            value = make()
            self._found[name] = (key, value)
        return value  # type: ignore[no-any-return]
