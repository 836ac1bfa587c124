"""What a campaign says: its sample and labels, the estimate and how it developed, failures, progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from fieldcheck.accuracy.assessment.development import Development, Point
from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, frame_for
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design, auxiliary_of
from fieldcheck.campaign.drawing import drawn_event, sample_of
from fieldcheck.campaign.items import Content, content_of
from fieldcheck.campaign.log import EventLog
from fieldcheck.campaign.places import find, find_pool
from fieldcheck.campaign.progress import Failure, Nonresponse, Progress, progress_of, reasons_of
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.state import ItemState, State
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import CampaignError, LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.measures import label_losses
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled

T = TypeVar("T")


class CampaignView:
    """What the events of a campaign, and its pool, say. Nothing here changes it."""

    settings: Settings
    pool: Pool

    def __init__(self, log: EventLog, pool: Pool | str | Path | None, *, clock: Callable[[], float]) -> None:
        self._log, self._clock = log, clock
        self.settings = log.state.settings
        self.pool = find_pool(log.state, pool, log.file)
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
    def frame(self) -> Frame:
        """What the technique may look at."""
        return self._frame or frame_for(self.pool, self._design, None)

    @property
    def pool_place(self) -> str:
        """The file that the pool was read from; where it was not one, the file that it was at the start, if any."""
        file = self.pool.origin.file
        return str(Path(file).resolve()) if file else self.settings.pool_file

    @property
    def items_folder(self) -> Path | None:
        """The folder of the items' files, where there is one and it can be found."""
        return find(Place(self.settings.items, self.settings.items_beside), self._log.file)

    def content(self, position: int) -> Content:
        """What there is to see of an item of the pool, without what the design looks at."""
        used = auxiliary_of(self._design).lower().split("+")
        return content_of(self.items_folder or "", self.pool, position, hidden=used)

    def prediction_of(self, position: int) -> str | float | None:
        """What the model said about an item of the pool; None where only outcomes are known."""
        return self.pool.prediction_at(position)

    def sheet(self) -> Sheet:
        """The sample so far as a labelling sheet: what slices, metrics and stop rules work on."""
        return self.sheet_of(self._log.refresh())

    def sheet_of(self, state: State) -> Sheet:
        """The sheet of a state."""
        return self._remembered("sheet", len(state.draws), lambda: self._make_sheet(state))

    def _make_sheet(self, state: State) -> Sheet:
        positions = [item.position for item in state.items.values()]
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
            predictions=None if self.pool.predictions is None else self.pool.predictions_at(positions),
            classes=self.settings.classes,
            pool_file=self.pool_place,
            pool_digest=self.settings.pool_digest,
            pool_options=self.settings.pool_options,
            seen=state.seen,
        )

    def next_draw(self, state: State) -> Event:
        """What the design draws after a state; before anything was drawn, its first items."""
        most, seed = self.settings.most, self.settings.seed
        if not state.draws:
            return drawn_event(self.design.draw(self.frame, None, budget=most, seed=seed), self.pool)
        sheet = self.sheet_of(state)
        losses = sheet.history(self.answers_of(state))
        sample = self.design.draw(self.frame, losses, budget=most, seed=seed)
        return drawn_event(sample, self.pool, before=sheet.sample, state=state, losses=losses)

    def answers(self) -> dict[str, Label]:
        """By id, what is settled: the label that counts, or that there is none.

        While people disagree about an item, it has none: that must not keep the others from being counted.
        """
        return dict(self.answers_of(self._log.refresh()))

    def answers_of(self, state: State) -> Mapping[str, Label]:
        """The answers of a state."""
        return self._remembered("answers", state.changed, lambda: self._make_answers(state))

    def _make_answers(self, state: State) -> Mapping[str, Label]:
        return {
            item.id: item.label or Missing(disputed=not item.done)
            for item in state.items.values()
            if item.done or item.standing == "disputed"
        }

    def labelled(self) -> tuple[Labelled, tuple[str, ...]]:
        """The sample with its labels, as far as it can be estimated from, and what to say about the rest."""
        return self._labelled(self._log.refresh())

    def _labelled(self, state: State) -> tuple[Labelled, tuple[str, ...]]:
        return self.sheet_of(state).labelled(self.answers_of(state), self._frame)

    def estimate(self, *, level: float = 0.95) -> Estimate:
        """What the labels say about the whole pool; ``LabelError`` while there are too few."""
        state = self._log.refresh()
        return self._remembered("estimate", (state.changed, level), lambda: self.estimate_of(state, level=level))

    def estimate_of(self, state: State, *, level: float = 0.95) -> Estimate:
        """The estimate of a state."""
        return self.sheet_of(state).estimate(self.answers_of(state), self._frame, level=level)

    def development(self, *, level: float = 0.95, points: int = 60) -> list[Point]:
        """The estimate as it developed with the labels, in the order of the design, in about so many points."""
        state = self._log.refresh()
        try:
            labelled, _ = self._labelled(state)
        except LabelError:
            return []
        return self._development.points(labelled, loss=self.settings.loss, level=level, most=points)

    def progress(self) -> Progress:
        """How far it is."""
        state = self._log.refresh()
        return progress_of(state, failures=len(self._failures(state)), now=self._clock())

    def failures(self) -> list[Failure]:
        """Items on which the model is wrong, in the order of the design."""
        return list(self._failures(self._log.refresh()))

    def _failures(self, state: State) -> list[Failure]:
        return self._remembered("failures", state.changed, lambda: self._make_failures(state))

    def _make_failures(self, state: State) -> list[Failure]:
        sheet, items = self.sheet_of(state), list(state.items.values())
        said = sheet.predictions or (None,) * len(items)
        failed = sheet.measure.failed(label_losses(sheet.measure, said, [item.label for item in items]))
        return [self._failure(item) for item, fails in zip(items, failed, strict=True) if fails]

    def _failure(self, item: ItemState) -> Failure:
        label = item.label or item.labels[0].label
        first = next((one for one in item.labels if one.label == label), item.labels[0])
        return Failure(item.id, item.position, label, self.prediction_of(item.position), first.by, first.at)

    def nonresponse(self, *, level: float = 0.95) -> Nonresponse | None:
        """What the items that have no label to count may do to the estimate; None where there are none."""
        state = self._log.refresh()
        standing = Counter(item.standing for item in state.items.values())
        if not (standing["skipped"] or standing["disputed"]):
            return None
        sheet, answers = self.sheet_of(state), self.answers_of(state)
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
