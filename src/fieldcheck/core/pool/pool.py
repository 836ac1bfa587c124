"""The pool: every item that the model met in operation, what it said, and how suspicious that looks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import BudgetError, FieldcheckError
from fieldcheck.core.label import Label
from fieldcheck.core.measures import label_losses, measure_of
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.pool import ids as identity
from fieldcheck.core.pool.beside import Beside, RowReader
from fieldcheck.core.pool.column import Column, check_lengths, closest, is_numeric, numbers, take, value_at
from fieldcheck.core.pool.engine import Engine
from fieldcheck.core.pool.fingerprint import Fingerprint, fingerprint
from fieldcheck.core.pool.frame import FEW, KeptColumns
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.pool.watching import counted
from fieldcheck.core.types import BoolArray, FloatArray, IntArray, Loss, Task

C = TypeVar("C")


R = TypeVar("R")


BLOCK = 1 << 15
"""Rows of a part."""


SLACK = 1e-6
"""By this much a confidence may leave [0, 1]: what single precision leaves of 1.0."""


SUM_SLACK = 0.02
"""By this much probabilities may miss a sum of 1: they are often rounded to two or three digits."""


FEW_CLASSES = 20
"""So many different predictions are classes, however few items there are."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Items with what is known about them. All arrays have one value per item, in the order of the source.

    name
        The subject: the stem of the file.
    ids
        64-bit integers, or text in an Arrow array; each item has its own.
    predictions
        Classification: codes into ``classes``. Regression: numbers. None where only outcomes are known.
    confidence
        In [0, 1]: the model's probability of the predicted class.
    probabilities
        One row per item; column j belongs to ``classes[j]``. There may be more classes than columns: a
        target that the model does not know.
    target
        The truth, coded as the predictions.
    failed
        Classification with known truth: True where the model is wrong.
    columns
        Everything else, by the name in the source: auxiliary variables (numpy) and metadata (numpy or Arrow).
    notes
        What the user should know about how this pool was read.
    origin
        Where it came from, for messages.
    start
        Of a part: the position of its first item.
    """

    name: str
    task: Task
    ids: Any
    predictions: npt.NDArray[Any] | None = None
    classes: tuple[str, ...] = ()
    confidence: FloatArray | None = None
    probabilities: npt.NDArray[Any] | None = None
    target: npt.NDArray[Any] | None = None
    failed: BoolArray | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin, repr=False)
    start: int = 0

    def __post_init__(self) -> None:
        if self.task not in ("classification", "regression"):
            raise self.origin.error(f"no task '{self.task}'", rule="classification or regression")
        if not len(self):
            raise self.origin.error("the pool is empty", rule="a pool has at least one item")
        check_lengths({"id": self.ids, **self._parts(), **self.columns}, self.origin)
        identity.check_unique(self.ids, self.origin)
        self._check_numbers()
        self._check_confidence()
        self._check_probabilities()

    def _parts(self) -> dict[str, Any]:
        return {
            "prediction": self.predictions,
            "confidence": self.confidence,
            "probabilities": self.probabilities,
            "target": self.target,
            "outcome": self.failed,
        }

    def _check_numbers(self) -> None:
        if self.task == "classification":
            return
        for role, values in (("prediction", self.predictions), ("target", self.target)):
            if values is not None:
                self.refuse(
                    role,
                    ~np.isfinite(values),
                    problem="is missing or infinite",
                    value=values.__getitem__,
                    rule="regression needs a finite number for every item",
                    hint="drop these items and report the smaller pool",
                )

    def _check_confidence(self) -> None:
        if self.confidence is not None:
            self.refuse(
                "confidence",
                ~_in_unit(self.confidence),
                problem="is missing, infinite or outside [0, 1]",
                value=self.confidence.__getitem__,
                rule="confidence is the probability of the predicted class",
                hint="drop these items, or name another column: --column confidence=NAME",
            )

    def _check_probabilities(self) -> None:
        matrix = self.probabilities
        if matrix is None:
            return
        self.refuse(
            "probabilities",
            ~np.all(_in_unit(matrix), axis=1),
            problem="is missing, infinite or outside [0, 1]",
            value=lambda at: matrix[at][~_in_unit(matrix[at])][0],
            rule="probabilities are numbers from 0 to 1",
            hint="apply softmax to scores first",
        )
        sums = matrix.sum(axis=1, dtype=np.float64)
        self.refuse(
            "probabilities",
            np.abs(sums - 1) > SUM_SLACK,
            problem="does not sum to 1",
            value=lambda at: round(float(sums[at]), 6),
            rule="the probabilities of an item are one distribution over the classes",
            hint="apply softmax to scores first",
        )

    def refuse(
        self, role: str, bad: BoolArray, *, problem: str, value: Callable[[int], Any], rule: str, hint: str
    ) -> None:
        """Raise where any item is bad, naming the first of them."""
        named = replace(self.origin, item_of=self.id_of)
        named.refuse(role, bad, problem=problem, value=value, rule=rule, hint=hint)

    def __len__(self) -> int:
        return len(self.ids)

    def id_of(self, position: int) -> str:
        """The id of an item, as text."""
        return str(value_at(self.ids, position))

    def position_of(self, wanted: Iterable[str | int]) -> IntArray:
        """The positions of some ids, in the order asked for."""
        return identity.positions(self.ids, wanted, origin=self.origin)

    def prediction_at(self, position: int) -> str | float | None:
        """What the model said about an item: the name of a class, or a number; None where only outcomes are known."""
        if self.predictions is None:
            return None
        said = self.predictions[position]
        return self.classes[int(said)] if self.task == "classification" else float(said)

    def predictions_at(self, positions: Iterable[int]) -> tuple[str | float, ...]:
        """What the model said about some items, in the order asked for."""
        found = [said for at in positions if (said := self.prediction_at(at)) is not None]
        if self.predictions is None:
            raise self.origin.error(
                f"'{self.name}' has no predictions", rule="a label is compared with what the model said"
            )
        return tuple(found)

    @property
    def written(self) -> bool:
        """Whether predictions are texts that a model wrote, not classes: most of the items have one of their own.

        No list names the right one; people say whether it is right, and have to see it.
        """
        if self.task != "classification" or self.predictions is None:
            return False
        many = len(self.classes) > max(FEW_CLASSES, len(self) // 2)
        return many and not all(name.isdecimal() for name in self.classes)

    @property
    def truth_known(self) -> bool:
        """True where every item has its truth: a campaign can be simulated."""
        return (self.failed if self.task == "classification" else self.target) is not None

    def threshold(self, given: float | None = None) -> float:
        """Regression: the absolute error over which an item is a failure; by default the spread of the predictions."""
        if given is not None:
            return given
        return 0.5 if self.task == "classification" or self.predictions is None else float(np.std(self.predictions))

    def measure(self, loss: Loss = "squared", threshold: float | None = None) -> Measure:
        """The usual measure of the task."""
        return measure_of(self.task, loss, self.threshold(threshold))

    def losses(self, loss: Loss = "squared") -> FloatArray:
        """One per item. Classification: 1.0 where the model fails. Regression: squared or absolute error."""
        if self.task == "classification" and self.failed is not None:
            return self.failed.astype(np.float64)
        if self.task == "classification" or self.target is None or self.predictions is None:
            raise self.no_truth()
        return measure_of(self.task, loss).losses(self.predictions, self.target)

    def losses_of(self, labels: Mapping[str, Label], items: IntArray) -> FloatArray:
        """Losses of this pool's model, one per item: nan without a label, infinite where there is none to be had.

        labels
            By id.
        """
        found = [labels.get(name) for name in self.ids_of(items)]
        return label_losses(self.measure(), self.predictions_at(items.tolist()), found)

    def no_truth(self) -> FieldcheckError:
        """The refusal of what needs the labels of all items: where they may be, or how to have some items labelled."""
        labels, file = self.origin.columns.get("labels"), self.origin.file
        start = shlex.join(["fieldcheck", "start", file, "--campaign", f"{self.name}.db"])
        elsewhere = f"; without any: {start}" if file else ""
        return self.origin.error(
            f"the truth of pool '{self.name}' is not known",
            rule="a simulation needs the truth of every item",
            hint=f"--truth {shlex.quote(labels)}" if labels else f"--truth COLUMN for the column of labels{elsewhere}",
        )

    def column(self, name: str) -> Column:
        """One of the other columns, by its name in any case."""
        return self.columns[closest(name, self.columns, origin=self.origin)]

    def numeric(self, name: str) -> FloatArray | None:
        """The numbers of a column, by its name in small letters; None where it is not there once, or not numeric."""
        alike = self.alike(name)
        if len(alike) != 1 or not is_numeric(self.columns[alike[0]]):
            return None
        return numbers(self.columns[alike[0]], alike[0], origin=self.origin)

    def alike(self, name: str) -> list[str]:
        """The columns that have this name in small letters."""
        return [column for column in self.columns if column.strip().lower() == name]

    def shifted(self, names: Sequence[str]) -> Pool:
        """The pool with some columns moved so that their smallest value is 0; nan and infinity stay."""
        columns, notes = dict(self.columns), list(self.notes)
        for name in names:
            key = closest(name, columns, origin=self.origin)
            values = numbers(columns[key], key, origin=self.origin)
            low = float(np.min(values[np.isfinite(values)], initial=np.inf))
            columns[key] = values - low if np.isfinite(low) else values
            notes.append(f"'{key}' was shifted by its minimum, {low:.6g}")
        return replace(self, columns=columns, notes=tuple(notes))

    def check_budget(self, budget: int) -> None:
        """Refuse a budget that cannot be spent or that gives no variance."""
        if not 2 <= budget <= len(self):
            raise BudgetError(
                f"a budget of {budget:,} labels for a pool of {len(self):,} items",
                rule=f"a budget is at least 2 and at most the size of the pool, {len(self):,}",
                hint=f"--budget {min(max(budget, 2), len(self))}" if len(self) > 1 else "label that one item",
            )

    def select(self, positions: npt.ArrayLike) -> Pool:
        """The pool of some items, in the order given."""
        at = np.asarray(positions, dtype=np.int64)
        parts = {name: None if (values := getattr(self, name)) is None else take(values, at) for name in _PER_ITEM}
        columns = {name: take(column, at) for name, column in self.columns.items()}
        # Rows of the selection are not rows of the file any more.
        origin = Origin(file=self.origin.file and f"selection of {self.origin.file}", columns=self.origin.columns)
        changed: dict[str, Any] = {**parts, "columns": columns, "origin": origin}
        return replace(self, **changed)

    def digest(self, auxiliary: Mapping[str, npt.NDArray[Any]] | None = None) -> str:
        """A short fingerprint of ids, predictions and some auxiliary variables, whatever the truth."""
        given = auxiliary or {}
        return self.fingerprint(list(given.values())).short(list(given))

    def fingerprint(self, columns: Sequence[npt.NDArray[Any]]) -> Fingerprint:
        """Of these items, with some columns of numbers."""
        return fingerprint([self.ids, *columns], self.predictions, self.classes, self.task, self.start)

    def memo(self, key: Hashable, make: Callable[[], R]) -> R:
        """A value that follows from this pool alone, computed once."""
        held: dict[Hashable, Any] = self.__dict__.setdefault("_memo", {})
        if key not in held:
            held[key] = make()
        value: R = held[key]
        return value

    def ids_of(self, positions: IntArray) -> list[str]:
        """The ids of some items, as text, in the order asked for."""
        return [self.id_of(at) for at in positions.tolist()]

    def map(self, step: Callable[[Pool, C], R], given: C, *, needs: Collection[str] | None = None) -> Iterator[R]:
        """A step for some rows after the other.

        needs
            What it looks at: names of auxiliary variables, ``id``, ``prediction``; None: everything.
        """
        firsts = range(0, len(self), BLOCK)
        found = (step(self.rows(slice(one, one + BLOCK), start=self.start + one), given) for one in firsts)
        return counted(found, len(firsts)) if len(self) > FEW else found

    def whole_parts(self, step: Callable[[Pool, C], R], given: C, *, needs: Collection[str]) -> Iterator[R]:
        """A step for all rows of a shard at once, or of a part."""
        return self.map(step, given)

    def reader(self) -> RowReader:
        """What is sent to where steps of another pool run, to look at rows of this one there."""
        return self.rows(slice(None), start=self.start)

    def beside(
        self, others: Sequence[Pool], step: Callable[[tuple[Pool, ...], C], R], given: C, *, needs: tuple[str, ...]
    ) -> Iterator[R]:
        """A step that looks at rows of this pool and at the same rows of others: ``step((rows of each), given)``."""
        readers = tuple(other.reader() for other in others)
        return self.whole_parts(Beside(readers, step, needs), given, needs=needs)

    def between(self, first: int, last: int, *, needs: Collection[str]) -> Pool:
        """Some rows one after the other; ``RowReader`` has the words."""
        return self.rows(slice(first, last), start=first)

    def fetched(self, positions: IntArray, *, needs: Collection[str]) -> Pool:
        """Some rows, in the order asked for."""
        return self.rows(positions)

    @property
    def engine(self) -> Engine | None:
        """Where its steps run; None: here."""
        return None

    @property
    def scratch(self) -> KeptColumns | None:
        """Where steps keep columns of a pool that is not in this memory."""
        return None

    def in_memory(self) -> Pool:
        """The same with all its columns in memory."""
        return self

    @property
    def held(self) -> bool:
        """Whether its columns are in this memory."""
        return True

    def rows(self, which: slice | IntArray, *, start: int = 0) -> Pool:
        """Some rows as they are, which were checked with all others; repeated ones too."""
        view = object.__new__(Pool)
        some = {name: None if (held := getattr(self, name)) is None else _some(held, which) for name in _PER_ITEM}
        columns = {name: _some(column, which) for name, column in self.columns.items()}
        kept = {one.name: getattr(self, one.name) for one in fields(Pool) if one.name not in _PER_ITEM}
        view.__dict__.update({**kept, **some, "columns": columns, "start": start})
        return view


def _some(column: Column, which: slice | IntArray) -> Column:
    return column[which] if isinstance(which, slice) else take(column, which)


_PER_ITEM = ("ids", "predictions", "confidence", "probabilities", "target", "failed")


def _in_unit(values: npt.NDArray[Any]) -> BoolArray:
    """False for nan too."""
    return (values >= -SLACK) & (values <= 1 + SLACK)
