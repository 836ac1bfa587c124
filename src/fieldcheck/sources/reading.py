"""How a table is read, once it is known which column plays which part: said, remembered, made a pool of."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fieldcheck.core.pool.column import Column, is_text, missing, numbers, value_at
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Task
from fieldcheck.sources import guessing
from fieldcheck.sources.cells import from_percent
from fieldcheck.sources.confidence import PERCENT, SHARE, as_shares
from fieldcheck.sources.pools.assembly import from_roles
from fieldcheck.sources.roles import (
    NONE,
    RECOGNISED,
    ROWS,
    Roles,
    surely_probabilities,
)
from fieldcheck.sources.table import RawTable


@dataclass(frozen=True, eq=False)
class Reading:
    """What was decided about a table.

    chosen
        By role, the column that plays it; None where none was wanted.
    likely
        By column of probabilities, its class; of a matrix, its name alone.
    scale
        What the confidence was said to be; empty: to be found out.
    labels
        A column that looks like labels and was not taken for the truth.
    given
        Roles that the user named a column for.
    """

    table: RawTable
    chosen: Mapping[str, str | None]
    likely: Mapping[str, str] = field(default_factory=dict)
    scale: str = ""
    labels: str | None = None
    notes: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()

    @property
    def origin(self) -> Origin:
        """Where it came from, with the names of the columns by their part."""
        named = {role: name for role, name in (*self.chosen.items(), ("labels", self.labels)) if name is not None}
        return replace(self.table.origin, columns={**named, "probabilities": ", ".join(self.likely)})

    @property
    def others(self) -> list[str]:
        """Columns without a part."""
        used = {*self.chosen.values(), *self.likely}
        return [name for name in self.table.columns if name not in used and not self._is_row_number(name)]

    def _is_row_number(self, name: str) -> bool:
        return name == self.table.rows and name.strip().lower() in ROWS

    def columns(self, scale: str) -> dict[str, str]:
        """What to say to have it read in the same way again, whatever later versions would guess."""
        wanted = ((role, self.chosen.get(role)) for role in ("id", "prediction", "confidence"))
        said = {role: NONE if name is None else name for role, name in wanted if name != ""}
        if said.get("confidence", NONE) != NONE and scale:
            said["confidence"] += f":{scale}"
        if self.likely and self._held is None and not surely_probabilities(self.likely):
            said["probabilities"] = ",".join(self.likely)
        return said

    def roles(self) -> Roles:
        """The columns by their part, as numbers and classes."""
        table = {name: self._named(name, column) for name, column in self.table.columns.items()}
        parts: dict[str, Any] = {
            ("ids" if role == "id" else role): table[name] for role, name in self.chosen.items() if name is not None
        }
        signed = "confidence" in parts and from_percent(parts["confidence"]) is not None
        if "confidence" in parts:
            parts["confidence"] = as_confidence(parts["confidence"])
        matrix, classes = self._matrix()
        return Roles(
            **parts,
            probabilities=matrix,
            classes=classes,
            scale="" if signed and self.scale == PERCENT else self.scale,
            named="confidence" in self.given,
            others={name: table[name] for name in self.others},
        )

    def _named(self, name: str, column: Column) -> Column:
        """Classes by their names, where the table says how they are called."""
        import pyarrow as pa

        names = self._names_of(name)
        if names is None or not isinstance(column, np.ndarray) or column.dtype.kind not in "iuf":
            return column
        if bool(missing(column).any()) or column.min() < 0 or column.max() >= len(names):
            return column
        return pa.chunked_array([pa.array(list(names)).take(pa.array(column.astype(np.int64)))])

    def _names_of(self, name: str) -> Sequence[str] | None:
        """The names of the classes of a column; the prediction has those of the truth, where only that one has some."""
        names = self.table.names
        if name in names or name != self.chosen.get("prediction"):
            return names.get(name)
        known = self.chosen.get("target") or self.labels
        return names.get(known or "", next(iter(names.values()), None))

    def _matrix(self) -> tuple[Any, Sequence[str] | None]:
        if not self.likely:
            return None, None
        classes = list(self.likely.values()) if self._held is None else self.table.names.get(self._held)
        return as_shares(self._numbers(), list(self.likely))[0], classes

    @property
    def _held(self) -> str | None:
        """The matrix that holds the probabilities, where it is one."""
        return next((name for name in self.likely if name in self.table.matrices), None)

    def _numbers(self) -> Any:
        """The probabilities as they were found."""
        if self._held is not None:
            return self.table.matrices[self._held]
        raw = [numbers(self.table.columns[name], name, origin=self.origin) for name in self.likely]
        return np.column_stack(raw)

    def pool(self, name: str, task: Task | None = None) -> Pool:
        """The pool, checked; it remembers how it was read."""
        self._check_prediction()
        given = self.roles()
        kind: Task | None = "regression" if task is None and self._are_amounts() else task
        pool = from_roles(given, name=name, task=kind, origin=self.origin, notes=(*self.notes, *self._said()))
        origin = replace(pool.origin, settings=self.columns(pool.origin.scale))
        notes = (*self._small_percent(pool), *self._odd(pool, task), *self._several())
        return replace(pool, origin=origin, notes=(*pool.notes, *notes))

    def _small_percent(self, pool: Pool) -> tuple[str, ...]:
        """What to say where a name speaks of percent, and numbers without its sign are shares."""
        name, column = self.chosen.get("confidence"), self._column("confidence")
        if name is None or column is None or pool.confidence is None or pool.origin.scale != SHARE or self.scale:
            return ()
        if ("%" not in name and "percent" not in name.lower()) or from_percent(column) is not None:
            return ()
        said = shlex.quote(f"confidence={name}:{PERCENT}")
        return (f"'{name}' goes up to {pool.confidence.max():.4g}: taken as shares; if it is percent: --column {said}",)

    def _odd(self, pool: Pool, task: Task | None) -> tuple[str, ...]:
        """What predictions may be that were taken for something else."""
        name = self.chosen.get("prediction")
        if task is not None or name is None:
            return ()
        column = self.table.columns[name]
        if pool.task == "regression":
            if self._are_amounts():
                said = f"{len(np.unique(column)):,} different whole numbers, taken as amounts"
                return (f"'{name}' holds {said}: --task classification if they are classes",)
            said = "numbers from 0 to 1, taken as amounts; of a classifier, the column of classes is needed"
            return (f"'{name}' holds {said}: --column prediction=NAME",) if guessing.is_shares(column) else ()
        if pool.written:
            said = "which a model seems to have written: people are shown them, and say right or wrong"
            return (f"'{name}' holds {len(pool.classes):,} different texts, {said}",)
        if len(pool.classes) > max(20, len(pool) // 5):
            kind = "whole numbers" if guessing.is_numbers(column) else "texts"
            hint = "--task regression if they are amounts" if guessing.is_numbers(column) else "is it the prediction?"
            return (f"'{name}' holds {len(pool.classes):,} different {kind}, taken as classes: {hint}",)
        return _alike(name, pool.classes)

    def _are_amounts(self) -> bool:
        """Whether the predictions are amounts in whole numbers: no class of a classifier, which says how sure it is."""
        sure = self.likely or any(self.chosen.get(role) is not None for role in ("confidence", "outcome"))
        said, truth = (self._column(role) for role in ("prediction", "target"))
        if sure or said is None or not guessing.are_amounts(said):
            return False
        # Amounts are hardly ever hit to the unit.
        return truth is None or (guessing.is_numbers(truth) and float(np.mean(np.equal(said, truth))) < 0.5)

    def _column(self, role: str) -> Column | None:
        name = self.chosen.get(role)
        return None if name is None else self.table.columns.get(name)

    def _several(self) -> tuple[str, ...]:
        """Classes that are put together of others may be several labels of one item."""
        name = self.chosen.get("prediction")
        column = None if name is None else self.table.columns[name]
        if column is None or not is_text(column):
            return ()
        classes = guessing.distinct(column)
        joined = [one for one in classes if "|" in one or ";" in one]
        parts = {part.strip() for one in joined for part in one.replace(";", "|").split("|")}
        if len(joined) < 2 or len(parts) >= len(joined):
            return ()
        return (
            f"'{name}' may hold several labels at once ('{joined[0]}'): each such value is a class of its own here",
        )

    def _said(self) -> tuple[str, ...]:
        """What happened to the probabilities."""
        if not self.likely:
            return ()
        matrix = self._numbers()
        if guessing.is_switch(matrix):
            shown = ", ".join(list(self.likely)[:4])
            return (f"{shown} hold 0 and 1 only: they say what was predicted, not how sure the model was",)
        note = as_shares(matrix, list(self.likely))[1]
        return (note,) if note else ()

    def _check_prediction(self) -> None:
        name = self.chosen.get("prediction")
        if name is not None:
            self._refuse_several(name)
            return
        if self.likely or self.chosen.get("outcome") is not None:
            return
        if len(self.table.columns) == 1 and " " in next(iter(self.table.columns)).strip():
            raise self.origin.error(
                f"one column only: '{next(iter(self.table.columns)).strip()[:60]}'",
                rule="commas, semicolons, tabs or vertical bars stand between the cells",
                hint="save it as CSV; blanks do not divide cells, as texts have them",
            )
        target = self.chosen.get("target") or self.labels
        free = list(dict.fromkeys(one for one in (target, *self.others) if one))
        few = [one for one in free if one == target or self._are_few(one)]
        answers = [one for one in free if one != target and guessing.names_answer(one)]
        few = answers if len(answers) == 1 and not (target and guessing.names_answer(target)) else few
        offered = few or free
        listed = ", ".join(map(shlex.quote, offered)) or "(there is no other column)"
        raise self.origin.error(
            "no column of predictions" + (f"; is it '{few[0]}'?" if len(few) == 1 else ""),
            rule="a pool has predictions, or outcomes; recognised: " + ", ".join(RECOGNISED["prediction"]),
            hint=f"--column {shlex.quote(f'prediction={offered[0]}')}"
            if len(offered) == 1
            else f"--column prediction=NAME with one of: {listed}",
        )

    def _are_few(self, name: str) -> bool:
        """Whether the values of a column may be classes: far fewer than there are items."""
        column = self.table.columns[name]
        return 1 < len(guessing.distinct(column)) <= min(100, len(column) // 3 + 1)

    def _refuse_several(self, name: str) -> None:
        """Refuse lists of classes: one pool asks one question about an item."""
        column = self.table.columns[name]
        if name in self.table.matrices or not is_text(column):
            return
        some = column.slice(0, guessing.FEW).to_pylist()
        at = next((at for at, one in enumerate(some) if one and one[0] == "[" and one[-1] == "]" and "," in one), None)
        if at is not None:
            raise self.origin.error(
                f"column '{name}' holds several classes at once: {value_at(column, at)[:60]} ({self.origin.place(at)})",
                rule="an item has one prediction; of several labels each is a question of its own",
                hint="one pool per label, with yes or no; or a column of right and wrong: --column outcome=NAME",
            )


def _alike(name: str, classes: Sequence[str]) -> tuple[str, ...]:
    """What to say of classes that may be one, or that are not called what people will write."""
    found = dict[str, str]()
    for one in classes:
        if (other := found.setdefault(one.strip().lower(), one)) != one:
            return (f"'{other}' and '{one}' in '{name}' are different classes: how they are written counts",)
    if classes and all(len(one) > 2 and one[0] == one[-1] == "'" for one in classes):
        return (f"the classes in '{name}' stand between quotes, which are part of their names: {classes[0]}",)
    return ()


def as_confidence(column: Column) -> Column:
    """A column of numbers, also where they are written with percent signs."""
    shares = from_percent(column)
    return column if shares is None else shares
