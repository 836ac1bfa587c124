"""The items, the reference that they are compared with, and who is asked about both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary.base import Auxiliary, Trace
from fieldcheck.accuracy.predict.batch import Runner
from fieldcheck.accuracy.predict.needs import check_there, has_labels, needed
from fieldcheck.accuracy.predict.passes import Done, reference_trace
from fieldcheck.core import inputs as source
from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs, Subset
from fieldcheck.core.pool import ids as identity
from fieldcheck.core.pool.column import as_column, value_at
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.rng import stream
from fieldcheck.core.types import Task
from fieldcheck.models import classes as naming

ALWAYS = frozenset({"predictions", "inputs", "task"})
"""Parts that every trace can have."""


Found = dict[str, Auxiliary]


@dataclass(frozen=True, eq=False)
class ItemsAndReference:
    """What the model is run on; ``notes`` are about the reference."""

    items: Inputs
    reference: Inputs | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, inputs: Any, reference: Any, *, limit: int | None, seed: int) -> ItemsAndReference:
        """Both opened and checked."""
        items = sources.open_inputs(inputs)
        _check_ids(items)
        if reference is None:
            return cls(items)
        whole = sources.open_inputs(reference)
        if whole.kind != items.kind:
            raise InputsError(
                f"the reference holds items of kind '{whole.kind}', the inputs of kind '{items.kind}'",
                rule="the reference is what the model was trained on",
            )
        _check_columns(items, whole)
        part, notes = limited(whole, limit, seed=seed)
        return cls(items, part, tuple(f"reference: {note}" for note in (*getattr(whole, "notes", ()), *notes)))

    def sources(self) -> list[Inputs]:
        """Whoever may know the names of the classes."""
        return [one for one in (self.reference, self.items) if one is not None]

    def reference_size(self, found: Found) -> int:
        """Items of the reference that must be run."""
        return len(self.reference) if self.reference is not None and needed(found, reference=True) else 0

    def check(self, found: Found, runner: Runner, *, member: bool) -> None:
        """Refuse variables that lack something, before any work is done."""
        parts = {
            "probabilities": runner.model.task == "classification",
            "activations": bool(runner.layer),
            "mirrored": runner.symmetry is not None,
            "member": member,
            "features": runner.features is not None or self.items.kind != "text",
        }
        have = ALWAYS | {name for name, there in parts.items() if there}
        reference = None if self.reference is None else have | self._labels(found)
        check_there(found, have=have, reference=reference)

    def _labels(self, found: Found) -> frozenset[str]:
        """Labels are only asked for where they are needed: some sources have to be read for them."""
        if self.reference is None or "labels" not in needed(found, reference=True) or not has_labels(self.reference):
            return frozenset()
        return frozenset({"labels"})

    def codes(self, names: tuple[str, ...], task: Task) -> npt.NDArray[Any] | None:
        """The labels of the reference, coded as the predictions."""
        labels = None if self.reference is None else self.reference.labels
        if labels is None or self.reference is None or task == "regression":
            return labels
        return naming.as_codes(labels, names, where=self.reference.name)

    def trace(self, found: Found, runner: Runner, names: tuple[str, ...], *, batch: int, done: Done) -> Trace | None:
        """The trace of the reference, where somebody needs it."""
        wanted = needed(found, reference=True)
        if self.reference is None or not wanted:
            return None
        labels = self.codes(names, runner.model.task) if "labels" in wanted else None
        looking = replace(runner, parts=wanted, layer=runner.layer if "activations" in wanted else "")
        return reference_trace(looking, self.reference, batch=batch, done=done, labels=labels)


def _check_ids(items: Inputs) -> None:
    """Refuse ids that occur twice. Those in increasing order are looked at block by block."""
    before: Any = None
    for start in range(0, len(items), source.KEYS):
        ids = identity.as_ids(
            source.ids_in(items, start, min(start + source.KEYS, len(items))), Origin(file=items.name)
        )
        first, last = value_at(ids, 0), value_at(ids, len(ids) - 1)
        if not identity.is_increasing(ids) or (before is not None and not _comes_after(first, before)):
            identity.check_unique(identity.as_ids(as_column(items.ids, "id"), Origin()), Origin(file=items.name))
            return
        before = last


def _comes_after(later: Any, before: Any) -> bool:
    return type(later) is type(before) and later > before


def _check_columns(items: Inputs, reference: Inputs) -> None:
    """Tables whose features were recognised must have come to the same ones."""
    ours, theirs = getattr(items, "columns", ()), getattr(reference, "columns", ())
    if items.kind == "row" and ours and theirs and ours != theirs:
        odd = sorted(set(ours) ^ set(theirs)) or list(ours)
        raise InputsError(
            f"the reference has other features than the inputs: '{odd[0]}' is only in one of them, or elsewhere",
            rule="the model gets the same columns in the same order",
            hint=f"--input {','.join(one for one in ours if one in theirs)[:200]}",
        )


def limited(inputs: Inputs, limit: int | None, *, seed: int) -> tuple[Inputs, tuple[str, ...]]:
    """The inputs, or ``limit`` of them drawn at random, and what to say about it."""
    if limit is None or limit >= len(inputs):
        return inputs, ()
    # The raw output of the generator is what numpy promises to keep: its order is a permutation.
    raw = stream(seed, "predict", "reference").bit_generator.random_raw(len(inputs))
    chosen = np.sort(np.argsort(raw, kind="stable")[:limit])
    return Subset(inputs, chosen), (f"{limit:,} of {len(inputs):,} reference items, drawn at random (seed {seed})",)
