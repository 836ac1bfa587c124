"""Row against column, as coloured cells with what there is to say written in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from fieldcheck.core.exhibit import Matrix
from fieldcheck.core.words import short
from fieldcheck.report.charts import legend
from fieldcheck.report.charts.axes import label_room
from fieldcheck.report.charts.canvas import FONT, NARROW, canvas, listing
from fieldcheck.report.svg import label, number, shorten, tag, text_width

SMALLEST = 8.0  # points of a text in a cell; one that needs less is left to the tooltip


NAME = 150.0  # pixels for the name of a column that stands on end


@dataclass(frozen=True)
class _Layout:
    """``turned``: the names of the columns stand on end, since they are wider than a cell."""

    matrix: Matrix
    left: float
    top: float
    cell: float
    row: float
    turned: bool

    @property
    def bottom(self) -> float:
        return self.top + self.row * len(self.matrix.rows)


def draw_matrix(matrix: Matrix, *, width: float) -> Markup:
    """The matrix as SVG; blue is better and orange worse, which all kinds of colour vision tell apart."""
    layout = _lay_out(matrix, width)
    meanings = tuple(text for _, text in matrix.legend)
    parts = [
        *_column_names(layout),
        *_row_names(layout),
        *_cells(layout),
        legend.rows(meanings, left=0, top=layout.bottom + 12, width=width, swatch=_swatch_of(matrix)),
    ]
    words = f"Matrix of {listing(matrix.rows)} against {listing(matrix.columns)}."
    height = layout.bottom + 16 + legend.places(meanings, left=0, width=width)[1]
    return canvas(parts, name=matrix.name, title=matrix.title, description=words, width=width, height=height)


def _lay_out(matrix: Matrix, width: float) -> _Layout:
    left = label_room(matrix.rows, size=FONT, most=width * 0.3) + 10
    cell = min((width - left - 2) / max(len(matrix.columns), 1), 64.0)
    turned = any(text_width(name, FONT) > cell - 4 for name in matrix.columns)
    top = label_room(matrix.columns, size=FONT, most=NAME) + 10 if turned else 22.0
    row = min(max(cell * 0.7, 22.0), 34.0) if width >= NARROW else 26.0
    return _Layout(matrix, left, top, cell, row, turned)


def _column_names(layout: _Layout) -> Iterator[Markup]:
    for index, name in enumerate(layout.matrix.columns):
        x, y = layout.left + layout.cell * (index + 0.5), layout.top - 6
        if layout.turned:
            turn = f"rotate(-90 {number(x + 4)} {number(y)})"
            yield label(shorten(name, NAME, size=FONT), x=x + 4, y=y, full=name, class_="legend", transform=turn)
        else:
            yield label(name, x=x, y=y, class_="legend", text_anchor="middle")


def _row_names(layout: _Layout) -> Iterator[Markup]:
    for index, name in enumerate(layout.matrix.rows):
        y = layout.top + layout.row * (index + 0.5) + 4
        words = shorten(name, layout.left - 8, size=FONT)
        yield label(words, x=layout.left - 8, y=y, full=name, class_="legend", text_anchor="end")


def _cells(layout: _Layout) -> Iterator[Markup]:
    for row, values in enumerate(layout.matrix.values[: len(layout.matrix.rows)]):
        for column, value in enumerate(values[: len(layout.matrix.columns)]):
            yield _cell(layout, row, column=column, value=value)


def _cell(layout: _Layout, row: int, *, column: int, value: float) -> Markup:
    matrix, text = layout.matrix, _text(layout.matrix, row, column)
    x, y = layout.left + layout.cell * column, layout.top + layout.row * row
    said = text or ("" if math.isnan(value) else short(value))
    words = f"{matrix.rows[row]} against {matrix.columns[column]}: {said}" if said else matrix.rows[row]
    box = {"x": x + 1, "y": y + 1, "width": max(layout.cell - 2, 1.0), "height": layout.row - 2, "rx": 3}
    rect = tag("rect", tag("title", words), class_=f"cell {_kind(value)}", fill_opacity=_strength(value), **box)
    return rect + _written(text, x=x + layout.cell / 2, y=y + layout.row / 2, room=layout.cell - 4)


def _written(text: str, *, x: float, y: float, room: float) -> Markup:
    size = min(11.5, 11.5 * room / max(text_width(text, 11.5), 1e-9)) if text else 0.0
    if size < SMALLEST:
        return Markup()
    return label(text, x=x, y=y + size * 0.35, size=round(size, 1), class_="in-cell", text_anchor="middle")


def _text(matrix: Matrix, row: int, column: int) -> str:
    inside = row < len(matrix.texts) and column < len(matrix.texts[row])
    return matrix.texts[row][column] if inside else ""


def _kind(value: float) -> str:
    if math.isnan(value):
        return "none"
    return "better" if value > 0 else "worse" if value < 0 else "same"


def _strength(value: float) -> float:
    """Opacity: a quarter for the faintest difference, full for 1 and -1."""
    return 1.0 if math.isnan(value) or value == 0 else 0.25 + 0.75 * min(abs(value), 1.0)


def _swatch_of(matrix: Matrix) -> legend.Swatch:
    def swatch(index: int, x: float, y: float) -> Markup:
        value = matrix.legend[index][0]
        box = {"x": x, "y": y - 7, "width": 20, "height": 14, "rx": 3}
        return tag("rect", class_=f"swatch {_kind(value)}", fill_opacity=_strength(value), **box)

    return swatch
