"""Perturbations of users: one function, one line.

    @perturbations.register("drift", kind="row")
    def drift(row, severity, rng):
        return row + 0.1 * severity * rng.standard_normal(len(row))

The name is then known wherever perturbations are named. Packages offer theirs as entry points of the group
``fieldcheck.perturbations``: what the decorator returns is what the entry point names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core import space
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.rng import ItemStreams
from fieldcheck.tomography.perturbations.base import check_severity

Change = Callable[[Any, int, np.random.Generator], Any]
"""From one item, its severity (1 and up) and a generator to the perturbed item, of the same shape."""


@dataclass(frozen=True)
class OneByOne:
    """A perturbation that changes one item after the other; ``made_of`` makes subclasses from functions.

    function
        What is done to an item; ``generator(item)`` of its stream is what it draws from.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[Kind]
    random: ClassVar[bool] = True
    still: ClassVar[bool] = False
    function: ClassVar[Change]

    levels: int = 5

    def apply(self, batch: Any, severity: npt.NDArray[np.int64], draws: ItemStreams) -> Any:
        """Perturb a batch; see ``core.perturbation.Perturbation``."""
        levels = check_severity(self, severity, len(batch)).tolist()
        rows = enumerate(zip(batch, levels, strict=True))
        changed = [self._one(item, level, draws, at) for at, (item, level) in rows]
        if not isinstance(batch, np.ndarray):
            return changed
        return np.stack(changed) if changed else batch.copy()

    def _one(self, item: Any, level: int, draws: ItemStreams, at: int) -> Any:
        if level == 0:
            return item
        if not isinstance(item, np.ndarray):
            return type(self).function(item, level, draws.generator(at))
        found = np.asarray(type(self).function(item.copy(), level, draws.generator(at)))
        if found.shape != item.shape:
            raise SpaceError(
                f"{self.name} made an item of shape {found.shape} from one of shape {item.shape}",
                rule="a perturbation keeps the shape of an item",
            )
        return found.astype(item.dtype, copy=False)


def made_of(
    function: Change, name: str, *, kind: Kind, levels: int = 5, title: str = "", still: bool = False
) -> type[OneByOne]:
    """The class of perturbations that apply ``function``; ``title`` is by default the first line of its docstring."""
    if not space.NAME.match(name) or name != name.lower():
        rule = "a name has small letters, digits, _ and -, a letter first"
        raise SpaceError(f"a perturbation called '{name}'", rule=rule)
    said = title or (function.__doc__ or name).strip().splitlines()[0]
    body = {"name": name, "title": said, "kind": kind, "function": staticmethod(function), "still": still}
    made = type(
        name, (OneByOne,), {**body, "__doc__": function.__doc__, "levels": levels, "__annotations__": {"levels": "int"}}
    )
    return dataclass(frozen=True)(made)
