"""Files of labels as CSV: read line by line, written so that no spreadsheet runs a cell as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar, TextIO

from fieldcheck.campaign.exchange import label_studio
from fieldcheck.campaign.exchange.base import LABEL, LONGEST, Fault, LabelLine, ToLabel, harmless, meant, readable
from fieldcheck.core import words
from fieldcheck.core.errors import LabelError
from fieldcheck.files.text import long_cells

IDS = (label_studio.OUR_ID, "id")

ANNOTATORS = ("annotator", "by")

REASONS = ("reason", "remark")
"""Names of columns, the best first."""


class CsvLabels:
    """Tables, as spreadsheets write them: commas, semicolons or tabs between the cells."""

    name: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", "")

    @staticmethod
    def recognises(start: str) -> bool:
        return True

    @staticmethod
    def read(stream: TextIO, path: Path) -> Iterator[LabelLine | Fault]:
        return read_csv(stream, path)

    @staticmethod
    def write(items: Sequence[ToLabel], *, by: str, base: str) -> str:
        """The id, what there is to see, and empty columns for the label or the reason of a skip."""
        seen = [(one, one.cells()) for one in items]
        shown = list(dict.fromkeys(column for _, cells in seen for column in cells))
        said = ["prediction"] if any(one.prediction is not None for one in items) else []
        header = ["id", *said, *shown, LABEL, "reason", *(["annotator"] if by else [])]
        rows = (
            [
                one.item,
                *(one.prediction for _ in said),
                *(cells.get(column, "") for column in shown),
                *("", "", by)[: 3 if by else 2],
            ]
            for one, cells in seen
        )
        return as_csv(header, rows)


def read_csv(stream: TextIO, path: Path) -> Iterator[LabelLine | Fault]:
    """What each line says; commas, semicolons or tabs between the cells."""
    lines = _Lines(stream, path)
    first = next(lines)
    delimiter = max(",;\t", key=first.count)
    with long_cells(LONGEST):
        columns: Columns | None = None
        for start, cells in _rows(chain([first], lines), lines, delimiter):
            if columns is None:
                columns = Columns.of(cells, path)
            elif any(cell.strip() for cell in cells):
                yield columns.read(cells, f"line {start:,}")


class _Lines:
    """The lines of a stream, counted; a row that is too long is refused before it is in memory.

    row
        Characters of the row that is being read: whoever has read one begins anew with 0.
    """

    def __init__(self, stream: TextIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self.number = self.row = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(LONGEST)
        if not line:
            raise StopIteration
        self.number += 1
        self.row += len(line)
        if self.row >= LONGEST:
            raise self.broken(
                self.number, f"a row longer than {LONGEST:,} characters", "one item per row; quotes come in pairs"
            )
        return line

    def broken(self, line: int, problem: str, rule: str) -> LabelError:
        return LabelError(f"{self._path}, line {line:,}: {problem}", rule=rule, hint="save it again as CSV UTF-8")


@dataclass(frozen=True)
class Columns:
    """Which cell of a row is what; -1: there is none.

    studio
        Whether it is Label Studio's export.
    """

    item: int
    label: int
    annotator: int
    reason: int
    width: int
    studio: bool

    @classmethod
    def of(cls, header: Sequence[str], path: Path) -> Columns:
        names = [name.strip().lower() for name in header]
        item, label = _first(names, IDS), _first(names, (LABEL,))
        if item < 0 or label < 0:
            raise LabelError(
                f"{path}: no column '{'id' if item < 0 else LABEL}'",
                rule=f"a file of labels has the columns id and {LABEL}; this one has: {', '.join(names)[:200]}",
                hint="a file that `fieldcheck next` wrote, with the labels filled in",
            )
        studio = label_studio.OUR_ID in names
        return cls(item, label, _first(names, ANNOTATORS), _first(names, REASONS), len(names), studio)

    def read(self, cells: Sequence[str], where: str) -> LabelLine | Fault:
        if len(cells) != self.width:
            found, wanted = words.counted(len(cells), "cell"), words.counted(self.width, "column")
            return Fault(where, f"{found} for {wanted}; quote cells that contain the separator")
        line = LabelLine(
            where,
            item=cells[self.item].strip(),
            text=self._cell(cells, self.label),
            by=self._cell(cells, self.annotator),
            reason=self._cell(cells, self.reason),
        )
        return readable(label_studio.from_table(line) if self.studio else line)

    def _cell(self, cells: Sequence[str], at: int) -> str:
        return "" if at < 0 else meant(cells[at].strip())


def _first(names: Sequence[str], wanted: Sequence[str]) -> int:
    return next((names.index(name) for name in wanted if name in names), -1)


def _rows(text: Iterable[str], lines: _Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with the line that each starts on; the header is the first."""
    reader, start = csv.reader(text, delimiter=delimiter, strict=True), 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise lines.broken(start, f"cannot be read as CSV ({error})", "quotes come in pairs") from None
        if cells is None:
            return
        yield start, cells
        start, lines.row = lines.number + 1, 0


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as text, with no cell that a spreadsheet would run as a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([harmless(name) for name in header])
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue()
