"""What a campaign says: its sample and labels, the estimate and how it developed, failures, progress."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from fieldcheck.accuracy.assessment.development import Development, Point
from fieldcheck.accuracy.assessment.requirement import decide, too_early
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
    AccuracyQuestion,
    ComparisonQuestion,
    LabelEvidence,
    Question,
    ReuseQuestion,
    question_of,
)
from fieldcheck.campaign.questions.evidence import as_it_was_seen, evidence_of
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.state import State
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core import measures, requirement, words
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
        """What is decided about a requirement: by the first budget that was spent and decides it.

        Each budget is looked at once, at an error of its own, so that all claims that a campaign ever makes are wrong
        in at most ``1 - level`` of campaigns; before a budget is spent its look is preliminary.
        """
        if self.settings.certify is not None:
            return self._certified(wanted, level=level)
        decisions = (self._decided_at(wanted, look, statement) for look, statement in self._looks(level))
        *_, last = until(decisions, lambda found: found.word != "undecided")
        return last

    def _certified(self, wanted: Requirement, *, level: float) -> Decision:
        """By the wealth, at any label; another threshold than that of the campaign by the bets' interval."""
        state = self._log.refresh()
        question, evidence = self.question_of(state.settings), self._evidence(state)
        try:
            found = only_estimate(self.estimate(level=level))
        except LabelError as error:
            return too_early(wanted, error.problem)
        if not isinstance(question, AccuracyQuestion) or (wanted.metric, wanted.bound) != (
            "accuracy",
            self.settings.certify,
        ):
            return decide(found, wanted)
        word, bets = question.proven(evidence, level=level), question.bets(evidence)
        more = None if bets is None or word != "undecided" else bets.to_go(error=1 - level)
        why = "no end in sight, if items fail as often as they seem to" if more is None and word == "undecided" else ""
        return Decision(wanted, word, found, found.interval, more=more or 0, why=why)

    def _decided_at(
        self, wanted: Requirement, look: requirement.BudgetLook, statement: Callable[[], Estimate | Comparison]
    ) -> Decision:
        try:
            return decide(only_estimate(shown(statement(), self._log.place)), wanted).at(look)
        except LabelError as error:
            return too_early(wanted, error.problem).at(look)

    def check_best(self, name: str | None, *, level: float = 0.95) -> tuple[Decided, str, requirement.BudgetLook]:
        """Whether a model of a comparison is better than all others, in words too; looked at as ``check`` does.

        name
            None: whether the first one is worse than no other by more than the margin of the campaign.
        """
        decisions = (self._best_at(name, look, statement) for look, statement in self._looks(level))
        *_, last = until(decisions, lambda found: found[0] != "undecided")
        return last

    def _best_at(
        self, name: str | None, look: requirement.BudgetLook, statement: Callable[[], Estimate | Comparison]
    ) -> tuple[Decided, str, requirement.BudgetLook]:
        try:
            found = only_comparison(shown(statement(), self._log.place), name)
        except LabelError as error:
            return "undecided", error.problem, look
        word: Decided = "passed" if found.best() == name else "failed" if found.beaten(name or "") else "undecided"
        if name is None:
            word = found.not_worse()
        return word if look.spent else "undecided", found.sentence(), look

    def _looks(self, level: float) -> Iterator[tuple[requirement.BudgetLook, Callable[[], Estimate | Comparison]]]:
        """For each budget that it had: the look that belongs to it, and what its labels say at that look's level."""
        state = self._log.refresh()
        evidence, settings = self._evidence(state), state.settings
        if settings.question == ComparisonQuestion.name and settings.budget is None:
            there = len(evidence.labels)  # every wave is looked at, and the rule allows for that
            yield requirement.BudgetLook(0, there, there, 1 - level), partial(self.estimate_of, state, level=level)
            return
        for number, budget in enumerate(settings.budgets):
            at = replace(settings, budget=budget, earlier=settings.earlier[:number])
            last = number == len(settings.earlier)
            first = evidence if last else evidence.first(budget)
            done = len(first.sample) >= budget or (last and (state.complete or self.enough(state)))
            labels = len(first.ids) if done else budget
            look = requirement.BudgetLook(
                *(number, labels, len(first.labels), requirement.look_error(number, level=level)),
                when=_when(settings) if (*settings.earlier, settings.budget)[number] is None else "",
            )
            yield look, partial(self.question_of(at).statement, first, level=1 - look.error)

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


def _when(settings: Settings) -> str:
    """What decides a campaign that has no budget."""
    if settings.half_width is not None:
        return "when the interval is as narrow as was asked for"
    return "with a budget, which `fieldcheck extend` sets"


def _point(found: Estimate | Comparison) -> Point | None:
    """An estimate as a point."""
    if isinstance(found, Comparison):
        return None
    return Point(found.labels, found.value, found.interval.low, found.interval.high, found.failures)


FIRST_NUMBER = 10
"""Labels under which no number is shown: it would be believed, and it would be wrong."""


def shown(found: Estimate | Comparison, place: str) -> Estimate | Comparison:
    """What may be shown: with fewer than ten labels, only how many are to come; unless they are all that there are.

    place
        Where the campaign is kept.
    """
    everything = found.contested if isinstance(found, Comparison) else found.population
    if found.labels >= min(FIRST_NUMBER, everything):
        return found
    short = isinstance(found, Estimate) and found.budget < FIRST_NUMBER
    raise LabelError(
        f"{words.counted(found.labels, 'label')} so far, {FIRST_NUMBER - found.labels} more for a first number",
        rule=f"a number is shown from {FIRST_NUMBER} labels on",
        hint=shlex.join(["fieldcheck", "extend", place, "--budget", str(FIRST_NUMBER)])
        if short
        else "label the items in the order of the list",
    )


def until(found: Iterable[T], enough: Callable[[T], bool]) -> Iterator[T]:
    """All up to the first that is enough, which is the last."""
    for one in found:
        yield one
        if enough(one):
            return


def only_estimate(found: Estimate | Comparison) -> Estimate:
    """Of one model; a comparison is refused."""
    if isinstance(found, Estimate):
        return found
    raise CampaignError(
        "a requirement of one model, for a comparison of several",
        rule="a comparison says which one is better",
        hint=f"--best {shlex.quote(found.differences[0].first)}",
    )


def only_comparison(found: Estimate | Comparison, name: str | None) -> Comparison:
    """Of several models, this one among them."""
    names = found.names() if isinstance(found, Comparison) else ()
    if isinstance(found, Comparison) and (name is None or name in names):
        return found
    raise CampaignError(
        f"--best {name}",
        rule=f"the models of this comparison: {', '.join(names) or 'there is only one'}",
        hint=f"--best {shlex.quote(names[0])}" if names else "a campaign that compares, started with --against",
    )
