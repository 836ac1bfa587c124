"""CSV and Parquet as inputs: a column of texts, or columns of numbers, streamed block by block."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.core.pool.column import as_column, value_at
from fieldcheck.files.damage import decoding
from fieldcheck.files.parquet import open_parquet
from fieldcheck.files.text import open_text
from fieldcheck.sources.cells import MISSING, typed
from fieldcheck.sources.inputs.base import BySuffix
from fieldcheck.sources.inputs.options import IDS, LABELS, TEXTS, Wanted, label_in, named, pick

BLOCK = 1 << 22
"""Bytes of a CSV file parsed in one go."""


ROWS = 8_192
"""Rows of a Parquet file decoded in one go; its row groups are read one at a time."""


Stream = Callable[[Sequence[str] | None], Iterator[Any]]
"""From the names of columns (None: all) to Arrow tables, in order, that together have every row."""


class Cursor:
    """Rows of a stream, best asked for in order: going back starts again from the beginning."""

    def __init__(self, stream: Callable[[], Iterator[Any]]) -> None:
        self._stream = stream
        self._reset()

    def _reset(self) -> None:
        self._coming = self._stream()
        self._held: list[Any] = []
        self._low = self._high = 0

    def rows(self, start: int, stop: int) -> Any:
        """The rows from ``start`` up to ``stop``, or up to the end, as one table."""
        import pyarrow as pa

        if start < self._low:
            self._reset()
        self._fetch(start, stop)
        held = pa.concat_tables(self._held)
        return held.slice(start - self._low, stop - start)

    def _fetch(self, start: int, stop: int) -> None:
        while self._high < stop and (block := next(self._coming, None)) is not None:
            self._held.append(block)
            self._high += len(block)
            self._drop(start)
        self._drop(start)

    def _drop(self, start: int) -> None:
        """Let go of blocks that lie before ``start``; one stays, so that there is a schema."""
        while len(self._held) > 1 and self._low + len(self._held[0]) <= start:
            self._low += len(self._held.pop(0))


@dataclass(frozen=True, eq=False)
class TableInputs:
    """Rows of a table, read when they are asked for; so are ids and labels, all of them or those of some rows.

    columns
        Columns of texts, or the features in their order. Several texts of an item are a tuple.
    id, label
        Columns of ids and labels, where there are any.
    certain
        Whether some rows tell of which type these columns are; else all are read.
    """

    name: str
    kind: Kind
    size: int
    columns: tuple[str, ...]
    stream: Stream = field(repr=False)
    id: str | None = None
    label: str | None = None
    certain: bool = False
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.size

    @cached_property
    def cursor(self) -> Cursor:
        return Cursor(partial(self.stream, self.columns))

    @cached_property
    def _keys(self) -> Cursor:
        return Cursor(partial(self.stream, [one for one in (self.id, self.label) if one is not None]))

    @property
    def labelled(self) -> bool:
        """Whether the truth is known."""
        return self.label is not None

    @cached_property
    def ids(self) -> Any:
        """One per item."""
        return np.arange(self.size) if self.id is None else self._whole(self.id)

    @cached_property
    def labels(self) -> npt.NDArray[Any] | None:
        """One per item, where they are known."""
        return None if self.label is None else _labels(self._whole(self.label))

    def _whole(self, name: str) -> Any:
        import pyarrow as pa

        return _typed(pa.concat_tables(list(self.stream([name]))).column(name))

    def known(self, start: int, stop: int) -> tuple[Any, npt.NDArray[Any] | None]:
        """Ids and labels of some rows; no others are kept, if that can be."""
        if not self.certain:
            return self.ids[start:stop], None if self.labels is None else self.labels[start:stop]
        stop = min(stop, self.size)
        if self.id is None and self.label is None:
            return np.arange(start, stop), None
        rows = self._keys.rows(start, stop)
        labels = None if self.label is None else _labels(as_column(rows.column(self.label), ""))
        return np.arange(start, stop) if self.id is None else as_column(rows.column(self.id), ""), labels

    def batch(self, start: int, stop: int) -> Any:
        rows = self.cursor.rows(start, min(stop, len(self)))
        if self.kind == "text":
            texts = [self._texts(rows.column(at), at, start) for at in range(len(self.columns))]
            return texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))
        return np.column_stack([self._numbers(rows.column(at), name, start) for at, name in enumerate(self.columns)])

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the texts of an item, where it has several."""
        return self.columns if self.kind == "text" and len(self.columns) > 1 else ()

    def _texts(self, column: Any, at: int, start: int) -> list[str]:
        import pyarrow as pa

        texts: list[Any] = column.cast(pa.string()).to_pylist()
        if None in texts:
            raise self._bad("has no text", self.columns[at], start + texts.index(None))
        return texts

    def _numbers(self, column: Any, name: str, start: int) -> npt.NDArray[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_float32(column.type):
            return np.asarray(column.to_numpy())
        if pa.types.is_string(column.type):
            column = pc.utf8_trim_whitespace(column)
        try:
            return np.asarray(column.cast(pa.float64()).to_numpy())
        except pa.ArrowException:
            raise self._bad("is not a number", name, start + _first_word(column)) from None

    def _bad(self, problem: str, column: str, position: int) -> InputsError:
        return InputsError(
            f"{self.name}: '{column}' {problem} for item '{value_at(self.ids, position)}' (row {position + 1:,})",
            rule="every item has a value in every column that the model gets",
            hint="drop these rows; or name the columns that the model gets",
        )


def _first_word(column: Any) -> int:
    """The first cell that is no number."""

    def reads(text: str | None) -> bool:
        try:
            float(text or "nan")
        except ValueError:
            return False
        return True

    return next(at for at, text in enumerate(column.to_pylist()) if not reads(text))


def from_stream(stream: Stream, wanted: Wanted, *, name: str, size: int | None = None) -> TableInputs:
    """The items of a stream of tables; where their number is not known, a first pass counts them."""
    first = next(stream(None), None)
    if first is None or not first.num_columns:
        raise InputsError(f"{name}: there is no row", rule="at least one item")
    have = first.column_names
    label = label_in(wanted, LABELS, have, where=name)
    id_name = named(wanted.id, IDS, have, where=name)
    kind, columns = _what(first, wanted, taken={label, id_name}, name=name)
    size = size or sum(len(block) for block in stream([id_name or label or have[0]]))
    if not size:
        raise InputsError("there is no row under the header", rule="at least one item")
    return TableInputs(
        name=name,
        kind=kind,
        size=size,
        columns=columns,
        stream=stream,
        id=id_name,
        label=label,
        certain=all(_is_certain(first.column(one)) for one in (id_name, label) if one is not None),
        notes=(_said(kind, columns, label, id_name),),
    )


def _is_certain(column: Any) -> bool:
    """Whether other rows cannot change the type: whole numbers, and text that is not all numbers."""
    import pyarrow as pa

    text = pa.types.is_string(column.type) and not isinstance(typed(column), np.ndarray)
    return text or (bool(pa.types.is_integer(column.type)) and not column.null_count)


def _typed(column: Any) -> Any:
    import pyarrow as pa

    return typed(column) if pa.types.is_string(column.type) else as_column(column, "")


def _labels(column: Any) -> npt.NDArray[Any]:
    """Labels as numpy keeps them: numbers, or text."""
    return column if isinstance(column, np.ndarray) else np.array([str(one) for one in column.to_pylist()])


def _what(first: Any, wanted: Wanted, *, taken: set[str | None], name: str) -> tuple[Kind, tuple[str, ...]]:
    """Whether items are texts or rows, and in which columns they are."""
    if wanted.columns and wanted.kind != "text":
        return "row", tuple(pick(one, first.column_names, where=name) for one in wanted.columns)
    free = [one for one in first.column_names if one not in taken]
    numeric = [one for one in free if _is_numeric(first.column(one))]
    words = [one for one in free if one not in numeric]
    if len(wanted.text) > 1:
        return "text", tuple(pick(one, free, where=name) for one in wanted.text)
    text = named(wanted.one_text(), TEXTS, words or free, where=name) or (words[0] if len(words) == 1 else None)
    if wanted.kind == "text" or wanted.text or (wanted.kind is None and text in words and text is not None):
        if text is None:
            raise _which(name, free)
        return "text", (text,)
    if not numeric:
        raise _which(name, free)
    return "row", tuple(numeric)


def _is_numeric(column: Any) -> bool:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind):
        return isinstance(typed(column), np.ndarray)
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _which(name: str, free: list[str]) -> InputsError:
    return InputsError(
        f"{name}: which column is the text, or which are the features?",
        rule="columns: " + ", ".join(free),
        hint=f"--text {free[0] if free else 'COLUMN'}",
    )


