"""Classes and outcomes: which task it is, classes as small integers, words that mean right or wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core import label
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import DECIMAL_COMMA, Column, as_arrow, is_text, missing, not_numbers, value_at, whole
from fieldcheck.core.pool.origin import Origin, shown
from fieldcheck.core.types import BoolArray, Task

Codes = npt.NDArray[np.int32]


def detect_task(prediction: Column | None, target: Column | None) -> Task:
    """Regression where the predictions, or the truth beside numeric predictions, are not whole numbers."""
    if prediction is None or not isinstance(prediction, np.ndarray) or prediction.dtype.kind == "b":
        return "classification"
    if _has_fractions(prediction) or (isinstance(target, np.ndarray) and _has_fractions(target)):
        return "regression"
    return "classification"


def _has_fractions(column: npt.NDArray[Any]) -> bool:
    if column.dtype.kind != "f":
        return False
    return not np.all(whole(column) | ~np.isfinite(column))


def encode(
    prediction: Column | None, target: Column | None, *, known: Sequence[str], origin: Origin
) -> tuple[Codes | None, Codes | None, tuple[str, ...]]:
    """Both columns as codes into common classes: the known ones first, then the others in order.

    Missing predictions, and predictions that are not a class, are refused; a target may be a class that the
    model does not know.
    """
    _check_prediction(prediction, origin)
    if not known and (small := _small_numbers(prediction, target)) is not None:
        return small
    keys = [None if c is None else _keys(c, r, origin) for c, r in ((prediction, "prediction"), (target, "target"))]
    keys = _comparable(keys, [prediction, target], origin)
    names = _names([key for key in keys if key is not None], known)
    codes = [None if key is None else _codes(key, names) for key in keys]
    if known and codes[0] is not None:
        _check_known(codes[0], names, known=known, origin=origin)
    return codes[0], codes[1], tuple(str(name) for name in names)


def _small_numbers(
    prediction: Column | None, target: Column | None
) -> tuple[Codes | None, Codes | None, tuple[str, ...]] | None:
    """The same by a table, in little memory, where all classes are whole numbers close together."""
    columns = [one for one in (prediction, target) if one is not None]
    if not columns or not all(isinstance(one, np.ndarray) and one.dtype.kind in "iu" and len(one) for one in columns):
        return None
    low, high = min(int(one.min()) for one in columns), max(int(one.max()) for one in columns)
    if high - low >= _CLOSE:
        return None
    seen = np.zeros(high - low + 1, dtype=bool)
    for one in columns:
        for part in _blocks(one):
            seen[part.astype(np.int64) - low] = True
    table = (np.cumsum(seen) - 1).astype(np.int32)

    def coded(column: Column | None) -> Codes | None:
        return (
            None if column is None else np.concatenate([table[one.astype(np.int64) - low] for one in _blocks(column)])
        )

    return coded(prediction), coded(target), tuple(str(low + at) for at in np.flatnonzero(seen).tolist())


_CLOSE = 1 << 16


def _blocks(column: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    return (column[first : first + _CLOSE] for first in range(0, len(column), _CLOSE))


def _check_prediction(prediction: Column | None, origin: Origin) -> None:
    if prediction is None:
        return
    refuse_missing(prediction, "prediction", origin=origin)
    first = value_at(prediction, 0)
    if is_text(prediction) and DECIMAL_COMMA.fullmatch(first):
        raise origin.error(
            f"column '{origin.column('prediction')}' has a decimal comma: '{first}' ({origin.place(0)})",
            rule="numbers are written with a decimal point",
            hint="replace the commas by points",
        )


def refuse_missing(column: Column, role: str, *, origin: Origin) -> None:
    """Refuse a column with gaps."""
    origin.refuse(
        role,
        missing(column),
        problem="is missing",
        value=lambda position: value_at(column, position),
        rule=f"every item has a {role}",
        hint="drop these items and report the smaller pool, or name another column",
    )


def _keys(column: Column, role: str, origin: Origin) -> Any:
    """The column as an Arrow array of integers, truth values or text: equal classes are equal values."""
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        return pa.chunked_array([as_arrow(_integers(column, role, origin))])
    return column.cast(pa.large_string())


def _integers(column: npt.NDArray[Any], role: str, origin: Origin) -> npt.NDArray[Any]:
    if column.dtype.kind != "f":
        return column if column.dtype.kind == "b" else column.astype(np.int64, copy=False)
    origin.refuse(
        role,
        ~whole(column),
        problem="is not a class",
        value=lambda position: column[position],
        rule="classes are whole numbers or text",
        hint="--task regression for numbers, or map the column of classes",
    )
    return column.astype(np.int64)


def _comparable(keys: list[Any], columns: list[Column | None], origin: Origin) -> list[Any]:
    import pyarrow as pa

    kinds = {str(key.type) for key in keys if key is not None}
    if len(kinds) < 2:
        return [key.cast(pa.large_string()) if key is not None and kinds == {"bool"} else key for key in keys]
    if "large_string" not in kinds:
        return [key.cast(pa.int64()) for key in keys]
    first = _first_word(columns)
    raise origin.error(
        f"column '{origin.column('target')}' cannot be compared with '{origin.column('prediction')}': "
        f"{shown(value_at(columns[1], first))} against {shown(value_at(columns[0], first))} ({origin.place(first)})",
        rule="truth and prediction name the classes in the same way",
        hint="--column target=none to go without the truth; or rename the classes",
    )


def _first_word(columns: list[Column | None]) -> int:
    """Where the column of text first has something that the column of numbers could not have."""
    text = next(column for column in columns if column is not None and not isinstance(column, np.ndarray))
    return int(np.argmax(not_numbers(text)))


def _names(keys: list[Any], known: Sequence[str]) -> list[Any]:
    import pyarrow.compute as pc

    seen = {value for key in keys for value in pc.unique(key).to_pylist() if value is not None}
    first = [_like(name, seen) for name in known]
    return first + sorted(seen - set(first))


def _like(name: str, seen: set[Any]) -> Any:
    """A class name as the number that it is, where the classes are numbers."""
    if not all(isinstance(value, int) for value in seen):
        return name
    try:
        return int(float(name))
    except ValueError:
        return name


def _codes(key: Any, names: list[Any]) -> Codes:
    import pyarrow as pa
    import pyarrow.compute as pc

    # A class name that is not a number cannot occur in a column of numbers: its code is never used.
    numeric = not pa.types.is_large_string(key.type)
    usable = [None if numeric and isinstance(name, str) else name for name in names]
    found = pc.index_in(key, value_set=pa.array(usable, key.type))
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int32)


def _check_known(codes: Codes, names: list[Any], *, known: Sequence[str], origin: Origin) -> None:
    origin.refuse(
        "prediction",
        codes >= len(known),
        problem="is not a class of the probabilities",
        value=lambda position: names[codes[position]],
        rule="the probabilities are for: " + ", ".join(known[:12]) + (", ..." if len(known) > 12 else ""),
        hint="name the probability columns proba_<class> as the predictions name the classes",
    )


def is_outcome(column: Column, *, named: bool, prediction: Column | None = None) -> bool:
    """True where a column says right or wrong instead of naming a class.

    named
        True for a column whose name says so (``outcome``, ``correct``): then 0 and 1 are outcomes too.
    prediction
        Where predictions are outcome words themselves (a model that grades answers), the column holds
        classes.
    """
    words = _words(column)
    if not words or not words <= label.RIGHT | label.WRONG:
        return False
    if named or prediction is None:
        return True
    predicted = _words(prediction)
    return not words <= label.PLAIN and not (predicted and predicted <= label.RIGHT | label.WRONG)


def _words(column: Column) -> frozenset[str]:
    """The distinct values in small letters, or none where there are too many to be outcomes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = as_arrow(column)
    distinct = pc.unique(array.filter(pa.array(~missing(column))))
    if len(distinct) > len(label.RIGHT | label.WRONG):
        return frozenset()
    return frozenset(_word(value) for value in distinct.to_pylist())


