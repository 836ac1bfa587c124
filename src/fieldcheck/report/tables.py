"""A table as HTML, as CSV and as LaTeX, and what a figure shows as a table."""

from __future__ import annotations

import csv
import io
import math
import re
from itertools import zip_longest

from markupsafe import Markup

from fieldcheck.core import words
from fieldcheck.core.exhibit import BarChart, Cell, Exhibit, IntervalChart, Line, LineChart, Matrix, Table
from fieldcheck.report.svg import tag

# A spreadsheet runs a text that starts like this (OWASP, "CSV injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "∞": r"$\infty$",
    "χ": r"$\chi$",
    "ξ": r"$\xi$",
    "τ": r"$\tau$",
    "ε": r"$\varepsilon$",
    "√": r"$\surd$",
    "²": r"\textsuperscript{2}",
}


_Rows = tuple[tuple[Cell, ...], ...]


WORDY = 30
"""Characters from which a cell wants a line of its own length."""


def tabulated(exhibit: Exhibit, *, exact: bool = False) -> Table:
    """What the exhibit shows, as a table; ``exact``: the numbers behind the texts of a matrix."""
    if isinstance(exhibit, Table):
        return exhibit
    columns, rows = _figure(exhibit, exact=exact)
    return Table(exhibit.name, exhibit.title, columns, rows, exhibit.note)


def _figure(exhibit: LineChart | IntervalChart | BarChart | Matrix, *, exact: bool) -> tuple[tuple[str, ...], _Rows]:
    if isinstance(exhibit, Matrix):
        cells: _Rows = exhibit.exact if exact and exhibit.exact else exhibit.texts or exhibit.values
        return ("", *exhibit.columns), tuple((name, *line) for name, line in zip(exhibit.rows, cells, strict=True))
    if isinstance(exhibit, BarChart):
        return (exhibit.x_label, *exhibit.series), tuple(zip(exhibit.groups, *exhibit.values, strict=True))
    if isinstance(exhibit, IntervalChart):
        return ("", "estimate", "low", "high"), tuple((r.label, r.value, r.low, r.high) for r in exhibit.rows)
    points = [(line.label, *point) for line in exhibit.lines for point in zip_longest(*_columns(line))]
    return ("line", exhibit.x_label, exhibit.y_label, "low", "high"), tuple(points)


def _columns(line: Line) -> tuple[tuple[float, ...], ...]:
    return line.x, line.y, line.low, line.high


def to_html(table: Table) -> Markup:
    """The table itself; the first column names the rows, columns of numbers are aligned at the right."""
    kinds = [_is_numeric(table, column) for column in range(len(table.columns))]
    head = tag("tr", *(_head(name, number=number) for name, number in zip(table.columns, kinds, strict=True)))
    body = [
        tag("tr", *_row(row, kinds), class_="grey" if at in table.grey else None) for at, row in enumerate(shown(table))
    ]
    return tag("table", tag("thead", head), tag("tbody", *body))


def _head(name: str, *, number: bool) -> Markup:
    return tag("th", name, scope="col", class_="num" if number else None)


def _row(cells: list[str], numbers: list[bool]) -> list[Markup]:
    first, rest = cells[:1], zip(cells[1:], numbers[1:], strict=True)
    heads = [tag("th", cell, scope="row", class_="num" if numbers[0] else None) for cell in first]
    return heads + [tag("td", cell, class_=_kind(cell, number=number)) for cell, number in rest]


def _kind(cell: str, *, number: bool) -> str | None:
    """Numbers keep to the right; on a phone, words are not squeezed into a column of single ones."""
    return "num" if number else "words" if len(cell) > WORDY else None


def shown(table: Table) -> list[list[str]]:
    """Each cell as people read it; short rows are filled up, so that every row has a cell in every column."""
    columns = [_column(table, index) for index in range(len(table.columns))]
    return [list(row) for row in zip(*columns, strict=True)]


def _values(table: Table, column: int) -> list[Cell]:
    return [row[column] if column < len(row) else None for row in table.rows]


def _is_numeric(table: Table, column: int) -> bool:
    """Whether the column holds numbers and nothing else."""
    found = [value for value in _values(table, column) if value is not None]
    return bool(found) and all(_is_number(value) for value in found)


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _column(table: Table, column: int) -> list[str]:
    values = _values(table, column)
    decimals = words.column_decimals(value for value in values if isinstance(value, float))
    return [_shown(value, decimals) for value in values]


def _shown(value: Cell, decimals: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return words.count(value)
    return words.in_column(float(value), decimals) if isinstance(value, float) else str(value)


def to_csv(table: Table) -> str:
    """Comma-separated, at full precision. An apostrophe keeps spreadsheets from running texts as formulas."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_plain(name) for name in table.columns])
    for row in table.rows:
        writer.writerow([_plain(row[index] if index < len(row) else None) for index in range(len(table.columns))])
    return out.getvalue()


def _plain(value: Cell) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        text = "\n".join(value.splitlines()) if "\r" in value else value  # a bare \r ends a row for some readers
        return "'" + text if value.startswith(_FORMULA) else text
    return repr(float(value)) if isinstance(value, float) else str(value)


def to_latex(table: Table) -> str:
    """A floating table for LaTeX with booktabs, every special character escaped."""
    kinds = "".join("r" if _is_numeric(table, column) else "l" for column in range(len(table.columns)))
    body = [_latex_row(row) for row in shown(table)]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(table.title)}}}",
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9:-]+', '-', table.name)}}}",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        _latex_row(list(table.columns)),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\footnotesize {escape_latex(table.note)}"] if table.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(cells: list[str]) -> str:
    # A cell that starts with a bracket would be taken for the optional argument of the line break before it.
    guarded = ("{}" + escape_latex(cell) if cell.startswith(("[", "*")) else escape_latex(cell) for cell in cells)
    return " & ".join(guarded) + r" \\"


def escape_latex(text: str) -> str:
    """The text with everything that LaTeX would take for a command written out."""
    text = "--" if text == words.MISSING else text
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))