def _said(kind: Kind, columns: tuple[str, ...], label: str | None, id_name: str | None) -> str:
    shown = ", ".join(columns[:4]) + (f", ... ({len(columns)} columns)" if len(columns) > 4 else "")
    more = [f"{what} '{name}'" for what, name in (("labels", label), ("ids", id_name)) if name]
    return "; ".join([f"{'text' if kind == 'text' else 'features'}: {shown}", *more])


def from_parquet(path: Path, wanted: Wanted) -> TableInputs:
    """A Parquet file, row group by row group."""

    def stream(columns: Sequence[str] | None) -> Iterator[Any]:
        import pyarrow as pa

        with open_parquet(path, InputsError, mapped=False) as source:
            for batch in source.iter_batches(batch_size=ROWS, columns=None if columns is None else list(columns)):
                yield pa.Table.from_batches([batch]).select(columns or batch.schema.names)

    with open_parquet(path, InputsError) as source:
        size = source.metadata.num_rows
    return from_stream(stream, wanted, name=path.stem, size=size)


def from_csv(path: Path, wanted: Wanted) -> TableInputs:
    """A CSV or TSV file, block by block; cells are text until somebody needs numbers."""
    with _reading(path):
        header, delimiter = _header(path, wanted.encoding)
    stream = partial(_csv_blocks, path, header, delimiter=delimiter, encoding=wanted.encoding or "utf8")
    return from_stream(stream, wanted, name=path.stem)


