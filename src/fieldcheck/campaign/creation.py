"""What is settled when a campaign is started, and found again when it is opened."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.accuracy.designs.base import Design, open_ended
from fieldcheck.campaign.drawing import drawn_event
from fieldcheck.campaign.settings import INTERNAL, Settings
from fieldcheck.campaign.stores.base import Event, Store
from fieldcheck.core.errors import BudgetError, CampaignError, DesignError, StaleError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Sample


def campaign_design(
    design: Design | str, auxiliary: str | None, *, objective: str | None, budget: int | None
) -> Design:
    """The technique of a campaign: with its objective, and open-ended where there is no budget."""
    chosen = build_design(design, auxiliary)
    if objective is not None:
        chosen = _with_objective(chosen, objective)
    return _without_budget(chosen) if budget is None else chosen


def _with_objective(design: Design, objective: str) -> Design:
    if not hasattr(design, "objective"):
        raise DesignError(
            f"an objective for {design.name}", rule="only waves has objectives", hint="--design waves, or no objective"
        )
    return replace(design, objective=objective)  # type: ignore[type-var]


def _without_budget(design: Design) -> Design:
    if not getattr(design, "endless", False):
        raise BudgetError(
            f"{design.name} without a budget",
            rule="only waves can go on until somebody stops",
            hint="--budget 200, or --design waves",
        )
    return open_ended(design, careful=False)


def all_classes(pool: Pool, more: Sequence[str]) -> tuple[str, ...]:
    """Those of the pool, then further ones."""
    if more and pool.task == "regression":
        raise CampaignError("classes for a regression", rule="its labels are numbers", hint="leave them out")
    return tuple(dict.fromkeys((*pool.classes, *(name.strip() for name in more))))


def begin(store: Store, settings: Settings, pool: Pool, sample: Sample, *, at: float) -> None:
    """The first events of a campaign; refused where there is one already."""
    created = Event("created", key=f"{INTERNAL}created:{uuid.uuid4().hex}", at=at, data=settings.as_record())
    try:
        store.append([created, replace(drawn_event(sample, pool), at=at)], seen=0)
    except StaleError:
        raise CampaignError(
            f"{store.place} holds a campaign already",
            rule="a campaign is started once; labels are not overwritten",
            hint="another name, or go on with this one",
        ) from None
