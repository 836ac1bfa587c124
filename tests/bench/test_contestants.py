"""Technique × auxiliary variable against each other; the same numbers as CSV, as LaTeX and in the chart."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np
import pytest

from fieldcheck.bench import Cell, CellResult, Result, Study, analyse, evidence, run
from fieldcheck.bench.exhibits.contestants import contestant_matrices, pairs_table
from fieldcheck.core.exhibit import BarChart, IntervalChart, IntervalRow, Line, LineChart, Matrix
from fieldcheck.report import svg_file, tabulated, to_csv, to_latex

from .subjects import write_subject


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Result:
    subject = write_subject(tmp_path_factory.mktemp("pool") / "one.csv", third="lsa")
    auxiliaries = ("confidence", "dsa", "lsa", "combined")
    return run(Study([subject], ("deepest", "sups", "ssrs"), auxiliaries, (20, 40), repetitions=6))


def cell(design: str, auxiliary: str, errors: list[float], failures: list[int]) -> CellResult:
    values = 0.5 + np.array(errors)
    counts = np.array(failures)
    return CellResult(
        cell=Cell("s", design, auxiliary, 200), task="classification", truth=0.5, failing=50, values=values,
        low=values, high=values, trusted=values > 0, failures=counts, exposed=counts // 2, labels=counts,
    )  # fmt: skip


def test_by_hand():
    """MSE .01 against .04: four times as precise; 30 failures against 20; half of them distinct, of 50."""
    first = cell("deepest", "dsa", [0.1, -0.1], [30, 30])
    second = cell("deepest", "lsa", [0.2, -0.2], [20, 20])
    table = pairs_table(Result((first, second), seed=0, level=0.95))
    line = dict(zip(table.columns, table.rows[0], strict=True))
    assert (line["technique"], line["auxiliary"], line["other auxiliary"]) == ("deepest", "dsa", "lsa")
    assert line["relative precision"] == pytest.approx(4)
    assert line["relative failures"] == pytest.approx(1.5)
    assert (line["share of all failures, %"], line["of the other, %"]) == (30.0, 20.0)
    back = dict(zip(table.columns, table.rows[1], strict=True))
    assert back["relative precision"] == pytest.approx(0.25)
    assert back["p (errors)"] == line["p (errors)"]


def test_a_perfect_contestant_is_infinitely_precise():
    perfect, other = cell("ssrs", "dsa", [0, 0], [0, 0]), cell("sups", "dsa", [0.1, 0.1], [2, 2])
    result = Result((perfect, other), seed=0, level=0.95)
    precision = next(one for one in contestant_matrices(result) if one.name == "contestants/precision-s")
    assert precision.exact[0][1] == math.inf
    assert precision.exact[1][0] == 0
    assert "<svg" in svg_file(precision)


def test_leaks_do_not_compete():
    told = cell("ssrs", "told", [0, 0], [9, 9])
    fair = cell("srs", "none", [0.1, 0.1], [2, 2])
    assert contestant_matrices(Result((told, fair), seed=0, level=0.95, leaks=(("s", "told"),))) == []


def test_twelve_contestants_meet(twelve):
    matrices = {one.name: one for one in contestant_matrices(twelve)}
    assert set(matrices) == {
        "contestants/wins",
        *(f"contestants/{kind}-one" for kind in ("precision", "failures", "precision-p", "failures-p")),
    }
    for matrix in matrices.values():
        assert np.shape(matrix.values) == np.shape(matrix.texts) == (12, 12)
    assert len(pairs_table(twelve).rows) == 2 * 12 * 11
    ratios = np.array(matrices["contestants/precision-one"].exact)
    off = ~np.eye(12, dtype=bool)
    assert (ratios * ratios.T)[off] == pytest.approx(1)


def test_csv_latex_and_chart_agree(twelve):
    for matrix in contestant_matrices(twelve):
        exact = list(csv.reader(io.StringIO(to_csv(tabulated(matrix, exact=True)))))
        latex = [
            line.removesuffix(r" \\").split(" & ") for line in to_latex(tabulated(matrix)).splitlines() if " & " in line
        ]
        drawn = dict(re.findall(r"<title>([^<]+? against [^<]+?): ([^<]+)</title>", svg_file(matrix)))
        assert len(exact) == len(latex) == 13
        for i, row in enumerate(matrix.rows):
            for j, column in enumerate(matrix.columns):
                if i != j:
                    text = exact[i + 1][j + 1]
                    text = f"{float(text):.3g}" if matrix.exact else text
                    assert text == latex[i + 1][j + 1] == drawn[f"{row} against {column}"]


def test_exact_p_values_are_in_files(twelve):
    found = {table.name: table for table in evidence(twelve)}
    assert set(found) == {"significance/dunn", "contestants/pairs"}
    dunn = found["significance/dunn"]
    assert len(dunn.rows) == 4 * 2 * 3
    shown = [one for one in analyse(twelve) if isinstance(one, Matrix) and one.name == "significance/dunn-one-dsa"]
    by_pair = {(row[3], row[4]): row[6] for row in dunn.rows if row[1:3] == ("dsa", 40)}
    matrix = shown[0]
    assert matrix.exact[0][1] == by_pair[matrix.rows[0], matrix.rows[1]]


def test_every_figure_is_a_table_too():
    bars = BarChart("a/b", "t", "where", "y", ("p", "q"), ("one", "two"), ((1.0, 2.0), (3.0, 4.0)))
    assert tabulated(bars).columns == ("where", "one", "two")
    assert tabulated(bars).rows == (("p", 1.0, 3.0), ("q", 2.0, 4.0))
    lines = LineChart(
        "a/b", "t", "x", "y", (Line("l", (1.0, 2.0), (3.0, 4.0), (0.0, 1.0), (5.0, 6.0)), Line("m", (1.0,), (2.0,)))
    )
    assert tabulated(lines).rows == (("l", 1.0, 3.0, 0.0, 5.0), ("l", 2.0, 4.0, 1.0, 6.0), ("m", 1.0, 2.0, None, None))
    estimates = IntervalChart("a/b", "t", "x", (IntervalRow("r", 0.5, 0.4, 0.6),))
    assert tabulated(estimates).rows == (("r", 0.5, 0.4, 0.6),)