def _header(path: Path, encoding: str | None) -> tuple[list[str], str]:
    """The names of the columns; the delimiter is a tab for .tsv, else the commoner of comma and semicolon."""
    with open_text(path, encoding, InputsError) as file:
        line = file.readline()
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;", key=line.count)
        file.seek(0)
        names = next(filter(None, csv.reader(file, delimiter=delimiter)), [])
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputsError(f"{path}: the column '{twice[0]}' is there twice", rule="every column has its own name")
    return names, delimiter


def _csv_blocks(
    path: Path, header: list[str], columns: Sequence[str] | None, *, delimiter: str, encoding: str
) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow

    convert = arrow.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()),
        include_columns=None if columns is None else list(columns),
        null_values=list(MISSING),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    options = arrow.ReadOptions(encoding=encoding, block_size=BLOCK, use_threads=False)
    parse = arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with _reading(path), arrow.open_csv(path, options, parse, convert) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def from_table(table: Any, wanted: Wanted, *, name: str) -> TableInputs:
    """A pandas data frame or an Arrow table."""
    import pyarrow as pa

    whole = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)

    def stream(columns: Sequence[str] | None) -> Iterator[Any]:
        yield whole if columns is None else whole.select(list(columns))

    return from_stream(stream, wanted, name=name)


def _reading(path: Path) -> AbstractContextManager[None]:
    return decoding(
        path,
        InputsError,
        kind="CSV",
        rule="a complete CSV file in UTF-8, one value per column in every row",
        hint="--encoding latin-1, if that is what it was written with",
    )


@dataclass(frozen=True)
class CsvFile(BySuffix):
    """A table as text."""

    name: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv")

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        return from_csv(path, wanted)


@dataclass(frozen=True)
class ParquetFile(BySuffix):
    """A table as Parquet."""

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        return from_parquet(path, wanted)
