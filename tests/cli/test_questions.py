"""``start --against`` and ``start --reuse``: other questions, and the same verbs."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sheets import CLASSES, Run, fill, tea_rows, truth_of, write

HEADER = ["id", "prediction", "confidence", "lsa", "target", "kind"]


@pytest.fixture
def rival(tmp_path: Path) -> Path:
    """Another model on the tea: every second cup is called by the next name."""
    rows = [list(row) for row in tea_rows()]
    for row in rows[::2]:
        row[1] = CLASSES[(CLASSES.index(str(row[1])) + 1) % 3]
    return write(tmp_path / "rival.csv", HEADER, rows)


def label_everything(run: Run, place: str, truth: dict[str, str], suffix: str = ".csv") -> None:
    out = Path(f"todo{suffix}")
    for _ in range(20):
        out.unlink(missing_ok=True)
        done = run("next", place, "--out", out, "-n", 50, "--by", "Ann")
        assert done.code == 0, done.err
        if not out.exists():
            return
        fill(out, truth)
        done = run("import", place, out, "--by", "Ann")
        assert done.code == 0, done.err
    raise AssertionError("it never ends")


def test_simulated(run: Run, tea: Path, rival: Path) -> None:
    done = run("simulate", tea, "--against", rival, "--budget", 60, "--seed", 3)
    assert done.code == 0, done.err
    assert "says nothing of" in done.out
    assert "truth" in done.out
    found = run("simulate", tea, "--against", rival, "--budget", 60, "--seed", 3, "--json").json
    assert (found["labels"], found["contested"], found["differences"][0]["first"]) == (60, 120, "tea")
    found = run("simulate", tea, "--against", rival, "--json").json
    assert (found["certify"], found["decided"], found["differences"][0]["winner"]) == (True, True, "tea")


@pytest.mark.parametrize("option", ["--design", "--loss", "--html", "--half-width"])
def test_a_comparison_refuses_what_it_would_not_heed(run: Run, tea: Path, rival: Path, option: str) -> None:
    done = run(
        "simulate", tea, "--against", rival, option, {"--half-width": 0.1, "--html": "r.html"}.get(option, "mae")
    )
    assert (done.code, f"{option} together with --against" in done.err) == (2, True)
    assert not Path("r.html").exists()


def test_by_hand_from_first_to_last_label(run: Run, tea: Path, rival: Path) -> None:
    expected = run("simulate", tea, "--against", rival, "--budget", 60, "--seed", 3, "--json").json
    done = run("start", tea, "--against", rival, "--campaign", "c.db", "--budget", 60, "--seed", 3)
    assert done.code == 0, done.err
    assert run("check", "c.db", "--best", "tea").code == 2
    label_everything(run, "c.db", truth_of(tea))
    found = run("estimate", "c.db", "--json").json
    assert found["differences"][0]["value"] == pytest.approx(expected["differences"][0]["value"], rel=1e-12)
    assert found["differences"][0]["interval"] == expected["differences"][0]["interval"]
    assert run("check", "c.db", "--best", "tea").code == 0
    assert run("check", "c.db", "--best", "rival").code == 1
    assert run("check", "c.db", "--best", "coffee").code == 3
    assert run("check", "c.db", "--min-accuracy", 0.9).code == 3
    assert "tea is better than rival" in run("status", "c.db").out
    assert run("report", "c.db", "--out", "r.html").code == 0
    assert run("verify", "c.db").code == 0
    assert "tea is better" in Path("r.html").read_text(encoding="utf-8")
    assert "compares models" in run("estimate", "c.db", "--by", "kind").err


def test_models_that_say_the_same(run: Run, tea: Path) -> None:
    assert run("start", tea, "--against", tea, "--campaign", "c.db").code == 0
    assert "say the same about all 240 items" in run("estimate", "c.db").out


def test_a_comparison_with_old_labels(run: Run, tea: Path, rival: Path) -> None:
    run("sample", tea, "--design", "srs", "--budget", 60, "--out", "old.csv")
    fill(Path("old.csv"), truth_of(tea))
    asked = ("start", tea, "--against", rival, "--reuse", "old.csv", "--campaign", "c.db", "--budget", 30)
    assert "trained or tuned" in run(*asked).err
    done = run(*asked, "--labels-unseen")
    assert done.code == 0, done.err
    label_everything(run, "c.db", truth_of(tea))
    found = run("estimate", "c.db", "--json").json
    assert found["labels"] > 30
    assert "of an earlier campaign re-used" in " ".join(found["warnings"])
    assert run("verify", "c.db").code == 0
    assert run("report", "c.db", "--out", "r.html").code == 0


def test_a_new_version_with_old_labels(run: Run, tea: Path, rival: Path) -> None:
    run("sample", tea, "--design", "srs", "--budget", 60, "--out", "old.csv")
    fill(Path("old.csv"), truth_of(tea))
    refused = run("start", rival, "--reuse", "old.csv", "--campaign", "new.db")
    assert "trained or tuned" in refused.err
    assert run("start", rival, "--reuse", "old.csv", "--campaign", "new.db", "--labels-seen").code == 2
    again = ("start", rival, "--reuse", "old.csv", "--campaign", "new.db", "--labels-unseen")
    too_many = run(*again, "--budget", 200)
    assert (too_many.code, "--budget 15" in too_many.err) == (2, True)  # a quarter of the 60
    done = run(*again)
    assert done.code == 0, done.err
    early = run("estimate", "new.db", "--json").json
    assert early["labels"] == 60
    label_everything(run, "new.db", truth_of(tea))
    found = run("estimate", "new.db", "--json").json
    assert found["labels"] == 75
    assert run("check", "new.db", "--min-accuracy", 0.05).code == 0
    assert run("verify", "new.db").code == 0
    assert run("report", "new.db", "--out", "r.html").code == 0
    assert run("status", "new.db").code == 0
