"""What is settled when a campaign is started, and found again when it is opened."""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy.assessment import sampling, stopping
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.designs import base as designs
from fieldcheck.campaign.drawing import drawn_event
from fieldcheck.campaign.places import place_of
from fieldcheck.campaign.questions import AccuracyQuestion, ComparisonQuestion, Question, ReuseQuestion, earlier
from fieldcheck.campaign.settings import INTERNAL, Other, Settings
from fieldcheck.campaign.stores import is_address
from fieldcheck.campaign.stores.base import Event, Store
from fieldcheck.core import words
from fieldcheck.core.errors import BudgetError, CampaignError, DesignError, StaleError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Sample


def campaign_design(
    design: designs.Design | str,
    auxiliary: str | None,
    *,
    objective: str | None,
    budget: int | None,
    train: float = 0.0,
    careful: bool = False,
) -> designs.Design:
    """The technique of a campaign: with its objective, and open-ended where there is no budget.

    train
        Share of the labels to train with: where the technique can, it draws those first.
    careful
        It will stop by the protected interval.
    """
    chosen = sampling.build_design(design, auxiliary)
    if objective is not None:
        chosen = _with_objective(chosen, objective)
    if train and hasattr(chosen, "train"):
        chosen = replace(chosen, train=train)  # type: ignore[type-var]
    return _without_budget(chosen, careful=careful) if budget is None or careful else chosen


def _with_objective(design: designs.Design, objective: str) -> designs.Design:
    if not hasattr(design, "objective"):
        raise DesignError(
            f"an objective for {design.name}", rule="only waves has objectives", hint="--design waves, or no objective"
        )
    return replace(design, objective=objective)  # type: ignore[type-var]


def _without_budget(design: designs.Design, *, careful: bool) -> designs.Design:
    if not getattr(design, "endless", False):
        raise BudgetError(
            f"{design.name} {'until a half-width' if careful else 'without a budget'}",
            rule="only waves can go on until it is stopped",
            hint="--budget 200, or --design waves",
        )
    return designs.open_ended(design, careful=careful)


@dataclass(frozen=True, eq=False)
class Asked:
    """What a campaign is to ask; see ``Campaign.create``."""

    against: Sequence[Any]
    reuse: str | Path | None
    labels_unseen: bool
    design: designs.Design | str
    auxiliary: str | None
    objective: str | None
    activations: npt.NDArray[Any] | None
    reading: Mapping[str, Any]
    trained_on: Sequence[str] = ()


def asked_first(
    settings: Settings, pool: Pool, asked: Asked, new_classes: Sequence[str], *, file: Path | None
) -> tuple[Settings, Question]:
    """The question, and the settings as it wants them."""
    question, others = _question(settings, pool, asked, file)
    design, classes = question.design, all_classes(question.pools, new_classes)
    _check_described(settings.descriptions, classes)
    whole = replace(
        settings,
        design=designs.spec(design),
        auxiliary=designs.auxiliary_of(design),
        objective=str(getattr(design, "objective", "")),
        population=len(question.pool),
        classes=classes,
        pool_digest=question.digest(),
        pool_source=question.pool.origin.source,
        question=question.name,
        others=others,
    )
    return whole, question


