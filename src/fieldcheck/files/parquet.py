"""Parquet files, opened when it is known what they unpack to.

The sizes that a Parquet file states are those of its pages, in which a value that recurs is written once: a column of
one long text, a million times, takes next to nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.files.damage import decoding
from fieldcheck.files.limits import allowed, check_size
from fieldcheck.files.places import readable

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value in memory."""


PIECES: dict[str, Any] = {"buffer_size": 1 << 20, "pre_buffer": False}
"""How a file is read that is not mapped: so many bytes at once."""


@contextmanager
def open_parquet(path: Path, error: type[FieldcheckError], *, mapped: bool = True) -> Iterator[Any]:
    """The file; what is wrong with it, also while it is read, is raised as ``error``.

    mapped
        Into memory: quicker; what goes by once is better read piece by piece, and counts as memory only then.
    """
    from pyarrow import parquet

    with (
        decoding(path, error, kind="Parquet", rule="a complete Parquet file"),
        parquet.ParquetFile(readable(path), memory_map=mapped, **({} if mapped else PIECES)) as source,
    ):
        check_size(path, _unpacked(path, source), error)
        yield source


def _unpacked(path: Path, source: Any) -> int:
    """Bytes of all columns; texts as if all were as long as the longest, and counted where that would be too much.

    What the file says about single chunks is not asked for: damaged, it ends the process in C++.
    """
    metadata = source.metadata
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    rows = [group.num_rows for group in groups]
    columns = [source.schema.column(at) for at in range(len(source.schema))]
    fixed: int = sum(group.total_byte_size for group in groups) + sum(rows) * sum(map(_width, columns))
    texts = [column.path for column in columns if not _width(column) and "." not in column.path]
    at_most = fixed + sum(_longest(path, name, rows) for name in texts)
    if at_most <= allowed(path.stat().st_size):
        return at_most
    return fixed + sum(_counted(path, name) for name in texts)


def _width(column: Any) -> int:
    """Bytes of a value; 0 for texts."""
    return WIDTHS.get(column.physical_type) or column.length or 0


def _longest(path: Path, name: str, rows: list[int]) -> int:
    """As if every text were the longest of its row group: the first row brings all of a dictionary."""
    import pyarrow.compute as pc

    total = 0
    with _with_dictionary(path, name) as coded:
        for group, count in enumerate(rows):
            first = next(coded.iter_batches(1, row_groups=[group], columns=[name]), None)
            total += 0 if first is None else count * (pc.max(_lengths(first.column(0))).as_py() or 0)
    return total


def _counted(path: Path, name: str) -> int:
    """All texts, one after the other."""
    import pyarrow.compute as pc

    with _with_dictionary(path, name) as coded:
        batches = (batch.column(0) for batch in coded.iter_batches(columns=[name]))
        return sum(pc.sum(_lengths(one).take(one.indices)).as_py() or 0 for one in batches)


def _lengths(column: Any) -> Any:
    """Bytes of each distinct text; codes are not checked by Arrow, and those of a damaged file point anywhere."""
    import pyarrow.compute as pc

    column.validate(full=True)
    return pc.binary_length(column.dictionary)


def _with_dictionary(path: Path, name: str) -> Any:
    """The file once more, a column of it as codes into its distinct texts."""
    from pyarrow import parquet

    return parquet.ParquetFile(readable(path), memory_map=True, read_dictionary=[name])
