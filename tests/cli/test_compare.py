"""``fieldcheck compare``: simulated, and by hand from a sheet."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from .sheets import CLASSES, Run, fill, read, tea_rows, truth_of, write

HEADER = ["id", "prediction", "confidence", "lsa", "target", "kind"]


@pytest.fixture
def rival(tmp_path: Path) -> Path:
    """Another model on the tea: every second cup is called by the next name."""
    rows = [list(row) for row in tea_rows()]
    for row in rows[::2]:
        row[1] = CLASSES[(CLASSES.index(str(row[1])) + 1) % 3]
    return write(tmp_path / "rival.csv", HEADER, rows)


def test_simulated(run: Run, tea: Path, rival: Path) -> None:
    done = run("compare", tea, rival, "--budget", 60, "--seed", 3)
    assert done.code == 0
    assert "tea" in done.out
    assert "says nothing of" in done.out
    assert "truth" in done.out
    found = run("compare", tea, rival, "--budget", 60, "--seed", 3, "--json").json
    assert found["labels"] == 60
    assert found["contested"] == 120
    assert found["differences"][0]["first"] == "tea"


def test_certified(run: Run, tea: Path, rival: Path) -> None:
    found = run("compare", tea, rival, "--certify", "--json").json
    assert found["certify"]
    assert found["decided"]
    assert found["differences"][0]["winner"] == "tea"


def test_by_hand_from_first_to_last_label(run: Run, tea: Path, rival: Path) -> None:
    expected = run("compare", tea, rival, "--budget", 60, "--seed", 3, "--json").json
    done = run("compare", tea, rival, "--budget", 60, "--seed", 3, "--out", "todo.csv")
    assert done.code == 0
    assert "--labels todo.csv" in done.out
    sheet = tea.parent / "todo.csv"
    assert all("prediction" not in row for row in read(sheet))
    fill(sheet, truth_of(tea))
    early = run("compare", tea, rival, "--labels", "todo.csv")
    assert "Undecided" in early.out
    assert "--continue" in early.out
    done = run("compare", tea, rival, "--labels", "todo.csv", "--continue")
    assert done.code == 0
    assert len(read(sheet)) == 60
    fill(sheet, truth_of(tea))
    found = run("compare", tea, rival, "--labels", "todo.csv", "--json").json
    assert found["labels"] == 60
    assert found["differences"][0]["value"] == pytest.approx(expected["differences"][0]["value"], rel=1e-12)
    assert found["differences"][0]["interval"] == expected["differences"][0]["interval"]


def test_three_models(run: Run, tea: Path, rival: Path, tmp_path: Path) -> None:
    rows = [list(row) for row in tea_rows()]
    for row in rows[::5]:
        row[1] = CLASSES[0]
    third = write(tmp_path / "third.csv", HEADER, rows)
    found = run("compare", tea, rival, third, "--budget", 80, "--json").json
    assert len(found["differences"]) == 3


def test_what_goes_wrong_is_told(run: Run, tea: Path, rival: Path, tmp_path: Path) -> None:
    assert "two models" in run("compare", tea).err
    with rival.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    short = write(tmp_path / "short.csv", rows[0], rows[1:-3])
    done = run("compare", tea, short)
    assert done.code == 2
    assert "3 only in 'tea'" in done.err
    assert "say the same" in run("compare", tea, tea, "--out", "none.csv").err
    assert run("compare", tea, rival, "--budget", 30, "--out", "todo.csv").code == 0
    assert "exists already" in run("compare", tea, rival, "--out", "todo.csv").err
    assert "no label is filled in" in run("compare", tea, rival, "--labels", "todo.csv").err
    assert "together with --labels" in run("compare", tea, rival, "--labels", "todo.csv", "--budget", 9).err
    fill(tea.parent / "todo.csv", dict.fromkeys(truth_of(tea), "right"))
    assert "true class" in run("compare", tea, rival, "--labels", "todo.csv").err


def test_a_comparison_is_not_an_accuracy(run: Run, tea: Path, rival: Path) -> None:
    run("compare", tea, rival, "--budget", 30, "--out", "todo.csv")
    fill(tea.parent / "todo.csv", truth_of(tea))
    done = run("estimate", "todo.csv")
    assert done.code == 2
    assert "disagreement" in done.err


def test_without_truth_the_hint_is_to_label_disagreements(run: Run, tmp_path: Path) -> None:
    rows = [row[:3] for row in tea_rows()]
    pools = [write(tmp_path / f"{name}.csv", HEADER[:3], rows) for name in "ab"]
    done = run("compare", *pools)
    assert done.code == 2
    assert "the truth of 'a' is not known" in done.err
    assert "--out FILE" in done.err


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_all_the_same(run: Run, price: Path) -> None:
    done = run("compare", price, price)
    assert done.code == 0, done.err
    assert "say the same about all 240 items" in done.out
