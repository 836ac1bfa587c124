"""``fieldcheck plan``: forecasts as ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sheets import Run, fill, tea_rows, truth_of, write


@pytest.mark.parametrize(("words", "said"), [(("--half-width", 0.08), "takes about"), (("--budget", 60), "give about")])
def test_the_question_is_answered_first(run: Run, tea: Path, words: tuple[str, float], said: str) -> None:
    done = run("plan", tea, *words)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == ["srs", "ssrs", "waves"]
    assert all(said in line and "(" in line for line in lines[:3])
    assert "of the items fail" in done.out


def test_json_has_ranges(run: Run, tea: Path) -> None:
    done = run("plan", tea, "--budget", 60, "--json").json
    for course in done["designs"]:
        assert all(one["low"] < one["half_width"] < one["high"] for one in course["forecasts"])
    assert done["labels_known"] == 0


def test_the_report_has_a_chart(run: Run, tea: Path) -> None:
    assert run("plan", tea, "--half-width", 0.05, "--html", "plan.html").code == 0
    assert "<svg" in Path("plan.html").read_text(encoding="utf-8")


def test_a_confidence_that_never_changes_is_not_called_missing(run: Run) -> None:
    rows = [[f"i{at}", "ab"[at % 2], 0.9] for at in range(60)]
    write(Path("same.csv"), ["id", "prediction", "confidence"], rows)
    assert "the confidence is the same for all items" in run("start", "same.csv").err


def test_a_campaign_that_certifies_is_sent_to_check(run: Run, tea: Path) -> None:
    assert run("start", tea, "--campaign", "c.db", "--certify", 0.7).code == 0
    done = run("plan", "c.db")
    assert done.code == 2
    assert "fieldcheck check c.db --min-accuracy 0.7" in done.err


@pytest.mark.parametrize("design", ["waves", "srs"])
def test_a_partly_filled_sheet_moves_the_plan(run: Run, tea: Path, design: str) -> None:
    run("sample", tea, "-d", design, "-n", 100, "-o", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea), first=20)
    done = run("plan", tea, "--half-width", 0.05, "--labels", "sheet.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["labels_known"] == 20


def test_regression_says_why_it_needs_labels(run: Run, price: Path) -> None:
    done = run("plan", price, "--budget", 60)
    assert done.code == 2
    assert "--labels" in done.err
    run("sample", price, "-d", "srs", "-n", 60, "-o", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(price))
    done = run("plan", price, "--budget", 100, "--labels", "sheet.csv")
    assert done.code == 0, done.err
    assert "% of the error" in done.out


@pytest.mark.parametrize("words", [("--half-width", 0), ("--budget", 1), ("--budget", 60, "--half-width", 0.1)])
def test_bad_input_is_told_in_words(run: Run, tea: Path, words: tuple[object, ...]) -> None:
    done = run("plan", tea, *words)
    assert done.code == 2
    assert "rule:" in done.err
    assert "Traceback" not in done.err


def test_labels_of_another_pool_are_refused(run: Run, tea: Path, price: Path) -> None:
    run("sample", price, "-d", "srs", "-n", 60, "-o", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(price))
    assert run("plan", tea, "--labels", "sheet.csv").code == 2


def test_a_tiny_pool_gets_words_instead_of_an_empty_table(run: Run, tmp_path: Path) -> None:
    rows = [[item, "ab"[item % 2], 0.5 + item / 100] for item in range(30)]
    done = run("plan", write(tmp_path / "tiny.csv", ["id", "prediction", "confidence"], rows))
    assert done.code == 0, done.err
    assert "Half-width" not in done.out
    assert "30 items" in done.out
    assert "--budget" in done.out


def test_a_campaign_is_planned_again_with_its_labels(run: Run, tea: Path) -> None:
    run("start", tea, "--campaign", "c.db", "-n", 100)
    before = run("plan", "c.db", "--json").json
    assert (before["budget"], before["labels_known"]) == (100, 0)
    run("next", "c.db", "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    run("import", "c.db", "sheet.csv")
    after = run("plan", "c.db", "--json").json
    assert after["labels_known"] > 0
    assert [course["design"] for course in after["designs"]] == ["waves"]
    assert all(one["high"] <= 4.001 * one["low"] for one in after["designs"][0]["forecasts"])


def test_two_models_are_planned_together(run: Run, tea: Path) -> None:
    rows = tea_rows()
    for at in range(0, len(rows), 5):  # every fifth prediction is another item's
        rows[at][1] = rows[(at + 7) % len(rows)][1]
    write(Path("other.csv"), ["id", "prediction", "confidence", "lsa", "target", "kind"], rows)
    against = ("plan", tea, "--against", "other.csv")
    done = run(*against, "--not-worse", 0.02)
    assert done.code == 0, done.err
    assert "by more than 2 points takes about" in done.out
    found = run(*against, "--json").json
    assert found["needed"]["low"] <= found["needed"]["labels"] <= found["needed"]["high"] <= found["disagreements"]
    assert "--against OLD.csv" in run("plan", tea, "--not-worse", 0.02).err
    assert "planned before its first label" in run(*against, "--half-width", 0.1).err
