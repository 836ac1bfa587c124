"""``fieldcheck simulate`` with a stop rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sheets import Run, write


@pytest.mark.parametrize("design", ["waves", "srs"])
@pytest.mark.parametrize(
    ("words", "decision"),
    [
        (("--certify", "0.2"), "passed"),
        (("--certify", "0.99"), "failed"),
        (("--certify", "0.75", "--max-labels", "40"), "undecided"),
        (("--half-width", "0.1"), "passed"),
        (("--half-width", "0.01", "--max-labels", "60"), "undecided"),
    ],
)
def test_the_decision_is_printed_and_in_the_json(
    run: Run, tea: Path, design: str, words: tuple[str, ...], decision: str
) -> None:
    shown = run("simulate", tea, "-d", design, *words)
    record = run("simulate", tea, "-d", design, *words, "--json")
    assert (shown.code, record.code) == (0, 0)
    assert record.json["decision"] == decision
    assert record.json["sentence"] in shown.out
    assert "assumes" in shown.out
    assert "wrong if" in shown.out


def test_the_report_shows_every_look(run: Run, tea: Path) -> None:
    done = run("simulate", tea, "-d", "waves", "--certify", "0.75", "--html", "stop.html")
    page = Path("stop.html").read_text(encoding="utf-8")
    assert done.code == 0
    assert "at every look" in page
    assert "threshold" in page
    assert "What the decision rests on" in page


def test_regression_has_a_half_width(run: Run, price: Path) -> None:
    done = run("simulate", price, "-d", "waves:auxiliary=spread", "--half-width", "0.5", "--json")
    assert done.json["decision"] == "passed"
    assert done.json["half_width"] == 0.5


@pytest.mark.parametrize(
    "words",
    [
        ("--certify", "1.2"),
        ("--half-width", "0"),
        ("--half-width", "0.1", "--certify", "0.9"),
        ("--certify", "0.9", "--budget", "50"),
        ("--certify", "0.9", "--metric", "rmse"),
        ("--certify", "0.9", "--max-labels", "1"),
        ("--certify", "0.9", "--max-labels", "999"),
        ("--certify", "0.9", "-d", "gbs"),
        ("--max-labels", "50"),
    ],
)
def test_what_does_not_go_together_is_refused_in_plain_words(run: Run, tea: Path, words: tuple[str, ...]) -> None:
    done = run("simulate", tea, *words)
    assert done.code == 2
    assert "rule:" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("width", ["0.5", "5"])
def test_a_half_width_meant_in_points_is_refused(run: Run, tea: Path, width: str) -> None:
    done = run("simulate", tea, "--half-width", width)
    assert done.code == 2
    assert "0.05 for ± 5 points" in done.err


def test_a_model_that_is_always_right_lies_inside_its_interval(run: Run, tmp_path: Path) -> None:
    rows = [[item, "ab"[item % 2], 0.4 + 0.6 * (item * 37 % 500) / 500, "ab"[item % 2]] for item in range(500)]
    pool = write(tmp_path / "right.csv", ["id", "prediction", "confidence", "target"], rows)
    for seed in range(5):
        done = run("simulate", pool, "--certify", "0.7", "--seed", seed)
        assert done.code == 0
        assert "(inside the interval)" in done.out
