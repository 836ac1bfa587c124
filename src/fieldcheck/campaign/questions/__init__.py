"""What a campaign may ask, one question a file: accuracy, comparison of models, re-use of earlier labels."""

from __future__ import annotations

import contextlib
from pathlib import Path

from fieldcheck import sources
from fieldcheck.campaign.log import EventLog
from fieldcheck.campaign.places import find, find_pool
from fieldcheck.campaign.questions.accuracy import AccuracyQuestion
from fieldcheck.campaign.questions.base import LabelEvidence, Question
from fieldcheck.campaign.questions.comparison import ComparisonQuestion
from fieldcheck.campaign.questions.evidence import evidence_of
from fieldcheck.campaign.questions.reuse import ReuseQuestion
from fieldcheck.campaign.settings import Other, Settings
from fieldcheck.campaign.state import fold
from fieldcheck.campaign.stores import open_store
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.pool.pool import Pool

__all__ = [
    "AccuracyQuestion",
    "ComparisonQuestion",
    "LabelEvidence",
    "Question",
    "ReuseQuestion",
    "earlier",
    "question_of",
]


def question_of(settings: Settings, pool: Pool, file: Path | None) -> Question:
    """The question of a campaign that was started.

    file
        That the campaign is kept in: other pools, and an earlier campaign, may lie beside it.
    """
    if settings.question == ComparisonQuestion.name:
        rivals = [
            sources.load(_found(other, file), **{**settings.pool_options, "columns": other.columns})
            for other in settings.others
        ]
        return ComparisonQuestion.of(settings, (pool, *rivals))
    if settings.question == ReuseQuestion.name:
        (other,) = settings.others
        old, evidence, _ = earlier(_found(other, file), number=other.number)
        return ReuseQuestion.of(old, evidence, pool, budget=settings.budget, seed=settings.seed)
    return AccuracyQuestion.of(settings, pool)


def earlier(place: str | Path, *, number: int | None = None) -> tuple[AccuracyQuestion, LabelEvidence, int]:
    """The question and the evidence of an earlier campaign, and the number of its last event that counts.

    number
        As it was then: labels that came later do not count.
    """
    with contextlib.closing(EventLog(open_store(place))) as log:
        state = log.state if number in (None, log.state.number) else fold(log.events()[:number])
        if state.settings.question != AccuracyQuestion.name:
            raise CampaignError(
                f"{place} asks another question: {state.settings.question}",
                rule="labels are re-used where the chances of all items are known: about the accuracy of one model",
                hint="the campaign that was started with one pool",
            )
        pool = find_pool(state, None, log.file)
        return AccuracyQuestion.of(state.settings, pool), evidence_of(state), state.number


def _found(other: Other, file: Path | None) -> str | Path:
    if other.address:
        return other.address
    found = find(other.place, file)
    if found is None:
        raise CampaignError(
            f"{other.place.recorded} is not found",
            rule="a campaign needs the files that it was started with",
            hint="put it back, or beside the campaign",
        )
    return found
