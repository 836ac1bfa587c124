"""Unperturbed inputs come first, and are many: every drop is measured from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fieldcheck.cli.app import app
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.runs.schedule import Schedule
from fieldcheck.tomography.setup.subject import Subject

SPACE = Space((Axis("a", 5), Axis("b", 5)))


def right(tests: IntArray, inputs: IntArray, arrangements: object) -> FloatArray:
    """Of a thousand inputs, the first nine hundred, whatever is done to them."""
    return np.asarray(inputs < 900, dtype=np.float64)


@pytest.mark.parametrize("plan", ["spread", "pairs", "full"])
def test_four_hundred_unperturbed_inputs_come_first(plan: str) -> None:
    run = measure(Subject(SPACE, 1000, right), plan=plans.build(plan), budget=4000, base=400, surrogate="logistic")
    assert len(run.outcomes) <= 4000
    first = run.outcomes.select(np.arange(400))
    assert (first.tests == 0).all()
    assert len(np.unique(first.inputs)) == 400
    pairs = run.outcomes.tests * 1000 + run.outcomes.inputs
    assert len(np.unique(pairs)) == len(pairs)
    clean = run.outcomes.held[run.outcomes.tests == 0]
    answer = run.ask("order = 2")
    assert answer.base == clean.mean()
    assert answer.base_inputs == len(clean) >= 400


def test_a_small_budget_has_fewer_and_a_small_pool_all() -> None:
    few = Schedule(SPACE, 1000, plans.build("spread"), 200, base=400)
    assert len(few.unperturbed) == 50
    small = Schedule(SPACE, 30, plans.build("spread"), 4000, base=400)
    assert np.array_equal(small.unperturbed.inputs, np.arange(30))


def test_they_are_looked_at_before_the_rest_is_spent() -> None:
    seen: list[Outcomes] = []
    measure(Subject(SPACE, 1000, right), plan=plans.build("spread"), budget=2000, base=400, look=seen.append)
    assert [len(one) for one in seen] == [400]


def test_they_are_no_part_of_the_audit() -> None:
    """They were not drawn: the audit is that of the 3,600 drawn rows, whose standard error is .005."""
    run = measure(Subject(SPACE, 1000, right), plan=plans.build("spread"), budget=4000, base=400, surrogate="logistic")
    assert abs(run.ask("all").audit - 0.9) < 0.02
    assert abs(run.ask("order = 0").audit - 0.9) < 0.1


TOML = """
[model]
file = "plain:half"
[data]
file = "rows.npz"
kind = "row"
limit = 500
[check]
expect = {expect}
[[perturbation]]
name = "shift"
apply = "plain:shift"
levels = 2
[plan]
inferences = 1700
"""

CODE = """
import numpy as np
from fieldcheck.tomography import perturbations

@perturbations.register("shift", kind="row", levels=2)
def shift(row, severity, rng):
    return row + severity

def half(rows):
    right = (rows[:, 0] > 0).astype(float)
    return np.column_stack([right, 1 - right])
"""


def test_what_was_expected_is_checked_before_the_rest_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the inputs are right: .98 stops after 400 inferences, .5 goes on; the 500 inputs are not the first."""
    monkeypatch.chdir(tmp_path)
    rows = np.repeat([[1.0], [-1.0]], 1000, axis=0)
    np.savez("rows.npz", x=rows, y=np.zeros(2000, dtype=int))
    Path("plain.py").write_text(CODE)
    Path("space.toml").write_text(TOML.format(expect=0.98))
    run = ["tomography", "run", "space.toml", "--out", "run", "--trust"]
    stopped = CliRunner().invoke(app, run)
    assert stopped.exit_code != 0
    assert "expected were 98.0 %" in str(stopped.exception)
    assert len(Run.open("run").outcomes) == 400
    Path("space.toml").write_text(TOML.format(expect=0.5))
    went_on = CliRunner().invoke(app, [*run, "--resume"])
    assert went_on.exit_code == 0, went_on.output
    assert len(Run.open("run").outcomes) == 1500
    assert 0.4 < Run.open("run").outcomes.held[:400].mean() < 0.6


@pytest.mark.parametrize(
    "options", [["--inferences", "1600"], ["--plan", "pairs", "--half-width", "0.04"], ["--plan", "ordered"]]
)
def test_what_was_expected_is_checked_whatever_the_plan_and_when_a_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("rows.npz", x=np.repeat([[1.0], [-1.0]], 1000, axis=0), y=np.zeros(2000, dtype=int))
    Path("plain.py").write_text(CODE)
    Path("space.toml").write_text(TOML.format(expect=0.98))
    for more in ([], ["--resume"]):
        stopped = CliRunner().invoke(
            app, ["tomography", "run", "space.toml", "--out", "run", "--trust", *options, *more]
        )
        assert "expected were 98.0 %" in str(stopped.exception)
        outcomes = Run.open("run").outcomes
        assert len(outcomes) >= 400
        assert not outcomes.tests.any()
