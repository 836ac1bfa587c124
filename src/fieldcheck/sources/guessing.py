"""Which column plays which part where no usual name says it: by the words in its name, and by what it holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fieldcheck.core.pool.column import Column, as_arrow, is_text, missing, whole

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zäöüß]+|\d+")


IDS = frozenset({"id", "ids", "no", "nr", "number", "nummer", "num", "key", "uuid", "guid", "identifier", "idx"})
FILES = frozenset({"file", "filename", "image", "img", "path", "url", "name"})


PREDICTED = frozenset(
    {
        *("pred", "preds", "predicted", "prediction", "predictions", "predict", "yhat", "ypred", "hat", "forecast"),
        *("classified", "inferred", "inference", "argmax", "vorhersage", "predicho", "prediccion", "guess"),
        *("scored", "predclass", "predlabel"),
    }
)
MACHINE = frozenset({"model", "system", "classifier", "auto", "ai", "algorithm", "machine", "llm", "network"})
ANSWER = frozenset(
    {
        *("label", "output", "answer", "class", "decision", "category", "says", "response", "choice", "verdict"),
        *("completion", "generation", "generated", "reply"),
    }
)


SURE_OF_ITSELF = frozenset({"confidence", "conf", "certainty", "konfidenz", "sicherheit"})
LIKELIHOOD = frozenset(
    {"prob", "proba", "probs", "probability", "probabilities", "pmax", "prmax", "maxprob", "softmax", "likelihood"}
) | {"posterior", "p", "phat", "wahrscheinlichkeit", "yprob", "yproba"}
SCORE = frozenset({"score", "scores", "logit", "logits", "yscore"})
NOT_CONFIDENCE = frozenset(
    {
        *("loss", "error", "std", "var", "uncertainty", "threshold", "rank", "time", "true"),
        *("gold", "second", "value", "min", "date", "id", "n", "num", "count", "version", "name"),
    }
)


TRUE = frozenset(
    {
        *("true", "truth", "actual", "gold", "golden", "reference", "expected", "observed", "annotation", "annotated"),
        *("human", "manual", "target", "label", "labels", "class", "category", "y", "verified", "reviewed"),
    }
)


FEW = 1_000
"""Rows from which the values of a column are taken where all would be slow."""


SLACK = 0.02
"""By so much shares may miss a sum of 1: they are often rounded."""


ENOUGH = 20
"""Items from which on it is no chance that a column has no value twice."""


LONGEST_ID = 64
"""Characters of what may be an id; texts are longer."""


def words_of(name: str) -> frozenset[str]:
    """The words in a name: ``customerNo.`` is customer and no."""
    return frozenset(word.lower() for word in WORD.findall(name))


def names_prediction(name: str) -> bool:
    """Whether a name says that the model said it."""
    words = words_of(name)
    if words & (SURE_OF_ITSELF | LIKELIHOOD | SCORE | NOT_CONFIDENCE) or is_runner_up(name):
        return False
    if {"top", "1"} <= words <= {"top", "1"} | PREDICTED | ANSWER:
        return True
    return bool(words & PREDICTED or (words & MACHINE and words & ANSWER) or words == {"y", "hat"})


def names_answer(name: str) -> bool:
    """Whether a name says that something was answered, and not that the answer is right: ``label`` may be either."""
    words = words_of(name)
    return bool(words & ANSWER) and not words & (TRUE | IDS | SURE_OF_ITSELF | LIKELIHOOD | SCORE)


def is_runner_up(name: str) -> bool:
    """Whether a name speaks of the second best answer, or of a later one: ``top2_prob``."""
    words = words_of(name)
    return "top" in words and any(word.isdecimal() and word != "1" for word in words)


def names_confidence(name: str) -> int:
    """How clearly a name says that it is the model's confidence: 0 not at all, 3 outright."""
    words = words_of(name)
    if words & NOT_CONFIDENCE or is_runner_up(name):
        return 0
    if words & SURE_OF_ITSELF:
        return 3
    best = words & {"max", "top", "top1", "pmax", "prmax", "maxprob"} or words & PREDICTED
    if words & LIKELIHOOD:
        return 3 if best else 2
    if words & SCORE and words <= SCORE | PREDICTED | MACHINE | ANSWER | {"max", "top", "top1", "1", "y", "100"}:
        return 2 if best else 1
    return 0  # a score of something else: of a credit, a judge, a sentiment


def names_truth(name: str) -> bool:
    """Whether a name says that it is the right answer."""
    words = words_of(name)
    return bool(words & TRUE) and not words & (PREDICTED | MACHINE | SURE_OF_ITSELF | LIKELIHOOD | SCORE | IDS)


def is_answer(name: str, column: Column, classes: Collection[str]) -> bool:
    """Whether a column is named as right answers are, and holds classes."""
    values = distinct(column) if names_truth(name) else []
    return bool(values) and sum(value in classes for value in values) >= 0.8 * len(values)


