"""."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fieldcheck.core import words
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool


def aligned(reference: Pool, other: Pool) -> Pool:
    """The other pool in the order of the first."""
    if other.task != reference.task:
        raise PoolError(
            f"'{reference.name}' is a {reference.task}, '{other.name}' a {other.task}",
            rule="models that are compared do the same task",
            hint="--task classification or regression",
        )
    if _same(reference.ids, other.ids):
        return other
    ours, theirs = _ids(reference), _ids(other)
    place = {name: at for at, name in enumerate(theirs)}
    missing, extra = [name for name in ours if name not in place], set(theirs) - set(ours)
    if missing or extra:
        raise PoolError(
            f"'{reference.name}' and '{other.name}' are not the same items: {_some(missing, reference.name)}; "
            f"{_some(sorted(extra), other.name)}",
            rule="both files hold the same items, matched by id",
            hint="keep the items that are in all files; --column id=NAME where ids are in another column",
        )
    return other.select([place[name] for name in ours])


def _same(ours: Any, theirs: Any) -> bool:
    """True where the ids are the same in the same order; without a look at each where they are stored alike."""
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return np.array_equal(ours, theirs)
    return type(ours) is type(theirs) and ours.type == theirs.type and bool(ours.equals(theirs))


def _ids(pool: Pool) -> list[str]:
    """As text: an integer and its text are the same id."""
    return [str(one) for one in (pool.ids.tolist() if isinstance(pool.ids, np.ndarray) else pool.ids.to_pylist())]


def _some(names: Sequence[str], where: str) -> str:
    shown = words.some([f"'{name}'" for name in names], 3)
    return f"{len(names):,} only in '{where}'" + (f" ({shown})" if names else "")
