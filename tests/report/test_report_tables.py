"""Tables: the same cells as HTML, CSV and LaTeX, with nothing in them that a reader's program would run."""

from __future__ import annotations

import csv
import io
import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.exhibit import Cell, Table
from fieldcheck.report.tables import escape_latex, to_csv, to_html, to_latex

TABLE = Table(
    "top/rmse",
    "Top & best",
    ("design", "labels", "RMSE", "note"),
    (("srs", 12_000, 0.03124, "a_b"), ("ssrs", 50, 0.0287, None), ("gbs", 8, math.nan, "50 %")),
)


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_html_aligns_numbers_and_rounds_them() -> None:
    root = ET.fromstring(str(to_html(TABLE)))  # noqa: S314
    heads = [(th.text, th.get("class")) for th in root.findall("thead/tr/th")]
    first = [(cell.text, cell.get("class")) for cell in root.findall("tbody/tr")[0]]
    assert heads == [("design", None), ("labels", "num"), ("RMSE", "num"), ("note", None)]
    assert first == [("srs", None), ("12,000", "num"), ("0.0312", "num"), ("a_b", None)]
    assert root.findall("tbody/tr")[2][2].text == "–"


def test_csv_keeps_numbers_whole() -> None:
    rows = rows_of(to_csv(TABLE))
    assert rows[1] == ["srs", "12000", "0.03124", "a_b"]
    assert rows[2][3] == rows[3][2] == ""


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2+3", "@SUM(A1)", "\tx", "\r=1"])
def test_csv_texts_are_no_formulas(text: str) -> None:
    table = Table("t", "T", (text, "n"), ((text, -0.5),))
    rows = rows_of(to_csv(table))
    assert rows[0][0].startswith("'")
    assert rows[1] == ["'" + text.replace("\r", "\n"), "-0.5"]


cells = st.none() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=10)


@given(rows=st.lists(st.lists(cells, max_size=4).map(tuple), max_size=5))
def test_every_format_has_every_row(rows: list[tuple[Cell, ...]]) -> None:
    table = Table("n", "t", ("a", "b", "c"), tuple(rows))
    assert len(to_html(table).split("<tr>")) == len(rows) + 2
    read = rows_of(to_csv(table))
    assert len(read) == len(rows) + 1
    for row, cells in zip(rows, read[1:], strict=True):
        for cell, text in zip(row, cells, strict=False):
            assert not isinstance(cell, float) or float(text) == cell
    assert to_latex(table).count(r" \\" + "\n") == len(rows) + 1


def test_latex_is_booktabs_with_everything_escaped() -> None:
    text = to_latex(TABLE)
    assert r"\begin{tabular}{lrrl}" in text
    assert r"\caption{Top \& best}" in text
    assert r"\label{tab:top-rmse}" in text
    assert r"srs & 12,000 & 0.0312 & a\_b \\" in text
    assert r"50 \%" in text
    assert [text.index(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == sorted(
        text.index(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")
    )


def test_latex_commands_in_a_text_do_nothing() -> None:
    assert escape_latex(r"\input{x}") == r"\textbackslash{}input\{x\}"
    assert escape_latex("a\n\nb %c $d$ #1 ~ ^") == (r"a b \%c \$d\$ \#1 \textasciitilde{} \textasciicircum{}")
    row = to_latex(Table("t", "t", ("a",), (("[2cm]",), ("*",))))
    assert "{}[2cm]" in row
    assert "{}*" in row
