"""The comparison of plans and surrogates: by hand, and the published way on a published truth."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fieldcheck.bench import tomography as bench
from fieldcheck.cli.tomography import tomography
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth

KEYS = (
    *("truth", "plan", "surrogate", "inferences", "repetitions", "orders", "mse", "mae", "max_error", "within_0_1"),
    *("query_error_mean", "query_error_max", "coverage", "cpu_seconds"),
)


def truth(*levels: int) -> RecordedTruth:
    space = Space(tuple(Axis(f"p{at}", level) for at, level in enumerate(levels)))
    rates = 0.95 - 0.5 * (space.severities(np.arange(space.size)) / np.array(levels)).mean(axis=1)
    held = np.random.default_rng(0).random((space.size, 60)) < rates[:, None]
    return RecordedTruth("made", space, held, guess=0.0)


def test_the_queries_of_the_paper() -> None:
    found = list(bench.queries(truth(5, 5, 5).space))
    assert [len(tests) for tests in found] == [27] * 8 + [8, 64, 125, 216]
    assert sorted(np.concatenate(found[:8]).tolist()) == list(range(216))
    assert len(list(bench.queries(truth(5, 5, 5, 5).space))) == 20


def test_what_was_measured_as_a_whole_is_known() -> None:
    """A tree that saw every outcome says the rates themselves, so that all errors are zero."""
    subject = truth(3, 3, 3)
    row = bench.bench(
        [subject], plan_specs=["full"], surrogate_specs=["forest:trees=1"], budgets=[None], repetitions=2
    ).rows[0]
    assert (row.mse, row.query_error_max, row.within_0_1, row.coverage) == (
        pytest.approx(0, abs=1e-20), pytest.approx(0, abs=1e-9), 1.0, 1.0
    )  # fmt: skip
    assert (row.inferences, row.repetitions, row.orders) == (64 * 60, 2, ">=3")


def test_one_row_per_cell_with_all_columns() -> None:
    seen: list[tuple[int, int]] = []
    result = bench.bench(
        [truth(2, 2, 2)],
        plan_specs=["spread", "pairs"],
        surrogate_specs=["gp", "closure"],
        budgets=[300, 600],
        repetitions=1,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert [tuple(asdict(row)) for row in result.rows] == [KEYS] * 8
    assert seen == [(done, 8) for done in range(1, 9)]
    assert [row["plan"] for row in json.loads(result.to_json())["rows"]] == ["spread"] * 4 + ["pairs"] * 4


def test_a_misspelt_name_is_told_before_any_work() -> None:
    with pytest.raises(FieldcheckError):
        bench.bench([truth(2, 2)], plan_specs=["spred"], surrogate_specs=["gp"], budgets=[9], repetitions=1)


def test_the_verb_writes_rows_and_a_table(tmp_path: Path) -> None:
    subject = truth(2, 2, 2)
    path, rows = tmp_path / "made.npz", tmp_path / "rows.json"
    severities = subject.space.severities(np.arange(27))
    np.savez(path, tests=severities, correct=np.packbits(subject.held, axis=1), inputs=np.int64(60))
    runner = CliRunner()
    asked = ["bench", str(path), "--plan", "spread,pairs:share=0.5", "--surrogate", "gp", "-r", "1"]
    shown = runner.invoke(tomography, [*asked, "--inferences", "300,all", "--axes", "2", "--json", str(rows)])
    assert shown.exit_code == 0
    found = json.loads(rows.read_text())["rows"]
    assert [row["plan"] for row in found] == ["spread", "spread", "pairs:share=0.5", "pairs:share=0.5"]
    assert [row["inferences"] for row in found] == [
        300,
        540,
        292,
        540,
    ]  # 60 unperturbed ones, then 29 in each of 8 tests
    assert "query_error_max" in shown.stdout
    printed = runner.invoke(tomography, [*asked, "--inferences", "300", "--json", "-"])
    assert [tuple(row) for row in json.loads(printed.stdout)["rows"]] == [KEYS] * 2
    wrong = runner.invoke(tomography, [*asked, "--inferences", "many"])
    assert isinstance(wrong.exception, FieldcheckError)


def test_the_published_way_on_a_published_truth(published_data: Path) -> None:
    """Forest and closure on orders up to two, all inputs: nothing random but ties between trees."""
    subject = read_truth(published_data / "tomography" / "lenet_mnist.npz")
    rows = bench.bench(
        [subject],
        plan_specs=["pairs"],
        surrogate_specs=["forest:trees=1", "closure"],
        budgets=[None],
        repetitions=1,
    ).rows
    forest, closure = rows
    assert forest.inferences == 171_000
    assert forest.mse > 3 * closure.mse
    assert forest.query_error_max > closure.query_error_max


def test_tests_with_nothing_left_are_not_judged() -> None:
    """A tree that saw all rows that apply knows every rate; rows that do not apply cost nothing."""
    known = truth(3, 3, 3)
    applies = np.random.default_rng(1).random(known.held.shape) < 0.5
    applies[known.space.severities(np.arange(known.space.size))[:, 0] == 3] = False
    subject = RecordedTruth("made", known.space, known.held, applies=applies)
    row = bench.bench(
        [subject], plan_specs=["full"], surrogate_specs=["forest:trees=1"], budgets=[None], repetitions=1
    ).rows[0]
    assert row.inferences == applies.sum()
    assert row.mse == pytest.approx(0, abs=1e-20)
    assert row.query_error_max == pytest.approx(0, abs=1e-9)
