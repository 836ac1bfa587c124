"""."""

from __future__ import annotations

import os
from pathlib import Path

from fieldcheck import sources
from fieldcheck.campaign.settings import Place
from fieldcheck.campaign.state import State
from fieldcheck.campaign.stores import is_address
from fieldcheck.campaign.stores.base import Store
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.pool.engine import Engine
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files.places import place_of as path_of


def place_of(target: str | Path, file: Path | None) -> Place:
    """Where something is, to be found again later."""
    return Place(_absolute(target), _seen_from(file, target))


def file_to_be(storage: str | Path | Store) -> Path | None:
    """The file that a campaign is going to be kept in, where it is one."""
    if isinstance(storage, str | Path):
        return None if is_address(storage) else Path(storage)
    return storage.path


def _absolute(path: str | Path) -> str:
    """Empty where there is no such thing."""
    return str(path_of(path).resolve()) if str(path) and path_of(path).exists() else ""


def _seen_from(file: Path | None, target: str | Path) -> str:
    if file is None or not _absolute(target) or "://" in _absolute(target):
        return ""
    try:
        return Path(os.path.relpath(_absolute(target), file.resolve().parent)).as_posix()
    except ValueError:  # another drive
        return ""


def find(place: Place, file: Path | None) -> Path | None:
    """Where something is now: as recorded, in the same place as seen from the campaign's file, or right beside it."""
    if not place.recorded:
        return None
    candidates = [path_of(place.recorded)]
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


def find_pool(
    state: State, given: Pool | str | Path | None, file: Path | None, *, engine: Engine | None = None
) -> Pool:
    """The pool of a campaign: as given, or where it is found; ``engine`` is where the steps of shards run."""
    if isinstance(given, Pool):
        return given
    place = path_of(given) if given is not None else pool_file(state, file)
    if place is None:
        raise CampaignError(
            f"the pool, {state.settings.pool_file or 'which was not a file'}, is not found",
            rule="a campaign needs the pool that it was started on",
            hint="--pool FILE; the campaign then remembers where it is",
        )
    return sources.load(place, **state.settings.pool_options, engine=engine)
