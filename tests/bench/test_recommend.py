"""Recommendations from measured rows, and the files that hold them."""

from __future__ import annotations

import json
import math

import pytest

from fieldcheck.bench import Study, compact_json, measured_rows, recommend, run
from fieldcheck.core.errors import BenchError

from .subjects import make_row, write_subject


@pytest.fixture
def rows():
    found = []
    for i, subject in enumerate("pqrs"):
        for n in (50, 200, 800):
            wobble = 1 + 0.01 * i
            place = {"subject": subject, "budget": n, "truth": 0.7 if subject in "pq" else 0.95}
            found += [
                make_row("srs", 0.4 / n**0.5 * wobble, 0.1 * n, **place),
                make_row("ssrs", 0.2 / n**0.5, 0.2 * n, **place),
                make_row("sups", 0.6 / n**0.5, 0.5 * n, **place),
                make_row("gbs", 0.3 / n**0.5, 0.3 * n, **place, auxiliary="dsa"),
            ]
    return found


def test_objectives_have_their_winners(rows):
    assert recommend(rows, objective="estimate").best.design == "ssrs"
    assert recommend(rows, objective="expose").best.design == "sups"


def test_balanced_is_the_mean_of_the_ranks(rows):
    answer = recommend(rows, objective="balanced")
    ranks = {one.design: one.mean_rank for one in answer.standings}
    assert ranks == {"ssrs": 2.0, "gbs": 2.0, "sups": 2.5, "srs": 3.5}


def test_evidence_is_relative_to_srs(rows):
    best = recommend(rows, objective="expose").best
    assert best.failures_ratio == pytest.approx(5)
    assert best.rmse_ratio == pytest.approx(1.5 / (1 * 1.01 * 1.02 * 1.03) ** 0.25)
    assert (best.cells, best.subjects) == (12, 4)
    srs = next(one for one in recommend(rows).standings if one.design == "srs")
    assert math.isnan(srs.rmse_ratio)


def test_nearest_budget_on_a_logarithmic_scale(rows):
    assert recommend(rows, budget=200).budgets == (200,)
    assert recommend(rows, budget=90).budgets == (50,)
    assert recommend(rows, budget=101).budgets == (200,)
    assert recommend(rows, budget=100).budgets == (50, 200)
    assert "was not measured" in str(recommend(rows, budget=90))


def test_filters(rows):
    assert recommend(rows, objective="estimate", auxiliary="dsa").best.design == "gbs"
    assert recommend(rows, accuracy="high").best.subjects == 2
    assert recommend(rows, task="classification").best.cells == 12


def test_every_question_of_the_notebook(rows):
    """Partitioning, replacement, subject, group and a range of budgets, alone and together."""
    rows = [{**row, "group": "old" if row["subject"] in "pq" else "new"} for row in rows]
    assert {one.design for one in recommend(rows, partitioning="yes").standings} == {"ssrs", "gbs"}
    assert {one.design for one in recommend(rows, replacement="with").standings} == {"sups"}
    assert recommend(rows, subject="p").best.cells == 3
    assert recommend(rows, group="new").best.subjects == 2
    answer = recommend(rows, objective="expose", group="new", budget=(100, 900), partitioning="yes", accuracy="high")
    assert (answer.best.design, answer.budgets, answer.best.cells) == ("gbs", (200, 800), 4)
    assert answer.best.failures_ratio == pytest.approx(3)  # of srs, which the filter leaves out
    assert recommend(rows, budget=(300, 400)).budgets == (200,)


def test_the_top_three_are_counted(rows):
    answer = recommend(rows, objective="estimate")
    assert answer.configurations == 24  # twelve places with confidence, twelve with dsa
    assert answer.top == (("srs", 24), ("gbs", 12), ("ssrs", 12))  # equals by name
    assert [one.podiums for one in answer.standings] == [12, 12, 12, 0]
    assert "of 24 configurations: srs (24), gbs (12), ssrs (12)." in str(answer)
    assert answer.to_dict()["top"][0] == {"design": "srs", "podiums": 24}


