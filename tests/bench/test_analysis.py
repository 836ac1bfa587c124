"""The papers' tables and matrices, on rows made by hand and on a small comparison."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.bench import Cell, CellResult, Result, Study, analyse, run
from fieldcheck.bench.analysis import significance
from fieldcheck.bench.exhibits.sensitivity import budget_tables, parameter_charts, parameters
from fieldcheck.bench.ranking import (
    CRITERIA,
    best_auxiliary_table,
    criterion_ranks,
    efficiency_table,
    failures_table,
    geometric_mean,
    top_three,
    top_three_table,
    wins_matrix,
)
from fieldcheck.bench.rows import configurations
from fieldcheck.core.exhibit import BarChart, LineChart, Matrix, Table

from .subjects import make_row, write_subject

small = st.integers(1, 4).map(float)
some_rows = st.lists(st.tuples(small, small), min_size=2, max_size=6).map(
    lambda pairs: [make_row(f"design{i}", *pair) for i, pair in enumerate(pairs)]
)


def lines(table: Table) -> list[dict[str, object]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_rows_without_auxiliary_take_part_everywhere():
    rows = [make_row("srs", 3, 1), make_row("sups", 2, 2), make_row("sups", 1, 2, auxiliary="dsa")]
    met = {config.auxiliary: [row["design"] for row in members] for config, members in configurations(rows).items()}
    assert met == {"confidence": ["srs", "sups"], "dsa": ["srs", "sups"]}
    assert [config.auxiliary for config in configurations(rows[:1])] == ["none"]


@given(some_rows)
def test_ranks_sum_to_what_they_must(rows):
    n = len(rows)
    for ranks in criterion_ranks(rows).values():
        assert ranks.sum() == pytest.approx(n * (n + 1) / 2)


def test_ranks_by_hand():
    ranks = criterion_ranks([make_row("a", 1, 5), make_row("b", 2, 9), make_row("c", 3, 5)])
    assert ranks["RMSE"].tolist() == [1, 2, 3]
    assert ranks["failures"].tolist() == [2.5, 1, 2.5]
    assert ranks["RMSE-failures"].tolist() == [1.75, 1.5, 2.75]


@given(some_rows)
def test_wins_are_antisymmetric(rows):
    values = np.array(wins_matrix(rows).values)
    off = ~np.eye(len(values), dtype=bool)
    assert np.array_equal(values[off], -values.T[off])
    assert np.all(np.isnan(np.diag(values)))


@given(some_rows, st.randoms(use_true_random=False))
def test_top_three_do_not_depend_on_the_order_of_techniques(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    for criterion in CRITERIA:
        assert top_three(configurations(rows), criterion) == top_three(configurations(shuffled), criterion)


def test_wins_count_both_or_nothing():
    rows = [make_row("srs", 3, 1), make_row("ces", 4, 0), make_row("sups", 2, 2), make_row("gbs", 1, 1)]
    rows += [make_row("sups", 2, 0, auxiliary="dsa")]
    matrix = wins_matrix(rows)
    text = {(r, c): matrix.texts[i][j] for i, r in enumerate(matrix.rows) for j, c in enumerate(matrix.columns)}
    assert text["sups", "srs"] == "1 : 0"
    assert text["gbs", "srs"] == "0 : 0"
    assert text["srs", "ces"] == "1 : 0"
    value = matrix.values[matrix.rows.index("sups")][matrix.columns.index("srs")]
    assert value == 0.5


def test_top_three_counts_podiums():
    rows = [make_row(d, rmse, 1, budget=n) for n in (50, 400) for d, rmse in zip("abcd", (1, 2, 3, 4), strict=True)]
    assert top_three(configurations(rows), "RMSE") == [("a", 2), ("b", 2), ("c", 2)]
    table = lines(top_three_table(rows))
    assert {line["level"] for line in table if line["factor"] == "budget"} == {"up to 200", "over 200"}
    assert {line["level"] for line in table if line["factor"] == "accuracy"} == {"low"}
    assert table[0] | {"1st": "a (2)", "2nd": "b (2)", "3rd": "c (2)"} == table[0]


def test_efficiency_is_the_ratio_of_mean_squared_errors():
    rows = [make_row("srs", 4, 2), make_row("sups", 2, 4, exposed_mean=3)]
    rows += [make_row("srs", 4, 2, subject="t"), make_row("sups", 8, 1, subject="t")]
    (line,) = lines(efficiency_table(rows))
    assert line["technique"] == "sups"
    assert line["MSE ratio"] == pytest.approx(math.sqrt(0.25 * 4))
    assert line["failing draws ratio"] == pytest.approx(math.sqrt(2 * 0.5))
    assert line["failing items ratio"] == pytest.approx(math.sqrt(1.5 * 0.5))
    assert efficiency_table([make_row("sups", 1, 1), make_row("gbs", 1, 1)]) is None


def test_geometric_mean_skips_what_has_no_logarithm():
    assert geometric_mean([2, 8, 0, math.nan, math.inf]) == pytest.approx(4)
    assert math.isnan(geometric_mean([]))


def test_best_auxiliary_counts_contests():
    rows = [make_row("sups", 1, 1), make_row("sups", 2, 5, auxiliary="dsa"), make_row("srs", 0.5, 9)]
    found = {line["auxiliary"]: line for line in lines(best_auxiliary_table(rows))}
    assert (found["confidence"]["RMSE"], found["confidence"]["failures"]) == (1, 0)
    assert (found["dsa"]["RMSE"], found["dsa"]["failures"]) == (0, 1)
    assert best_auxiliary_table(rows[:1]) is None


def test_failures_stand_beside_each_other():
    rows = [make_row("srs", 1, 7, exposed_mean=6.5), make_row("srs", 1, 9, subject="t")]
    table = failures_table(rows, 200)
    parts = ("draws", "sd", "items", "share")
    assert table.columns == ("auxiliary", "technique", *(f"{s} {part}" for s in "st" for part in parts))
    assert table.rows == (("none", "srs", 7, 1.0, 6.5, 6.5, 9, 1.0, 9, 9.0),)


def test_an_item_drawn_twice_is_two_draws_and_one_item(tmp_path):
    """Thirty items, all failing, drawn thirty times with replacement."""
    path = tmp_path / "tiny.csv"
    path.write_text("prediction,outcome\n" + "a,Fail\n" * 30)
    result = run(Study([path], ("srs:replace=yes",), budgets=(30,), repetitions=3))
    (line,) = lines(failures_table(result.rows(), 30))
    assert line["tiny draws"] == 30
    assert line["tiny items"] == np.mean([one for cell in result.cells for one in cell.labels]) < 30
    summary = lines(analyse(result)[0])[0]
    assert (summary["failures_mean"], summary["exposed_mean"]) == (line["tiny draws"], line["tiny items"])


def test_budget_sensitivity_by_hand():
    rmse = {"s": (5, 2, 3), "t": (1, 4, 2)}
    rows = [
        make_row("srs", rmse[s][i], n / 10, subject=s, budget=n) for s in rmse for i, n in enumerate((50, 200, 800))
    ]
    first, second = budget_tables(rows)
    assert first.rows == (("classification", "srs", "none", 2, 1, 1, 0, 1),)
    assert second.rows == (("classification", "srs", "none", 2, 5.0, 80.0, 16.0, 5.0, 80.0, 16.0),)
    assert budget_tables(rows[:1]) == []


def test_parameters_of_a_spec():
    assert parameters("deepest:r=0.6,weights=selected") == {"r": "0.6", "weights": "selected"}
    assert parameters("srs") == {}


def test_parameter_study_includes_the_default():
    rows = [make_row(d, rmse, 1) for d, rmse in (("ssrs:k=6", 3), ("ssrs", 2), ("ssrs:k=12", 4), ("srs", 5))]
    charts = parameter_charts(rows)
    assert [chart.name for chart in charts] == [
        "sensitivity/ssrs-k-confidence-rmse",
        "sensitivity/ssrs-k-confidence-draws",
        "sensitivity/ssrs-k-confidence-items",
    ]
    (line,) = charts[0].lines
    assert line.x == (6.0, 10.0, 12.0)
    assert line.y == pytest.approx((3, 2, 4))


def made_cell(design: str, auxiliary: str, errors: np.ndarray) -> CellResult:
    ones = np.ones(len(errors), dtype=np.int64)
    return CellResult(
        cell=Cell("s", design, auxiliary, 200),
        task="classification",
        truth=0.8,
        failing=100,
        values=0.8 + errors,
        low=0.7 + errors,
        high=0.9 + errors,
        trusted=ones.astype(bool),
        failures=ones,
        exposed=ones,
        labels=200 * ones,
    )


def test_significance_tells_good_from_bad_and_leaves_out_leaks():
    spread = np.linspace(-0.1, 0.1, 31)
    cells = (
        made_cell("srs", "none", spread),
        made_cell("ssrs", "dsa", spread / 50),
        made_cell("sups", "dsa", spread * 1.01),
        made_cell("ssrs", "told", spread * 0),
    )
    result = Result(cells, seed=0, level=0.95, leaks=(("s", "told"),))
    found = {one.name: one for one in significance(result)}
    assert set(found) == {"significance/friedman", "significance/dunn-all", "significance/dunn-s-dsa"}
    (line,) = lines(found["significance/friedman"])
    assert line["technique"] == "ssrs"
    assert line["p"] < 1e-6
    matrix = found["significance/dunn-s-dsa"]
    assert matrix.rows == ("srs", "ssrs", "sups")
    assert [value for value in matrix.values[1] if not math.isnan(value)] == [1, 1]
    assert matrix.values[0][2] == 0
    assert found["significance/dunn-all"].texts[1][0] == "1 : 0"


def test_a_whole_analysis(tmp_path):
    paths = [write_subject(tmp_path / "one.csv"), write_subject(tmp_path / "steer.csv", regression=True)]
    plan = Study(paths, ("srs", "ssrs", "ssrs:k=5", "sups"), ("confidence", "sae", "lsa"), (20, 40), repetitions=5)
    result = run(plan)
    exhibits = analyse(result)
    names = [one.name for one in exhibits]
    assert len(names) == len(set(names))
    assert all(name.count("/") == 1 for name in names)
    sections = {name.partition("/")[0] for name in names}
    assert sections == {
        *("summary", "significance", "ranking", "failures", "sensitivity"),
        *("estimates", "rmse", "rmse-bars", "error-bars", "coverage", "found", "efficiency", "failing"),
        *("offsets", "contestants"),
    }
    for one in exhibits:
        check_shape(one)


def check_shape(one: object) -> None:
    if isinstance(one, Table):
        assert all(len(row) == len(one.columns) for row in one.rows)
    elif isinstance(one, Matrix):
        assert np.shape(one.values) == np.shape(one.texts) == (len(one.rows), len(one.columns))
    elif isinstance(one, BarChart):
        assert np.shape(one.values) == (len(one.series), len(one.groups))
    elif isinstance(one, LineChart):
        assert all(len(line.x) == len(line.y) for line in one.lines)


def test_the_smallest_comparison_is_analysed(tmp_path):
    plan = Study([write_subject(tmp_path / "one.csv")], ("srs",), budgets=(20,), repetitions=1)
    sections = {one.name.partition("/")[0] for one in analyse(run(plan))}
    assert "significance" not in sections
    assert "summary" in sections


def test_mean_chart_has_the_truth_and_a_band(tmp_path):
    plan = Study([write_subject(tmp_path / "one.csv")], ("srs", "sups"), ("confidence",), (20, 40), repetitions=8)
    result = run(plan)
    chart = next(one for one in analyse(result) if one.name == "estimates/one-confidence")
    assert chart.reference == result.cells[0].truth
    line = chart.lines[0]
    spread = [np.std(one.values) for one in result.cells[:2]]
    assert np.array(line.high) - np.array(line.y) == pytest.approx(spread)