def _word(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip().lower()


def failures(column: Column) -> BoolArray:
    """One per item of an outcome column: True where the model is wrong."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.chunked_array([pa.array(column)]) if isinstance(column, np.ndarray) else column
    wrong = [value for value in pc.unique(array).to_pylist() if value is not None and _word(value) in label.WRONG]
    return np.asarray(pc.is_in(array, value_set=pa.array(wrong, array.type)).to_numpy())


def class_names(
    given: Sequence[Any] | None, width: int, *, prediction: Column | None, target: Column | None
) -> list[str]:
    """Names for the columns of a matrix of probabilities.

    Given ones; else 0, 1, ... where the predictions are numbers; else the classes in order, as scikit-learn
    does.
    """
    if given is not None:
        if len(given) != width:
            raise PoolError(
                f"{len(given)} class names for {width} columns of probabilities", rule="one name per column"
            )
        return [str(name) for name in given]
    if prediction is None or not is_text(prediction):
        return [str(code) for code in range(width)]
    names = sorted(
        {v for c in (prediction, target) if c is not None and is_text(c) for v in set(c.to_pylist())} - {None}
    )
    if len(names) != width:
        raise PoolError(
            f"{width} columns of probabilities, but {len(names)} classes occur",
            rule="which column is which class must be known",
            hint="classes= with one name per column",
        )
    return names