def _question(settings: Settings, pool: Pool, asked: Asked, file: Path | None) -> tuple[Question, tuple[Other, ...]]:
    if settings.half_width is not None and (asked.against or asked.reuse or settings.certify is not None):
        raise CampaignError(
            "a half-width together with another question",
            rule="it belongs to a campaign that asks how accurate a model is",
            hint="fieldcheck start POOL --half-width 0.02",
        )
    if settings.half_width is not None:
        stopping.HalfWidth(settings.half_width).check_for(settings.task)
    if asked.against or not asked.reuse:
        _refuse_training(asked)
    if settings.certify is not None:
        _check_alone(replace(asked, auxiliary=None), "certifying draws one at a time, by bets")
        pool.check_budget(settings.most)
        return AccuracyQuestion(pool, replace(settings, auxiliary=asked.auxiliary or "auto")), ()
    if not (asked.against or asked.reuse):
        design = campaign_design(
            *(asked.design, asked.auxiliary),
            objective=asked.objective,
            budget=settings.budget,
            train=settings.train_share,
            careful=settings.half_width is not None,
        )
        pool.check_budget(settings.most)
        settled = replace(settings, design=designs.spec(design), auxiliary=designs.auxiliary_of(design))
        return AccuracyQuestion(pool, settled, asked.activations), ()
    _check_alone(asked)
    if asked.against:
        rivals = tuple(sources.load(one, **asked.reading, engine=pool.engine) for one in asked.against)
        others = tuple(Other(place_of(one.origin.file, file), columns=dict(one.origin.settings)) for one in rivals)
        if asked.reuse is None:
            return ComparisonQuestion.of(settings, (pool, *rivals)), others
        reuse.require_unseen(asked.labels_unseen)
        old = earlier(asked.reuse, engine=pool.engine)
        known = Other(**_where(asked.reuse, file), number=old.number)
        return ComparisonQuestion.of(settings, (pool, *rivals), old.labels), (*others, known)
    place = asked.reuse or ""
    old = earlier(place, engine=pool.engine)
    trained = bool(old.exported) and not asked.labels_unseen
    if not trained:
        _refuse_training(asked)
        reuse.require_unseen(asked.labels_unseen)
    ids = tuple(dict.fromkeys((*old.exported, *asked.trained_on))) if trained else ()
    other = Other(**_where(place, file), number=old.number, trained=trained, trained_on=ids)
    return ReuseQuestion.of(old.labels, pool, settings, other), (other,)


def _where(campaign: str | Path, file: Path | None) -> dict[str, Any]:
    return {"address": str(campaign)} if is_address(campaign) else {"place": place_of(campaign, file)}


def _refuse_training(asked: Asked) -> None:
    if asked.trained_on:
        raise CampaignError(
            "items that it was trained on, without labels that were set apart for that",
            rule="a version is judged by kept labels of the campaign whose other labels were exported for training",
            hint="--reuse with such a campaign, started with --train-share 0.5",
        )


def _check_alone(
    asked: Asked, rule: str = "a comparison, and re-use, draw in waves by the confidence of the models"
) -> None:
    """A comparison, and a top-up, have a way of their own to draw."""
    if asked.design != "waves" or asked.auxiliary is not None or asked.objective is not None:
        raise DesignError(
            "a design, auxiliary variable or objective for this question",
            rule=rule,
            hint="leave them out",
        )


def _check_described(descriptions: Collection[str], classes: Sequence[str]) -> None:
    strangers = [name for name in descriptions if name not in classes]
    if strangers:
        known = words.some(classes, 8)
        raise CampaignError(
            f"a description of '{strangers[0]}'",
            rule=f"described are classes that a label may name: {known or 'none'}",
            hint=f"--new-class {shlex.quote(strangers[0])} if the model does not know it",
        )


def kept(pool: Any, file: Path | None) -> Any:
    """What was given; of data that is neither a pool nor a file, the file beside the campaign that keeps it."""
    if isinstance(pool, Pool | str | Path) or file is None:
        return pool
    beside = file.with_suffix(".pool.parquet")
    sources.save(sources.load(pool, name=file.stem), beside)
    return beside


def margin(not_worse: float | None, against: Sequence[object]) -> float | None:
    """By how much the first model of a comparison may be worse."""
    if not_worse is None or (against and 0 <= not_worse < 1):
        return not_worse
    raise CampaignError(
        f"not worse by more than {not_worse:g}",
        rule="a margin of at least 0 and below 1, for a comparison",
        hint="--against OLD.csv --not-worse 0.01",
    )


def all_classes(pools: Sequence[Pool], more: Sequence[str]) -> tuple[str, ...]:
    """Those of the pools, then further ones."""
    if more and pools[0].task == "regression":
        raise CampaignError("classes for a regression", rule="its labels are numbers", hint="leave them out")
    own = (name for pool in pools for name in pool.classes)
    return tuple(dict.fromkeys((*own, *(name.strip() for name in more))))


def begin(store: Store, settings: Settings, pool: Pool, sample: Sample, *, at: float) -> None:
    """The first events of a campaign; refused where there is one already."""
    created = Event("created", key=f"{INTERNAL}created:{uuid.uuid4().hex}", at=at, data=settings.as_record())
    try:
        store.append([created, replace(drawn_event(sample, pool), at=at)], seen=0)
    except StaleError:
        raise CampaignError(
            f"{store.place} holds a campaign already",
            rule="a campaign is started once; labels are not overwritten",
            hint=f"another name, or go on with this one: fieldcheck status {shlex.quote(store.place)}",
        ) from None
