"""What is settled when a campaign is started, and found again when it is opened."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fieldcheck import designs, sources
from fieldcheck.campaign.choose import build_design
from fieldcheck.campaign.drawing import drawn_event
from fieldcheck.campaign.settings import INTERNAL, Place, Settings
from fieldcheck.campaign.state import State
from fieldcheck.campaign.stop import FIRST
from fieldcheck.core.design import Design
from fieldcheck.core.errors import BudgetError, CampaignError, DesignError, StaleError
from fieldcheck.core.event import Event, Store
from fieldcheck.core.pool import Pool
from fieldcheck.core.sample import Sample
from fieldcheck.stores import file_of


def campaign_design(
    design: Design | str, auxiliary: str | None, *, objective: str | None, budget: int | None
) -> Design:
    """The technique of a campaign: with its objective, and open-ended where there is no budget."""
    chosen = build_design(design, auxiliary)
    if not isinstance(chosen, designs.Waves):
        return _without_options(chosen, objective, budget)
    if objective is not None:
        chosen = replace(chosen, objective=objective)  # type: ignore[arg-type]
    return replace(chosen, first=chosen.first or FIRST) if budget is None else chosen


def _without_options(design: Design, objective: str | None, budget: int | None) -> Design:
    if objective is not None:
        raise DesignError(
            f"an objective for {design.name}", rule="only waves has objectives", hint="--design waves, or no objective"
        )
    if budget is None:
        raise BudgetError(
            f"{design.name} without a budget",
            rule="only waves can go on until somebody stops",
            hint="--budget 200, or --design waves",
        )
    return design


def all_classes(pool: Pool, more: Sequence[str]) -> tuple[str, ...]:
    """Those of the pool, then further ones."""
    if more and pool.task == "regression":
        raise CampaignError("classes for a regression", rule="its labels are numbers", hint="leave them out")
    return tuple(dict.fromkeys((*pool.classes, *(name.strip() for name in more))))


def place_of(target: str | Path, file: Path | None) -> Place:
    """Where something is, to be found again later."""
    return Place(_absolute(target), _seen_from(file, target))


def file_to_be(storage: str | Path | Store) -> Path | None:
    """The file that a campaign is going to be kept in, where it is one."""
    if isinstance(storage, str | Path):
        return None if "://" in str(storage) else Path(storage)
    return file_of(storage)


def _absolute(path: str | Path) -> str:
    """Empty where there is no such thing."""
    return str(Path(path).resolve()) if str(path) and Path(path).exists() else ""


def _seen_from(file: Path | None, target: str | Path) -> str:
    if file is None or not _absolute(target):
        return ""
    try:
        return Path(os.path.relpath(_absolute(target), file.resolve().parent)).as_posix()
    except ValueError:  # another drive
        return ""


def find(place: Place, file: Path | None) -> Path | None:
    """Where something is now: as recorded, in the same place as seen from the campaign's file, or right beside it."""
    if not place.recorded:
        return None
    candidates = [Path(place.recorded)]
    if file is not None:
        folder = file.resolve().parent
        candidates += [folder / place.beside] if place.beside else []
        candidates.append(folder / Path(place.recorded).name)
    return next((one for one in candidates if _is_there(one)), None)


def _is_there(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # in a folder of somebody else's
        return False


def pool_file(state: State, file: Path | None) -> Path | None:
    """Where the pool is now: where it was moved to last, as far as that is there, or where it was at the start."""
    known = (*reversed(state.pools), Place(state.settings.pool_file, state.settings.pool_beside))
    return next((found for place in known if (found := find(place, file)) is not None), None)


def find_pool(state: State, given: Pool | str | Path | None, file: Path | None) -> Pool:
    """The pool of a campaign: as given, or where it is found."""
    if isinstance(given, Pool):
        return given
    place = Path(given) if given is not None else pool_file(state, file)
    if place is None:
        raise CampaignError(
            f"the pool, {state.settings.pool_file or 'which was not a file'}, is not found",
            rule="a campaign needs the pool that it was started on",
            hint="--pool FILE; the campaign then remembers where it is",
        )
    return sources.load(place, **state.settings.pool_options)


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
