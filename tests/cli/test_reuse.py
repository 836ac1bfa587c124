"""``fieldcheck reuse``: from an old sheet to an estimate of a new version."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sheets import CLASSES, Run, fill, outcomes_of, read, tea_rows, truth_of, write

HEADER = ["id", "prediction", "confidence", "lsa", "target", "kind"]


@pytest.fixture
def better(tmp_path: Path) -> Path:
    """A version of the tea model that gets every other cup right."""
    rows = [list(row) for row in tea_rows()]
    for row in rows[::2]:
        row[1] = row[4]
    return write(tmp_path / "better.csv", HEADER, rows)


@pytest.fixture
def old(run: Run, tea: Path) -> Path:
    """A finished campaign on the tea."""
    assert run("sample", tea, "--out", "old.csv", "--design", "srs", "--budget", 60).code == 0
    fill(tea.parent / "old.csv", truth_of(tea))
    return tea.parent / "old.csv"


def test_old_labels_alone(run: Run, old: Path, better: Path) -> None:
    done = run("reuse", old, "--pool", better, "--labels-unseen")
    assert done.code == 0
    assert "60 labels re-used" in done.out
    assert "neither trained nor tuned" in done.out


def test_with_a_top_up(run: Run, old: Path, better: Path) -> None:
    done = run("reuse", old, "--pool", better, "--labels-unseen", "--out", "more.csv")
    assert done.code == 0
    assert "15 items to label" in done.err
    assert len(read(old.parent / "more.csv")) == 15
    fill(old.parent / "more.csv", truth_of(better))
    found = run("reuse", old, "--pool", better, "--labels-unseen", "--labels", "more.csv", "--json").json
    assert found["labels"] == 75
    assert found["beside"]["low"] <= found["interval"]["low"] <= found["value"]


def test_waves_can_be_re_used(run: Run, tea: Path, better: Path) -> None:
    """The pool of the old version is found again, also where it has moved."""
    assert run("sample", tea, "--out", "old.csv", "--design", "waves", "--budget", 30).code == 0
    fill(tea.parent / "old.csv", truth_of(tea))
    assert run("reuse", "old.csv", "--pool", better, "--labels-unseen").code == 0
    tea.rename(tea.with_name("moved.csv"))
    lost = run("reuse", "old.csv", "--pool", better, "--labels-unseen")
    assert lost.code == 2
    assert "--old-pool" in lost.err
    assert run("reuse", "old.csv", "--pool", better, "--labels-unseen", "--old-pool", "moved.csv").code == 0


@pytest.mark.parametrize("answer", [[], ["--labels-seen"]])
def test_without_an_answer_nothing_is_claimed(run: Run, old: Path, better: Path, answer: list[str]) -> None:
    done = run("reuse", old, "--pool", better, *answer)
    assert done.code == 2
    assert "trained or tuned" in done.err
    assert done.out == ""


@pytest.mark.parametrize(("said", "code"), [("n\n", 0), ("y\n", 2)])
def test_a_person_is_asked(
    run: Run, old: Path, better: Path, monkeypatch: pytest.MonkeyPatch, said: str, code: int
) -> None:
    import io

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(said))
    done = run("reuse", old, "--pool", better)
    assert done.code == code
    assert "trained or tuned" in done.err


def test_what_goes_wrong_is_told(run: Run, old: Path, better: Path, tea: Path) -> None:
    assert "--out more.csv" in run("reuse", old, "--pool", better, "--labels-unseen", "--top-up", 5).err
    assert "exists already" in run("reuse", old, "--pool", better, "--labels-unseen", "--out", old).err
    fill(old, outcomes_of(tea))
    done = run("reuse", old, "--pool", better, "--labels-unseen")
    assert done.code == 2
    assert "true class" in done.err


def test_other_items_are_named(run: Run, old: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.csv", HEADER, [["x1", CLASSES[0], 0.5, 1.0, CLASSES[0], "k"]] * 1)
    done = run("reuse", old, "--pool", other, "--labels-unseen")
    assert done.code == 2
    assert "not the same items" in done.err


def test_labels_that_were_seen_are_refused_in_so_many_words(run: Run, old: Path, better: Path) -> None:
    done = run("reuse", old, "--pool", better, "--labels-seen")
    assert done.code == 2
    assert "was trained or tuned on these labels" in done.err
    assert "not said" not in done.err


def test_items_that_could_not_be_labelled_then_are_mentioned(run: Run, tea: Path, old: Path, better: Path) -> None:
    fill(old, truth_of(tea) | {row["id"]: "skip" for row in read(old)[3:6]})
    done = run("reuse", old, "--pool", better, "--labels-unseen")
    assert done.code == 0, done.err
    assert "3 items of the earlier campaign could not be labelled" in done.out
