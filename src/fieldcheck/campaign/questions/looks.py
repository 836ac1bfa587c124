"""What the labels of a campaign decide: each budget that it had is looked at once."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from fieldcheck.accuracy.assessment.requirement import decide, too_early
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.questions.accuracy import AccuracyQuestion
from fieldcheck.campaign.questions.base import LabelEvidence, Question
from fieldcheck.campaign.questions.comparison import ComparisonQuestion
from fieldcheck.campaign.questions.evidence import shown
from fieldcheck.campaign.settings import Settings
from fieldcheck.campaign.state import State
from fieldcheck.core import requirement
from fieldcheck.core.errors import CampaignError, LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.requirement import Decided, Decision, Requirement

T = TypeVar("T")


class Estimating(Protocol):
    """What the labels say about the whole pool; ``LabelError`` while there are too few."""

    def __call__(self, *, level: float) -> Estimate | Comparison: ...


@dataclass(frozen=True, eq=False)
class Looks:
    """How a campaign is looked at, and what is decided.

    evidence
        The sample so far, with its labels.
    question_of
        The question, with the budgets of some settings.
    estimate
        Of all labels.
    enough
        Whether they answer the question, so that no further items are drawn.
    place
        Where the campaign is kept.
    """

    state: State
    evidence: LabelEvidence
    question_of: Callable[[Settings], Question]
    estimate: Estimating
    enough: Callable[[], bool]
    place: str

    def check(self, wanted: Requirement, *, level: float = 0.95) -> Decision:
        """What is decided about a requirement: by the first budget that was spent and decides it.

        Each budget is looked at once, at an error of its own, so that all claims that a campaign ever makes are wrong
        in at most ``1 - level`` of campaigns; before a budget is spent its look is preliminary.
        """
        if self.state.settings.certify is not None:
            return self._certified(wanted, level=level)
        decisions = (self._decided_at(wanted, look, statement) for look, statement in self._looks(level))
        *_, last = until(decisions, lambda found: found.word != "undecided")
        return last

    def _certified(self, wanted: Requirement, *, level: float) -> Decision:
        """By the wealth, at any label; another threshold than that of the campaign by the bets' interval."""
        question, evidence = self.question_of(self.state.settings), self.evidence
        try:
            found = only_estimate(self.estimate(level=level))
        except LabelError as error:
            return too_early(wanted, error.problem)
        if not isinstance(question, AccuracyQuestion) or (wanted.metric, wanted.bound) != (
            "accuracy",
            self.state.settings.certify,
        ):
            return decide(found, wanted)
        word, bets = question.proven(evidence, level=level), question.bets(evidence)
        more = None if bets is None or word != "undecided" else bets.to_go(error=1 - level)
        why = "no end in sight, if items fail as often as they seem to" if more is None and word == "undecided" else ""
        return Decision(wanted, word, found, found.interval, more=more or 0, why=why)

    def _decided_at(self, wanted: Requirement, look: requirement.BudgetLook, statement: Estimating) -> Decision:
        def held(error: float) -> Decision:
            return decide(only_estimate(shown(statement(level=1 - error), self.place)), wanted)

        try:
            found = held(look.error)
            if found.word == "undecided" and look.spent and self.question_of(self.state.settings).extendable:
                # Further labels are an extension of the budget, and that is decided at the next error.
                found = replace(found, more=held(look.next_error).more)
        except LabelError as error:
            found = too_early(wanted, error.problem)
        return found.at(look)

    def check_best(self, name: str | None, *, level: float = 0.95) -> tuple[Decided, str, requirement.BudgetLook]:
        """Whether a model of a comparison is better than all others, in words too; looked at as ``check`` does.

        name
            None: whether the first one is worse than no other by more than the margin of the campaign.
        """
        decisions = (self._best_at(name, look, statement) for look, statement in self._looks(level))
        *_, last = until(decisions, lambda found: found[0] != "undecided")
        return last

    def _best_at(
        self, name: str | None, look: requirement.BudgetLook, statement: Estimating
    ) -> tuple[Decided, str, requirement.BudgetLook]:
        try:
            found = only_comparison(shown(statement(level=1 - look.error), self.place), name)
        except LabelError as error:
            return "undecided", error.problem, look
        word: Decided = "passed" if found.best() == name else "failed" if found.beaten(name or "") else "undecided"
        if name is None:
            word = found.not_worse()
        return word if look.spent else "undecided", found.sentence(), look

    def _looks(self, level: float) -> Iterator[tuple[requirement.BudgetLook, Estimating]]:
        """For each budget that it had: the look that belongs to it, and what its labels say."""
        evidence, settings = self.evidence, self.state.settings
        if settings.question == ComparisonQuestion.name and settings.budget is None:
            there = len(evidence.labels)  # every wave is looked at, and the rule allows for that
            yield requirement.BudgetLook(0, there, there, 1 - level, every=True), self.estimate
            return
        for number, budget in enumerate(settings.budgets):
            at = replace(settings, budget=budget, earlier=settings.earlier[:number])
            last = number == len(settings.earlier)
            first = evidence if last else evidence.first(budget)
            done = len(first.sample) >= budget or (last and (self.state.complete or self.enough()))
            labels = len(first.ids) if done else budget
            look = requirement.BudgetLook(
                *(number, labels, len(first.labels), requirement.look_error(number, level=level)),
                when=_when(settings) if (*settings.earlier, settings.budget)[number] is None else "",
            )
            yield look, partial(self.question_of(at).statement, first)


def _when(settings: Settings) -> str:
    """What decides a campaign that has no budget."""
    if settings.half_width is not None:
        return "when the interval is as narrow as was asked for"
    return "with a budget, which `fieldcheck extend` sets"


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
