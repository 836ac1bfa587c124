"""Which column of a table plays which part: told by names and by content, and to be set."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fieldcheck.core.pool.column import Column, check_lengths, closest, is_text, missing, whole
from fieldcheck.sources import guessing
from fieldcheck.sources.cells import matrix_of, pairs_of
from fieldcheck.sources.classes import is_outcome
from fieldcheck.sources.confidence import fits
from fieldcheck.sources.reading import Reading, as_confidence
from fieldcheck.sources.roles import (
    NONE,
    RECOGNISED,
    ColumnMap,
    given_columns,
    likely_probabilities,
    surely_probabilities,
)
from fieldcheck.sources.table import RawTable

OWN = ("id", "row id", "row_id", "rowid")
"""Names of ids that nothing else has: where they repeat, that is an error."""


def read_table(table: RawTable, given: ColumnMap, *, truth: str | None) -> Reading:
    """Which column plays which part."""
    if table.columns or table.matrices:
        check_lengths({**table.columns, **table.matrices}, table.origin)
    table = _with_lists(table)
    _refuse_values_for_names(table)
    return _Choice(table, given, truth).reading()


def _refuse_values_for_names(table: RawTable) -> None:
    """Refuse a table whose first row was taken for names and is one: every name could stand in its own column."""
    found = [_holds(column, name) for name, column in table.columns.items()]
    if any(held for held, _ in found) and all(could for _, could in found):
        raise table.origin.error(
            f"the first line holds values, not names: '{','.join(table.columns)[:99]}'",
            rule="the columns have names, in a line above the values",
            hint="add a first line such as id,prediction,confidence",
        )


def _holds(column: Column, name: str) -> tuple[bool, bool]:
    """Whether a column of words holds its own name as a value, and whether it could."""
    if not is_text(column):
        return False, name.strip().replace(".", "", 1).isdecimal()
    values = guessing.distinct(column)
    held = name.strip() in values
    return held, held or len(values) == min(len(column), guessing.FEW)


def _with_lists(table: RawTable) -> RawTable:
    """Lists of numbers that were written as text, as pandas does it: probabilities of all classes in a cell."""
    found = {
        name: matrix
        for name, column in table.columns.items()
        if guessing.names_confidence(name) > 1 and (matrix := matrix_of(column)) is not None
    }
    columns = {name: column for name, column in table.columns.items() if name not in found}
    for name in [one for one in columns if guessing.names_prediction(one)]:
        if (pair := pairs_of(columns[name])) is not None:
            columns[name], columns[f"{name}_confidence"] = pair
            table = replace(table, notes=(*table.notes, f"'{name}' holds a class and its score: read as two columns"))
    return replace(table, columns=columns, matrices={**table.matrices, **found})


class _Choice:
    """The parts one after the other; what is taken is not free any more."""

    def __init__(self, table: RawTable, given: ColumnMap, truth: str | None) -> None:
        self.table, self.columns, self.origin = table, table.columns, table.origin
        self.asked = given.get("probabilities")
        mapped = {role: name for role, name in given.items() if role != "probabilities"}
        self.chosen, self.scale = given_columns(mapped, list(self.columns), origin=self.origin)
        self.given = frozenset(self.chosen)
        self.truth = truth
        self.likely: dict[str, str] = {}
        self.notes = list(table.notes)
        self.labels: str | None = None

    def column(self, role: str) -> Column | None:
        """The column that plays a part, where there is one."""
        name = self.chosen.get(role)
        return None if name is None else self.columns[name]

    @property
    def free(self) -> list[str]:
        used = {*self.chosen.values(), *self.likely}
        return [name for name in self.columns if name not in used]

    def reading(self) -> Reading:
        self._by_name()
        self._prefer_classes()
        self._place_truth()
        self._guess_prediction()
        self._find_probabilities()
        self._guess_confidence()
        self._guess_id()
        self._notice_labels()
        left = [name for name in self.table.matrices if name not in self.likely]
        self.notes += [f"'{name}' is left out: one value per item is read" for name in left]
        return Reading(self.table, self.chosen, self.likely, self.scale, self.labels, tuple(self.notes), self.given)

    def _by_name(self) -> None:
        """The first recognised name that is still free."""
        sure = surely_probabilities(self.columns)
        lowered = {name.strip().lower(): name for name in reversed(list(self.columns)) if name not in sure}
        for role, candidates in RECOGNISED.items():
            if role in self.chosen or role == "probabilities":
                continue
            there = [lowered[one] for one in candidates if one in lowered and lowered[one] in self.free]
            if role == "id":
                there = [one for one in there if one.strip().lower() in OWN or guessing.is_unique(self.columns[one])]
            if there and there[0] != self._asked_truth():
                self.chosen[role] = there[0]

    def _prefer_classes(self) -> None:
        """Numbers from 0 to 1 are not the prediction where another column that is named so holds classes."""
        name = self.chosen.get("prediction")
        if name is None or "prediction" in self.given or not guessing.is_shares(self.columns[name]):
            return
        classes = [one for one in self.free if is_text(self.columns[one]) and guessing.names_prediction(one)]
        if len(classes) == 1:
            self.chosen["prediction"] = classes[0]
            self.chosen.setdefault("confidence", name)
            self.notes.append(f"'{classes[0]}' holds classes and is the prediction; '{name}' says how sure it was")

    def _asked_truth(self) -> str | None:
        return None if self.truth in (None, NONE) else closest(str(self.truth), self.columns, origin=self.origin)

    def _place_truth(self) -> None:
        """The truth where its values belong, and a note where it is only known for some items.

        A column of Pass and Fail is an outcome; an ``outcome`` column of other values is a target.
        """
        asked = self._asked_truth()
        found = {role: self.chosen.pop(role) for role in ("target", "outcome") if role in self.chosen}
        if asked is not None:
            self.chosen = {role: name for role, name in self.chosen.items() if name != asked}
            named = asked.strip().lower() in RECOGNISED["outcome"] or found.get("outcome") == asked
            self.chosen["outcome" if self._is_outcome(asked, named=named) else "target"] = asked
            return
        for role, name in found.items():
            if self.truth == NONE or name is None:
                continue
            if role not in self.given and (gaps := int(missing(self.columns[name]).sum())):
                self.notes.append(f"'{name}' is missing for {gaps:,} items: the truth counts as unknown")
                continue
            self.chosen.setdefault("outcome" if self._is_outcome(name, named=role == "outcome") else "target", name)

    def _is_outcome(self, name: str, *, named: bool) -> bool:
        return is_outcome(self.columns[name], named=named, prediction=self.column("prediction"))

    def _guess_prediction(self) -> None:
        if "prediction" in self.chosen or surely_probabilities(self.free):
            return
        found = [name for name in self.free if guessing.names_prediction(name) and self._varies(name)]
        words = [name for name in found if is_text(self.columns[name])]
        picked = found if len(found) == 1 else words
        if len(picked) == 1:
            self.chosen["prediction"] = picked[0]
        elif found and guessing.sums(self.columns, found) is None:
            raise self.origin.error(
                "which column is the prediction: " + " or ".join(f"'{name}'" for name in found) + "?",
                rule="one column says what the model said",
                hint=f"--column {shlex.quote(f'prediction={found[0]}')}",
            )

    def _varies(self, name: str) -> bool:
        """Whether a column says more than one thing: one that does not, names the model, not what it said."""
        return len(self.columns[name]) < guessing.ENOUGH or len(guessing.distinct(self.columns[name])) > 1

    def _find_probabilities(self) -> None:
        if self.asked is not None:
            self.likely = {} if self.asked == NONE else self._asked_probabilities(self.asked)
            return
        self.likely = surely_probabilities(self.free)
        if not self.likely and self.table.matrices:
            wanted = RECOGNISED["probabilities"]
            known = [name for name in self.table.matrices if name.strip().lower() in wanted]
            alone = [
                name for name in self.table.matrices if name in self.table.names or guessing.names_confidence(name) > 1
            ]
            self.likely = dict.fromkeys((known or alone)[:1], "")
        if not self.likely:
            self.likely = self._fitting_names() or self._named_as_classes() or self._shares()
            self._find_largest()

    def _find_largest(self) -> None:
        """The column that always names the largest probability is the prediction."""
        if not self.likely or self.chosen.get("prediction") or "prediction" in self.given:
            return
        holders = [name for name in self.free if is_text(self.columns[name])]
        found = next((name for name in holders if self._is_largest(name, self.likely)), None)
        if found is not None:
            self.chosen["prediction"] = found
            self.notes.append(f"'{found}' always names the largest of {', '.join(self.likely)}: the prediction")

    def _asked_probabilities(self, asked: str) -> dict[str, str]:
        if asked in self.table.matrices:
            return {asked: ""}
        parts = [part.strip() for part in asked.split(",")]
        if len(parts) > 1 and all(part in self.columns for part in parts):
            found = likely_probabilities(parts)
            given = found[0] if found and len(found[0]) == len(parts) else {part: part for part in parts}
            return self._called(given) or given
        found_by_prefix = surely_probabilities(self.columns, asked)
        if not found_by_prefix:
            raise self.origin.error(
                f"no columns '{asked}_<class>'",
                rule="columns: " + ", ".join(self.columns),
                hint="the part that the names of all probability columns begin with, or these columns between commas",
            )
        return found_by_prefix

    def _fitting_names(self) -> dict[str, str]:
        """Columns such as ``p_cat`` and ``cat_score`` that hold shares, or logits, of the predicted classes."""
        for found in likely_probabilities(self.free):
            held = [self.columns[name] for name in found]
            if not all(guessing.is_numbers(one) or guessing.is_switch(one) for one in held):
                continue
            logits = all(guessing.words_of(name) & {"logit", "logits"} for name in found)
            if (logits or guessing.sums(self.columns, list(found)) is not None) and (called := self._called(found)):
                return called
        return {}

    def _called(self, found: Mapping[str, str]) -> dict[str, str]:
        """Classes by column as the predictions, or another column, name them: without what all names begin with.

        None of them where the predictions are other ones.
        """
        said, names = self.column("prediction"), list(found.values())
        others = [column for name in self.free if name not in found and is_text(column := self.columns[name])]
        for values in (set(guessing.distinct(one)) for one in ([said] if said is not None else others)):
            fit = (short for short in guessing.shorter(names) if values <= set(short))
            if (len(values) > 1 or said is not None) and (short := next(fit, None)) is not None:
                return dict(zip(found, short, strict=True))
        return {} if said is not None else dict(zip(found, guessing.without_first_word(names), strict=True))

    def _named_as_classes(self) -> dict[str, str]:
        """Columns that are named as the values of another one: those are the classes, this is the prediction."""
        chosen = self.chosen.get("prediction")
        numeric = [name for name in self.free if guessing.is_numbers(self.columns[name])]
        holders = [chosen] if chosen else [name for name in self.free if name not in numeric]
        for holder in holders:
            classes = {one.lower(): one for one in guessing.distinct(self.columns[holder])}
            found = [name for name in numeric if name.strip().lower() in classes]
            found = self._whole_block(found)
            if len(found) < 2 or not set(classes) <= {name.strip().lower() for name in found}:
                continue
            likely = {name: classes.get(name.strip().lower(), name) for name in found}
            if chosen or self._is_largest(holder, likely):
                self.chosen["prediction"] = holder
                if not chosen:
                    self.notes.append(f"'{holder}' always names the largest of {', '.join(likely)}: the prediction")
            return likely
        return {}

    def _whole_block(self, found: Sequence[str]) -> list[str]:
        """The columns, with those beside them where only together they sum to 1: classes that are never predicted."""
        if len(found) < 1 or guessing.sums(self.columns, list(found)) is not None:
            return list(found)
        for block in guessing.blocks(self.columns, self.free):
            if set(found) <= set(block) and guessing.sums(self.columns, block) is not None:
                return block
        return []

    def _is_largest(self, holder: str, likely: Mapping[str, str]) -> bool:
        matrix = np.column_stack([self.columns[name] for name in likely])
        classes = list(likely.values())
        said = self.columns[holder].to_pylist()
        largest = [classes[at] for at in matrix.argmax(axis=1)]
        return float(np.mean([one == other for one, other in zip(said, largest, strict=True)])) > 0.999

    def _shares(self) -> dict[str, str]:
        """Columns side by side that sum to 1, where nothing says what was predicted: what ``predict_proba`` gives."""
        if "outcome" in self.chosen:
            return {}
        found = guessing.shares_block(self.columns, [name for name in self.free if name != self.table.rows])
        called = self._called({name: name for name in found}) if found else {}
        if called:
            shown = ", ".join(found[:4]) + (", ..." if len(found) > 4 else "")
            largest = "" if self.chosen.get("prediction") else "; the largest is the prediction"
            self.notes.append(f"the columns {shown} sum to 1: probabilities{largest}")
        return called

    def _guess_confidence(self) -> None:
        if "confidence" in self.chosen or self.likely:
            return
        rank = {name: guessing.names_confidence(name) for name in self.free}
        found = [name for name in self.free if rank[name] and self._fits(name, outright=rank[name] == 3)]
        best = [name for name in found if rank[name] == max(rank[one] for one in found)]
        if len(best) == 1:
            self.chosen["confidence"] = best[0]
        elif best:
            self.notes.append(
                f"{' or '.join(repr(name) for name in best)} may be the confidence; neither is used: "
                f"--column {shlex.quote(f'confidence={best[0]}')}"
            )

    def _fits(self, name: str, *, outright: bool) -> bool:
        column = as_confidence(self.columns[name])
        if not guessing.is_numbers(column):
            return False
        there = np.asarray(column, dtype=np.float64)
        there = there[np.isfinite(there)]
        return bool(len(there)) and (outright or fits(there) or bool(guessing.words_of(name) & {"logit", "logits"}))

    def _guess_id(self) -> None:
        if "id" not in self.chosen:
            found = guessing.find_id(self.columns, self.free, self.table.rows)
            if found is not None:
                self.chosen["id"] = found

    def _notice_labels(self) -> None:
        """A column that looks like the right answer is named, and left alone."""
        if any(self.chosen.get(role) is not None for role in ("target", "outcome")) or self.truth is not None:
            return
        said = self.column("prediction")
        classes = set(self.likely.values()) if said is None else set(guessing.distinct(said))
        for name in self.free:
            values = set(guessing.distinct(self.columns[name]))
            close = len(classes) > 1 and values and len(values & classes) >= 0.8 * len(values)
            named = guessing.names_truth(name) and (close or not classes or self._are_numbers(name))
            if (
                name != self.table.rows
                and not guessing.is_runner_up(name)
                and (named or (len(values) > 1 and values == classes))
            ):
                self.labels = name
                return

    def _are_numbers(self, name: str) -> bool:
        """Whether the predictions are no classes but numbers, as these are."""
        said = self.column("prediction")
        fractions = isinstance(said, np.ndarray) and said.dtype.kind == "f" and not np.all(whole(said))
        amounts = not self.likely and self.chosen.get("confidence") is None and said is not None
        numeric = fractions or (amounts and said is not None and guessing.are_amounts(said))
        return bool(numeric) and guessing.is_numbers(self.columns[name])
