"""What a campaign may ask, one question a file: accuracy, comparison of models, re-use of earlier labels."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from fieldcheck import sources
from fieldcheck.campaign.log import EventLog
from fieldcheck.campaign.places import find, find_pool
from fieldcheck.campaign.questions.accuracy import AccuracyQuestion
from fieldcheck.campaign.questions.base import LabelEvidence, PastLabels, Question
from fieldcheck.campaign.questions.comparison import ComparisonQuestion
from fieldcheck.campaign.questions.evidence import evidence_of
from fieldcheck.campaign.questions.reuse import ReuseQuestion
from fieldcheck.campaign.settings import Other, Settings
from fieldcheck.campaign.state import fold
from fieldcheck.campaign.stores import open_store
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.pool.engine import Engine
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


def question_of(
    settings: Settings, pool: Pool, file: Path | None
) -> AccuracyQuestion | ComparisonQuestion | ReuseQuestion:
    """The question of a campaign that was started.

    file
        That the campaign is kept in: other pools, and an earlier campaign, may lie beside it.
    """
    if settings.question == ComparisonQuestion.name:
        rivals = [
            sources.load(_found(other, file), **{**settings.pool_options, "columns": other.columns}, engine=pool.engine)
            for other in settings.others
            if not other.campaign
        ]
        past = [_past(other, pool, file) for other in settings.others if other.campaign]
        return ComparisonQuestion.of(settings, (pool, *rivals), *past)
    if settings.question == ReuseQuestion.name:
        (other,) = settings.others
        return ReuseQuestion.of(_past(other, pool, file), pool, settings, other)
    return AccuracyQuestion(pool, settings)


def _past(other: Other, pool: Pool, file: Path | None) -> PastLabels:
    return earlier(_found(other, file), number=other.number, engine=pool.engine).labels


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier campaign: what it knows, and the number of its last event that counts.

    exported
        Ids of the items that it gave away to train with.
    """

    labels: PastLabels
    number: int
    exported: tuple[str, ...]


def earlier(place: str | Path, *, number: int | None = None, engine: Engine | None = None) -> Earlier:
    """What an earlier campaign knows.

    number
        As it was then: labels that came later do not count.
    engine
        Where the steps of its pool run, where that is in shards.
    """
    with contextlib.closing(EventLog(open_store(place))) as log:
        state = log.state if number in (None, log.state.number) else fold(log.events()[:number])
        pool = find_pool(state, None, log.file, engine=engine)
        question = question_of(state.settings, pool, log.file)
        if isinstance(question, ComparisonQuestion):
            raise CampaignError(
                f"{place} asks another question: {state.settings.question}",
                rule="labels are re-used where the chances of all items are known: about the accuracy of one model",
                hint="the campaign that was started with one pool",
            )
        return Earlier(question.past_labels(evidence_of(state)), state.number, state.exported)


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