def find_id(columns: Mapping[str, Column], free: Sequence[str], rows: str | None) -> str | None:
    """The column that names the items: by a word in its name, the index, or because each value is there once."""
    by_name = [name for name in free if words_of(name) & IDS] + [name for name in free if words_of(name) & FILES]
    for name in (*by_name, *([rows] if rows in free else [])):
        if name is not None and is_unique(columns[name]):
            return name
    plain = (name for name in free if name != rows and len(columns[name]) >= ENOUGH and _like_ids(columns[name]))
    return next((name for name in plain if is_unique(columns[name])), None)


def is_unique(column: Column) -> bool:
    """Whether there is a value for every item, and another one each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, np.ndarray) and column.dtype.kind == "f" and not np.all(whole(column)):
        return False
    if bool(missing(column).any()):
        return False
    array = as_arrow(column)
    try:
        return len(pc.unique(array)) == len(array)
    except pa.ArrowException:
        return False


def _like_ids(column: Column) -> bool:
    """Whole numbers, or short texts without a blank."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "iu"
    if not is_text(column):
        return False
    some = column.slice(0, FEW).to_pylist()
    return all(value is not None and len(value) <= LONGEST_ID and " " not in value for value in some)


def distinct(column: Column, rows: int | None = FEW) -> list[str]:
    """The values of a column as classes are called, in order; whole floats as integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    part = column[:rows] if isinstance(column, np.ndarray) else column.slice(0, rows)
    array = as_arrow(part)
    try:
        found = pc.unique(array).to_pylist()
    except pa.ArrowException:
        return []
    return sorted({_called(value) for value in found if value is not None and value == value})  # noqa: PLR0124 -- nan


def _called(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def is_numbers(column: Column) -> bool:
    """Whether it holds numbers, not truth values."""
    return isinstance(column, np.ndarray) and column.dtype.kind in "iuf"


CLASSES = 20
"""So many different whole numbers may be classes, whatever lies between them."""


def are_amounts(column: Column) -> bool:
    """Whether whole numbers look like amounts: many different ones, that leave out most of those between them.

    Classes are numbered one after the other.
    """
    if not is_numbers(column) or bool(missing(column).any()) or not np.all(whole(column)):
        return False
    different = len(np.unique(column))
    return different > CLASSES and different <= (float(column.max()) - float(column.min()) + 1) / 2


def is_shares(column: Column) -> bool:
    """Whether it holds fractions from 0 to 1, which no amounts are and no classes."""
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f" or bool(missing(column).any()):
        return False
    return bool(column.min() >= 0 and column.max() <= 1 and not np.all(whole(column)))


def is_switch(column: Column) -> bool:
    """Whether it holds truth values, or 0 and 1."""
    return isinstance(column, np.ndarray) and (column.dtype.kind == "b" or bool(np.all(np.isin(column, (0, 1)))))


def shorter(names: Sequence[str]) -> Iterator[list[str]]:
    """The names, then without the first letter that all have in common, without the second one, ..."""
    begin = min(_beginning(names), min(map(len, names)) - 1)
    return ([name[cut:] for name in names] for cut in range(begin + 1))


def _beginning(names: Sequence[str]) -> int:
    """How many letters all names begin with; of one name alone, none."""
    same = [len(set(letters)) == 1 for letters in zip(*names, strict=False)] if len(names) > 1 else []
    return (*same, False).index(False)


def without_first_word(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them begin with, up to a mark between words: ``class_0`` is 0."""
    begin = names[0][: _beginning(names)]
    cut = max((at + 1 for at, letter in enumerate(begin) if not letter.isalnum()), default=0)
    return [name[cut:] for name in names] if all(len(name) > cut for name in names) else list(names)


def sums(columns: Mapping[str, Column], names: Sequence[str]) -> float | None:
    """1 or 100 where the columns are shares of that in every row; None elsewhere."""
    if len(names) < 2 or not all(is_numbers(columns[name]) or is_switch(columns[name]) for name in names):
        return None
    for rows in (FEW, None):
        matrix = np.column_stack([columns[name][:rows] for name in names]).astype(np.float64)
        total = next((one for one in (1.0, 100.0) if _are_shares(matrix, one)), None)
        if total is None:
            return None
    return total


def _are_shares(matrix: Any, total: float) -> bool:
    if not np.all(np.isfinite(matrix)) or matrix.min() < -1e-6:
        return False
    return bool(np.all(np.abs(matrix.sum(axis=1) / total - 1) <= SLACK))


def blocks(columns: Mapping[str, Column], free: Sequence[str]) -> list[list[str]]:
    """Columns of numbers that stand side by side."""
    found: list[list[str]] = [[]]
    for name in columns:
        if name in free and is_numbers(columns[name]):
            found[-1].append(name)
        elif found[-1]:
            found.append([])
    return [block for block in found if len(block) > 1]


def shares_block(columns: Mapping[str, Column], free: Sequence[str]) -> list[str]:
    """Columns side by side whose rows sum to 1 or 100, as many as possible: what ``predict_proba`` gives."""
    for block in sorted(blocks(columns, free), key=len, reverse=True):
        for start in range(min(len(block) - 1, 3)):
            for end in range(len(block), max(start + 1, len(block) - 3), -1):
                if sums(columns, block[start:end]) is not None:
                    return block[start:end]
    return []
