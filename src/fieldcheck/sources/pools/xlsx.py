"""Spreadsheets: the first sheet that has a table."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.damage import decoding
from fieldcheck.files.limits import check_size
from fieldcheck.sources.pools.records import from_rows
from fieldcheck.sources.roles import ColumnMap
from fieldcheck.sources.table import RawTable


@dataclass(frozen=True)
class ExcelPools:
    """Excel's and LibreOffice's files, read by the package python-calamine."""

    name: ClassVar[str] = "excel"
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".ods")

    def read(self, path: Path, columns: ColumnMap, *, encoding: str | None) -> RawTable:
        """The columns of the first sheet with two columns and two rows; ``encoding`` is not looked at."""
        with decoding(path, PoolError, kind="a spreadsheet", rule="a complete .xlsx or .ods file"):
            with zipfile.ZipFile(path) as archive:
                check_size(path, sum(entry.file_size for entry in archive.infolist()), PoolError)
                _check_area(path, archive)
            names, sheet, rows = _sheet(path)
        others = [name for name in names if name != sheet]
        form = f"Excel, sheet '{sheet}'" + (f" (not: {', '.join(others)})" if others else "")
        return from_rows(rows, Origin(file=str(path)), form=form)


REFERENCE = re.compile(rb"""\sr=["']([A-Za-z]*)(\d*)""")
"""Where a cell or a row says that it is."""
WIDEST, LOWEST = 3, 7
"""Letters of a column, and digits of a row, that a spreadsheet can have."""
SPARE = 4_000_000
"""Cells that may be empty: the reader makes room for all up to the last one."""


def _check_area(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse a sheet whose last cell lies so far out that reading it would take all memory."""
    for entry in archive.infolist():
        if not entry.filename.startswith("xl/worksheets/"):
            continue
        count = right = low = 0
        for letters, digits in (one.groups() for one in REFERENCE.finditer(archive.read(entry))):
            if len(letters) > WIDEST or len(digits) > LOWEST:
                raise _far_out(path, (letters + digits).decode()[:20])
            count, right, low = count + 1, max(right, _column(letters)), max(low, int(digits or 0))
        if right * low > 20 * count + SPARE:
            raise _far_out(path, f"column {right:,} and row {low:,}")


def _far_out(path: Path, where: str) -> PoolError:
    return PoolError(
        f"{path}: a cell of this spreadsheet lies at {where}, far from the others",
        rule="a sheet whose cells are together",
        hint="delete what is far out, or save the sheet as CSV UTF-8",
    )


def _column(letters: bytes) -> int:
    found = 0
    for letter in letters.upper():
        found = 26 * found + letter - 64
    return found


def _sheet(path: Path) -> tuple[list[str], str, list[list[Any]]]:
    book = _calamine(path).CalamineWorkbook.from_path(str(path))
    with book:
        names = list(book.sheet_names)
        for name in names:
            sheet = book.get_sheet_by_name(name)
            if sheet.width > 1 and sheet.height > 1:
                return names, name, sheet.to_python(skip_empty_area=True)
        return names, names[0], book.get_sheet_by_name(names[0]).to_python() if names else []


def _calamine(path: Path) -> Any:
    try:
        import python_calamine
    except ImportError:
        raise PoolError(
            f"{path}: the package python-calamine is not installed",
            rule="spreadsheets are read with it",
            hint='pip install "fieldcheck[excel]", or save the sheet as CSV UTF-8',
        ) from None
    return python_calamine
