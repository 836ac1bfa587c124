"""Whether pairs suffice is seen in the rows of higher order."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fieldcheck.cli.app import app
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.tomography.answers.higher_orders import higher_orders

SPACE = Space(tuple(Axis(name, 2) for name in "abc"))


def outcomes(three: float) -> Outcomes:
    """Each perturbation takes a tenth; all three together leave so much."""
    rng = np.random.default_rng(1)
    tests = np.repeat(np.arange(SPACE.size), 400)
    orders = SPACE.orders(tests)
    chances = np.where(orders == 3, three, 0.9**orders)
    return Outcomes(tests, np.tile(np.arange(400), SPACE.size), (rng.random(len(tests)) < chances).astype(float))


@pytest.mark.parametrize(("three", "differs"), [(0.9**3, False), (0.4, True)])
def test_what_pairs_cannot_foretell_is_said(three: float, differs: bool) -> None:
    found = higher_orders(SPACE, outcomes(three))
    assert found is not None
    assert found.differs == differs
    assert abs(found.foretold - 0.729) < 0.05
    assert not differs or "too high" in str(found)


def test_nothing_is_said_without_such_rows() -> None:
    rows = outcomes(0.5)
    assert higher_orders(SPACE, rows.select(SPACE.orders(rows.tests) < 3)) is None


def test_a_run_says_it_and_what_cannot_run_leaves_no_folder(tmp_path: Path) -> None:
    rows = outcomes(0.4)
    tests, held = SPACE.severities(np.arange(SPACE.size)), rows.held.reshape(SPACE.size, 400) > 0
    np.savez(tmp_path / "truth.npz", tests=tests, correct=np.packbits(held, axis=1), inputs=400)
    asked = ["tomography", "run", str(tmp_path / "space.toml"), "--plan", "pairs:share=0.6", "--out", "run"]
    (tmp_path / "space.toml").write_text('[truth]\nfile = "truth.npz"\n')
    with chdir(tmp_path):
        shown = CliRunner().invoke(app, asked)
        assert shown.exit_code == 0, shown.output
        assert "Pairs do not suffice: orders up to two foretell those above" in shown.output
        (tmp_path / "space.toml").write_text('ordered = true\n[truth]\nfile = "truth.npz"\n')
        refused = CliRunner().invoke(app, [*asked[:-1], "other"])
        assert refused.exit_code != 0
        assert not (tmp_path / "other").exists()