def test_outliers_count_only_where_they_are_asked_for():
    rows = [make_row("ssrs", 9, 1, rmedse=0.1), make_row("gbs", 1, 2, rmedse=0.5), make_row("srs", 2, 3, rmedse=0.9)]
    assert recommend(rows, objective="estimate").best.design == "gbs"
    assert recommend(rows, objective="estimate-median").best.design == "ssrs"
    ranks = {one.design: one.mean_rank for one in recommend(rows, objective="balanced-median").standings}
    assert ranks == {"ssrs": 2.0, "gbs": 2.0, "srs": 2.0}


def test_refusals_name_the_filters_that_leave_something(rows):
    with pytest.raises(BenchError) as caught:
        recommend(rows, task="regression", accuracy="low")
    assert "without --task" in caught.value.hint
    assert "without --accuracy" not in caught.value.hint
    with pytest.raises(BenchError, match="lsa"):
        recommend(rows, auxiliary="lsa")
    with pytest.raises(BenchError):
        recommend([])


@pytest.mark.parametrize(
    "wrong",
    [
        *({"objective": "win"}, {"accuracy": "middling"}, {"budget": 0}, {"budget": (400, 100)}),
        *({"partitioning": "some"}, {"replacement": "yes"}, {"group": "absent"}),
    ],
)
def test_wrong_questions_are_refused(rows, wrong):
    with pytest.raises(BenchError):
        recommend(rows, **wrong)


def test_a_difference_must_be_more_than_noise():
    def subject(name: str, first: float, second: float) -> list:
        return [make_row("ssrs", first, 1, subject=name), make_row("gbs", second, 1, subject=name)]

    steady = [row for i, s in enumerate("abcde") for row in subject(s, 1.0, 1.3 + 0.01 * i)]
    shaky = [
        row
        for s, (x, y) in zip("abcde", [(1, 2), (2, 1), (1, 1.5), (1.5, 1), (1, 1.1)], strict=True)
        for row in subject(s, x, y)
    ]
    assert recommend(steady, objective="estimate").clear
    answer = recommend(shaky, objective="estimate")
    assert not answer.clear
    assert "may be noise" in str(answer)
    single = recommend(subject("a", 1, 2), objective="estimate")
    assert single.p_value is None
    assert "cannot tell" in str(single)


def test_a_technique_measured_in_few_cells_is_not_recommended(rows):
    lucky = make_row("lucky", 1e-9, 1e9, subject="p", budget=50)
    assert recommend([*rows, lucky]).best.design != "lucky"


def test_it_prints_and_serialises(rows):
    answer = recommend(rows, objective="estimate", budget=200, task="classification")
    text = str(answer)
    assert text.startswith("ssrs with confidence")
    assert "12" not in text.splitlines()[0]
    content = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert content["design"] == "ssrs"
    assert content["asked"] == {"task": "classification", "budget": 200}


@pytest.fixture
def result(tmp_path):
    return run(Study([write_subject(tmp_path / "one.csv")], ("srs", "ssrs"), ("confidence",), (20, 50), repetitions=4))


def test_compact_rows_come_back_to_five_digits(result, tmp_path):
    path = tmp_path / "measured.json"
    path.write_text(compact_json(result.fair_rows(), seed=result.seed, level=result.level))
    for back, row in zip(measured_rows(path), result.rows(), strict=True):
        assert set(back) == set(row)
        for key, value in row.items():
            assert back[key] == (pytest.approx(value, rel=1e-4) if isinstance(value, float) else value)


def test_rows_of_a_bench_come_back_whole(result, tmp_path):
    path = tmp_path / "bench.json"
    path.write_text(result.to_json())
    assert measured_rows(path) == result.rows()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"rows": 3}',
        '{"rows": [{"subject": "x"}]}',
        '{"rows": [3]}',
        '{"format": 9, "words": [], "rows": []}',
    ],
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(BenchError):
        measured_rows(path)
