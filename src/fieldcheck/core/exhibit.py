"""What there is to show, as plain values: whoever measures makes exhibits, whoever shows draws them.

A table or chart is the same object on the terminal, in HTML, as CSV and as LaTeX; ``name`` is a slug, unique in a
report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Rows of cells. Floats are rounded by whoever shows them; None is an empty cell.

    grey
        Rows, from 0, that say less than the others.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    grey: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Line:
    """One line of a chart; ``low`` and ``high`` draw a band around it."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class LineChart:
    """Lines over a common axis; ``reference`` is a horizontal line that they are compared with.

    share
        Whether heights are shares, written in percent.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    x_log: bool = False
    y_log: bool = False
    reference: float | None = None
    reference_label: str = ""
    note: str = ""
    share: bool = False


@dataclass(frozen=True)
class IntervalRow:
    """One estimate with its bounds; a row that is not trusted is drawn as such.

    remark
        What stands in place of the numbers, where there are none to show: the row is grey.
    """

    label: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    trusted: bool = True
    remark: str = ""


@dataclass(frozen=True)
class IntervalChart:
    """Estimates beside each other, with the truth where it is known, or another value that they are held against.

    share
        Whether they are shares, written in percent.
    """

    name: str
    title: str
    x_label: str
    rows: tuple[IntervalRow, ...]
    truth: float | None = None
    note: str = ""
    truth_label: str = "truth"
    share: bool = False


@dataclass(frozen=True)
class BarChart:
    """Groups of bars: ``values[series][group]``."""

    name: str
    title: str
    x_label: str
    y_label: str
    groups: tuple[str, ...]
    series: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Matrix:
    """Row against column. ``values`` in [-1, 1]: 1 where the row is better, -1 where it is worse, nan on the diagonal.

    texts
        What is written in each cell; empty: nothing.
    exact
        The numbers that the texts round, for files; empty where the texts are no numbers.
    legend
        What the values mean, in the order in which to list them.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()
    exact: tuple[tuple[float, ...], ...] = ()
    legend: tuple[tuple[float, str], ...] = field(
        default=((1.0, "row better"), (0.0, "no difference"), (-1.0, "row worse"))
    )
    note: str = ""


Exhibit = Table | LineChart | IntervalChart | BarChart | Matrix
