"""What a campaign says: its sample and labels, the estimate and how it developed, failures, progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from fieldcheck.accuracy.assessment.development import Development, Point
from fieldcheck.accuracy.comparison.changes import Change
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.designs import base as designs
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.drawing import drawn_event
from fieldcheck.campaign.item_state import ItemState, PerBlock
from fieldcheck.campaign.items import Content, content_of, copies
from fieldcheck.campaign.log import EventLog
from fieldcheck.campaign.places import find, find_pool
from fieldcheck.campaign.progress import (
    Annotator,
    Failure,
    Left,
    Nonresponse,
    Progress,
    Tally,
    annotators_of,
    left_of,
    progress_of,
    reasons_of,
)
from fieldcheck.campaign.questions import (
    LabelEvidence,
    Question,
    ReuseQuestion,
    question_of,
)
from fieldcheck.campaign.questions.evidence import FIRST_NUMBER, as_it_was_seen, evidence_of, shown
from fieldcheck.campaign.questions.looks import Looks
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.state import State
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core import measures, requirement
from fieldcheck.core.errors import CampaignError, LabelError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label
from fieldcheck.core.pool.engine import Engine
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.requirement import Decided, Decision, Requirement
from fieldcheck.core.sample import Labelled

T = TypeVar("T")


class CampaignView:
    """What the events of a campaign, and its pool, say. Nothing here changes it."""

    pool: Pool

    def __init__(
        self,
        log: EventLog,
        asked: Question | Pool | str | Path | None,
        *,
        clock: Callable[[], float],
        engine: Engine | None = None,
    ) -> None:
        """``asked`` is the question, or where its pool is now; ``engine`` is where the steps of shards run."""
        self._log, self._clock, self._engine = log, clock, engine
        self._found: dict[str, tuple[Any, Any]] = {}
        self._asked = self._opened(asked) if asked is None or isinstance(asked, Pool | str | Path) else asked
        self._opened_with = self.settings.budgets
        self.pool = self._asked.pool
        self._check_pool()
        self._tallies, self._failed = PerBlock(Tally.of), PerBlock(self._failures)

    def _opened(self, pool: Pool | str | Path | None) -> Question:
        found = find_pool(self._log.state, pool, self._log.file, engine=self._engine)
        return question_of(self.settings, found, self._log.file)

    def _check_pool(self) -> None:
        source = self.pool.origin.source
        if source and source == self.settings.pool_source and not self.settings.others:
            return
        if self.question.digest() != self.settings.pool_digest:
            raise CampaignError(
                f"pool '{self.pool.name}' is not the one that this campaign was started on",
                rule="the same items, predictions and auxiliary variables",
                hint=f"the original pool, {self.settings.pool_file or 'as it was'}",
            )

    @property
    def settings(self) -> Settings:
        """What it was started with, and its budget now."""
        return self._log.state.settings

    @property
    def question(self) -> Question:
        """What it asks."""
        return self.question_of(self.settings)

    def question_of(self, settings: Settings) -> Question:
        """The question with the budgets of these settings; refused where it cannot go on from the earlier ones."""
        if settings.budgets == self._opened_with:
            return self._asked
        return self._remembered("question", settings.budgets, lambda: self._asked.extended(settings))

    @property
    def design(self) -> Design:
        """The technique."""
        return self.question.design

    @property
    def pool_place(self) -> str:
        """The file that the pool was read from; where it was not one, the file that it was at the start, if any."""
        file = self.pool.origin.file
        return str(Path(file).resolve()) if file and Path(file).exists() else self.settings.pool_file

    @property
    def items_folder(self) -> Path | None:
        """The folder of the items' files, where there is one and it can be found."""
        return find(Place(self.settings.items, self.settings.items_beside), self._log.file)

    def content(self, position: int) -> Content:
        """What there is to see of an item of the pool, without what the design looks at."""
        return content_of(self.items_folder or "", self.pool, position, hidden=self._hidden)

    @cached_property
    def _hidden(self) -> frozenset[str]:
        """Columns, in small letters, that people must not see: what the design looks at, and copies of the model's."""
        used = designs.auxiliary_of(self.question.design).lower().split("+")
        return copies(self.question.pools).union(used)

    def labels(self) -> dict[str, Label]:
        """By id, what is settled: the label that counts, or that there is none."""
        return dict(self.evidence().labels)

    def evidence(self) -> LabelEvidence:
        """The sample so far, with its labels."""
        return self._evidence(self._log.refresh())

    def _evidence(self, state: State) -> LabelEvidence:
        return self._remembered("evidence", state.changed, lambda: evidence_of(state))

    def next_draw(self, state: State) -> Event:
        """What the question wants to be labelled next, once it has seen the labels of a state."""
        question = self.question_of(state.settings)
        if not state.draws:
            return drawn_event(question.draw(None), self.pool)
        seen = as_it_was_seen(state)
        return drawn_event(question.draw(seen), self.pool, before=seen.sample, state=state)

    def enough(self, state: State) -> bool:
        """Whether the labels answer the question, so that no further items are drawn."""
        return self._remembered(
            "enough", state.changed, lambda: self.question_of(state.settings).enough(self._evidence(state))
        )

    def labelled(self) -> tuple[Labelled, tuple[str, ...]]:
        """The sample with its labels, as far as it can be estimated from, and what to say about the rest."""
        return self.question.labelled(self.evidence())

    def estimate(self, *, level: float = 0.95, state: State | None = None) -> Estimate | Comparison:
        """What the labels, or those of a state, say about the whole pool; ``LabelError`` while there are too few."""
        state = self._log.refresh() if state is None else state
        found: Estimate | Comparison = self._remembered(
            "estimate", (state.changed, level), lambda: self.estimate_of(state, level=level)
        )
        return found

    def estimate_of(self, state: State, *, level: float = 0.95) -> Estimate | Comparison:
        """What the labels of a state say."""
        found = self.question_of(state.settings).statement(self._evidence(state), level=level)
        return shown(found, self._log.place)

    def check(self, wanted: Requirement, *, level: float = 0.95) -> Decision:
        """What is decided about a requirement: by the first budget that was spent and decides it."""
        return self._looks().check(wanted, level=level)

    def check_best(self, name: str | None, *, level: float = 0.95) -> tuple[Decided, str, requirement.BudgetLook]:
        """Whether a model of a comparison is better than all others, in words too; looked at as ``check`` does.

        name
            None: whether the first one is worse than no other by more than the margin of the campaign.
        """
        return self._looks().check_best(name, level=level)

    def _looks(self) -> Looks:
        state = self._log.refresh()
        return Looks(
            state,
            self._evidence(state),
            self.question_of,
            partial(self.estimate, state=state),
            lambda: self.enough(state),
            self._log.place,
        )

    def change(self, *, level: float = 0.95, by: Sequence[str] = ()) -> Change | None:
        """What the new version does better and worse than the one before; None where there is no one before.

        by
            Also for each part of the pool: by what the old version said (``prediction``), or any column of its pool.
        """
        question = self.question
        return question.change(self.evidence(), level=level, by=by) if isinstance(question, ReuseQuestion) else None

    @cached_property
    def _development(self) -> Development:
        return Development()

    def development(self, *, level: float = 0.95, points: int = 60, state: State | None = None) -> list[Point]:
        """The estimate as it developed with the labels, in the order of the design, in about so many points."""
        state = self._log.refresh() if state is None else state
        try:
            labelled, _ = self.question.labelled(self._evidence(state))
            newest = _point(self.estimate(level=level, state=state))
        except (LabelError, SampleError):
            return []
        if self.settings.certify is not None:
            return [] if newest is None else [newest]  # each would be as costly as the whole: all bets, inverted
        loss = self.settings.loss
        found = self._development.points(labelled, loss=loss, level=level, most=points, newest=newest)
        return [one for one in found if one.labels >= min(FIRST_NUMBER, self.settings.population)]

    def progress(self) -> Progress:
        """How far it is."""
        state = self._log.refresh()
        return progress_of(
            state,
            self._tallies.of(state.items),
            failures=sum(map(len, self._failed.of(state.items))),
            enough=lambda: self.enough(state),
            now=self._clock(),
        )

    def left(self) -> Left:
        """What is left to label."""
        state = self._log.state
        return left_of(state, enough=lambda: self.enough(state), now=self._clock())

    def failures(self) -> list[Failure]:
        """Items on which the model is wrong, in the order of the design."""
        return [one for block in self._failed.of(self._log.refresh().items) for one in block]

    def _failures(self, items: Sequence[ItemState]) -> list[Failure]:
        settings = self.settings
        measure = measures.measure_of(settings.task, settings.loss, settings.threshold)
        said = [self.pool.prediction_at(item.position) for item in items]
        failed = measure.failed(measures.label_losses(measure, said, [item.label for item in items]))
        return [self._failure(item) for item, fails in zip(items, failed, strict=True) if fails]

    def _failure(self, item: ItemState) -> Failure:
        said = (*item.labels, item.final) if item.final is not None else item.labels
        label = item.label or said[0].label
        first = next((one for one in said if one.label == label), said[0])
        return Failure(item.id, item.position, label, self.pool.prediction_at(item.position), first.by, first.at)

    def annotators(self) -> list[Annotator]:
        """What each person did: how much, how fast, how often as the others."""
        return annotators_of(self._log.refresh(), now=self._clock())

    def unsettled(self) -> list[str]:
        """Items that wait for the lead's word: people disagree about them, or flagged them."""
        items = self._log.refresh().items.values()
        return [item.id for item in items if item.standing == "disputed" or item.flags]

    def nonresponse(self, *, level: float = 0.95) -> Nonresponse | None:
        """What the items that have no label to count may do to the estimate; None where there are none."""
        state = self._log.refresh()
        standing = Counter(item.standing for item in state.items.values())
        if not (standing["skipped"] or standing["disputed"]):
            return None
        evidence, lost = self._evidence(state), self.question.if_lost
        right = lost(evidence, 0.0, level=level)
        if right is None:
            return None
        return Nonresponse(
            count=standing["skipped"] + standing["disputed"],
            disputed=standing["disputed"],
            reasons=reasons_of(state.items.values()),
            estimate=None if evidence.sample.draws.needs_all else self._answer(level),
            if_right=right,
            if_wrong=None if self.settings.task == "regression" else lost(evidence, 1.0, level=level),
        )

    def _answer(self, level: float) -> Estimate | None:
        found = self.estimate(level=level)
        return found if isinstance(found, Estimate) else None

    def _remembered(self, name: str, key: Any, make: Callable[[], T]) -> T:
        """What was found for the same key last time, or found now."""
        last, value = self._found.get(name, (None, None))
        if last != key:
            value = make()
            self._found[name] = (key, value)
        return value  # type: ignore[no-any-return]


def _point(found: Estimate | Comparison) -> Point | None:
    """An estimate as a point."""
    if isinstance(found, Comparison):
        return None
    return Point(found.labels, found.value, found.interval.low, found.interval.high, found.failures)
