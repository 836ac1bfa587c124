"""Bad input: one clear message on standard error, exit code 2, nothing on standard output, no file touched."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .sheets import Done, Run, fill, read, rewrite, truth_of, write

pytestmark = pytest.mark.usefixtures("tea", "price", "layer")


def check_refused(done: Done, *words: str) -> None:
    """Refused in plain words, with the rule or what to try."""
    assert (done.code, done.out) == (2, ""), done.err
    assert "Traceback" not in done.err
    assert "unexpected" not in done.err
    assert any(mark in done.err for mark in ("  rule: ", "  try:  ", "Try 'fieldcheck")), done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("simulate nowhere.csv", "nowhere.csv"),
        ("simulate .", "folder"),
        ("simulate tea.docx", "suffix"),
        ("simulate empty.csv", "empty"),
        ("simulate header.csv", "no row"),
        ("simulate tea.csv --design sssrs", "ssrs"),
        ("simulate tea.csv --design ssrs:kk=3", "kk=3"),
        ("simulate tea.csv --design ssrs:k", "'k'"),
        ("simulate tea.csv --design ssrs:k=zebra", "zebra"),
        ("simulate tea.csv --design ssrs:k=0", "between"),
        ("simulate tea.csv --design srs:replace=perhaps", "yes or no"),
        ("simulate tea.csv --design deepest:r=1", "uniform"),
        ("simulate tea.csv --design deepest:weights=all", "exceeding or selected"),
        ("simulate tea.csv --design deepest:threshold=high", "mean+sd"),
        ("simulate tea.csv --design css:shares=50/60", "100"),
        ("simulate tea.csv --design ssrs --auxiliary nope --budget 20", "confidence"),
        ("simulate tea.csv --design ssrs --auxiliary kind --budget 20", "kind"),
        ("simulate tea.csv --design ssrs --auxiliary confidence+lsa --budget 20", "several"),
        ("simulate tea.csv --design ces --budget 40", "--activations"),
        ("simulate tea.csv --design ces --budget 40 --activations nowhere.npy", "nowhere.npy"),
        ("simulate tea.csv --design ces --budget 40 --activations tea.csv", "tea.csv"),
        ("simulate tea.csv --design ces --budget 40 --activations short.npy", "(3, 4)"),
        ("simulate tea.csv --design ces --budget 40 --activations flat.npy", "(240,)"),
        ("simulate tea.csv --design ces --budget 40 --activations nan.npy", "nan"),
        ("simulate tea.csv --budget 1", "at least 2"),
        ("simulate tea.csv --budget 0", "at least 2"),
        ("simulate tea.csv --budget 241", "240"),
        ("simulate tea.csv --budget many", "--budget"),
        ("simulate tea.csv --seed -1", "--seed"),
        ("simulate tea.csv --level 2", "--level"),
        ("simulate tea.csv --level nan", "--level"),
        ("simulate tea.csv --budget 20 --metric f1", "accuracy"),
        ("simulate price.csv --budget 20 --metric mae", "rmse"),
        ("simulate price.csv --budget 20 --loss cubic", "squared or absolute"),
        ("simulate tea.csv --budget 20 --truth gold", "target"),
        ("simulate tea.csv --budget 20 --task ranking", "classification or regression"),
        ("simulate tea.csv --budget 20 --column prediction", "ROLE=NAME"),
        ("simulate tea.csv --budget 20 --column guess=kind", "prediction"),
        ("simulate tea.csv --budget 20 --encoding klingon", "klingon"),
        ("simulate tea.csv --budget 20 --html nodir/report.html", "mkdir"),
        ("simulate untrue.csv --budget 10", "truth"),
        ("sample tea.csv", "--out"),
        ("sample tea.csv --budget 20 --out nodir/sheet.csv", "nodir"),
        ("sample tea.csv --budget 20 --out tea.csv --force", "pool"),
        ("sample tea.csv --out new.csv --continue", "not found"),
        ("bench nowhere.csv", "nowhere.csv"),
        ("bench tea.csv --auxiliary nope --budget 20", "nope"),
        ("bench tea.csv --design nope --budget 20", "nope"),
        ("bench tea.csv --budget 20,241", "240"),
        ("bench tea.csv --budget 20,x", "20,x"),
        ("bench tea.csv --budget 1", "2 labels"),
        ("bench tea.csv tea.csv --budget 20", "tea"),
        ("bench tea.csv --budget 20 --repetitions 0", "--repetitions"),
        ("bench tea.csv --budget 20 --engine processes:workers=0", "0 workers"),
        ("bench tea.csv --budget 20 --activations layer.npy", "SUBJECT=FILE"),
        ("bench tea.csv --budget 20 --json nodir/rows.json", "mkdir"),
        ("bench tea.csv --budget 20 --tables tea.csv", "tea.csv"),
        ("bench tea.csv --budget 20 --resume nodir/journal", "nodir/journal"),
        ("bench tea.csv --budget 20 --design ssrs --auxiliary confidence+lsa", "several"),
        ("bench untrue.csv --budget 10", "truth"),
        ("bench", "SUBJECT"),
        ("recommend --results nowhere.json", "nowhere.json"),
        ("recommend --results tea.csv", "tea.csv"),
        ("estimate nowhere.csv", "nowhere.csv"),
        ("dance", "dance"),
    ],
)
def test_bad_words_are_refused(run: Run, tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "tea.docx").write_text("id\n1\n")
    (tmp_path / "header.csv").write_text("id,prediction\n")
    write(tmp_path / "untrue.csv", ["id", "prediction", "confidence"], ([n, "a", 0.5] for n in range(20)))
    np.save(tmp_path / "short.npy", np.zeros((3, 4)))
    np.save(tmp_path / "flat.npy", np.zeros(240))
    np.save(tmp_path / "nan.npy", np.full((240, 2), np.nan))
    check_refused(run(*words.split()), said)


@pytest.fixture
def sheet(run: Run, tea: Path, tmp_path: Path) -> Path:
    """A filled-in sheet of 20 items."""
    path = tmp_path / "sheet.csv"
    assert run("sample", tea, "--budget", 20, "--out", path).code == 0
    fill(path, truth_of(tea))
    return path


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda campaign: campaign.unlink(),
    "truncated": lambda campaign: campaign.write_bytes(campaign.read_bytes()[:3000]),
    "text": lambda campaign: campaign.write_text("[1, 2]"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_campaign_of_a_sheet_is_refused(run: Run, sheet: Path, damage: str) -> None:
    DAMAGES[damage](sheet.with_suffix(".campaign.db"))
    check_refused(run("estimate", sheet), "sheet.campaign.db")


def _change(sheet: Path, **cells: str) -> None:
    rows = read(sheet)
    rows[3].update(cells)
    rewrite(sheet, rows)


def _append(sheet: Path, text: str) -> None:
    sheet.write_text(sheet.read_text(encoding="utf-8") + text, encoding="utf-8")


MISTAKES: dict[str, tuple[Callable[[Path], object], str]] = {
    "unknown id": (lambda sheet: _change(sheet, id="cup_9999"), "line 5: no item 'cup_9999'"),
    "two labels": (lambda sheet: _append(sheet, f"{read(sheet)[0]['id']},x,black tea,\n"), "line 22"),
    "no label column": (lambda sheet: rewrite(sheet, [{"id": row["id"]} for row in read(sheet)]), "'label'"),
    "no id column": (lambda sheet: rewrite(sheet, [{"label": "a"}]), "'id'"),
    "ragged": (lambda sheet: _append(sheet, "cup_0001,a,b,c,d\n"), "line 22"),
    "latin-1": (lambda sheet: sheet.write_bytes(sheet.read_text(encoding="utf-8").encode("latin-1")), "UTF-8"),
    "utf-16": (lambda sheet: sheet.write_bytes(sheet.read_text(encoding="utf-8").encode("utf-16")), "UTF-8"),
    "binary": (lambda sheet: sheet.write_bytes(b"id,label\ncup\x00,a\n"), "sheet.csv"),
    "empty": (lambda sheet: sheet.write_text(""), "is empty"),
    "gone": (lambda sheet: sheet.unlink(), "not found"),
    "a folder": (lambda sheet: (sheet.unlink(), sheet.mkdir()), "is a folder"),
    "no labels": (lambda sheet: rewrite(sheet, [{**row, "label": " "} for row in read(sheet)]), "no label"),
    "one label": (
        lambda sheet: rewrite(sheet, [{**row, "label": "" if at else "right"} for at, row in enumerate(read(sheet))]),
        "first two labels",
    ),
    "ones": (lambda sheet: rewrite(sheet, [{**row, "label": "1"} for row in read(sheet)]), "right or wrong"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_a_sheet_are_named(run: Run, sheet: Path, mistake: str) -> None:
    make, said = MISTAKES[mistake]
    make(sheet)
    check_refused(run("estimate", sheet), said)


def test_a_regression_label_is_a_number(run: Run, price: Path) -> None:
    run("sample", price, "--budget", 20, "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(price))
    _change(Path("sheet.csv"), label="3,5")
    check_refused(run("estimate", "sheet.csv"), "'3,5'", "line 5", "not a number")


def test_labels_without_predictions_are_right_or_wrong(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "bare.csv", ["id", "confidence", "outcome"], ([item, 0.5, "Pass"] for item in range(20)))
    run("sample", "bare.csv", "--budget", 5, "--out", "sheet.csv")
    fill(Path("sheet.csv"), {str(item): "cat" for item in range(20)})
    check_refused(run("estimate", "sheet.csv"), "neither right nor wrong")


def test_rhc_is_not_estimated_from_a_part(run: Run, tea: Path) -> None:
    run("sample", tea, "--design", "rhc", "--budget", 20, "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea), first=15)
    check_refused(run("estimate", "sheet.csv"), "5 of 20 items have no label", "all its labels")


def test_labels_are_not_overwritten_unasked(run: Run, tea: Path, sheet: Path) -> None:
    before = {path.name: path.read_bytes() for path in sheet.parent.glob("sheet*")}
    check_refused(run("sample", tea, "--budget", 30, "--out", sheet), "exists already", "--force")
    assert {path.name: path.read_bytes() for path in sheet.parent.glob("sheet*")} == before
    assert run("sample", tea, "--budget", 30, "--out", sheet, "--force").code == 0
    assert len(read(sheet)) == 30


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(run: Run, tea: Path, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    check_refused(run("sample", tea, "--budget", 20, "--out", folder / "sheet.csv"), "locked")
    assert list(folder.iterdir()) == []


def test_nothing_is_left_behind_where_a_sheet_cannot_be_written(run: Run, tea: Path, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").mkdir()
    check_refused(run("sample", tea, "--budget", 20, "--out", "sheet.csv", "--force"))
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize("change", ["fewer items", "other confidence"])
def test_a_sample_does_not_go_on_in_another_pool(run: Run, tea: Path, change: str) -> None:
    run("sample", tea, "--design", "gbs:batch=20", "--budget", 40, "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    rows = read(tea)
    rewrite(tea, rows[:-1] if change == "fewer items" else [{**rows[0], "confidence": "0.5"}, *rows[1:]])
    before = Path("sheet.csv").read_bytes()
    check_refused(run("sample", tea, "--out", "sheet.csv", "--continue"), "not the one")
    assert Path("sheet.csv").read_bytes() == before


@pytest.mark.parametrize("option", ["--budget 60", "--design srs", "--seed 7", "--auxiliary lsa"])
def test_a_sample_goes_on_with_the_settings_it_began_with(run: Run, tea: Path, sheet: Path, option: str) -> None:
    check_refused(run("sample", tea, "--out", sheet, "--continue", *option.split()), option.split(maxsplit=1)[0])


def test_continuing_without_labels_is_refused(run: Run, tea: Path) -> None:
    run("sample", tea, "--design", "gbs", "--budget", 20, "--out", "sheet.csv")
    check_refused(run("sample", tea, "--out", "sheet.csv", "--continue"), "no label is filled in", "10 items")


@pytest.mark.parametrize("design", ["waves", "srs"])
@pytest.mark.parametrize("budget", [20, 60])
def test_items_that_nobody_could_label_are_no_estimate(run: Run, tea: Path, design: str, budget: int) -> None:
    run("sample", tea, "--design", design, "--budget", budget, "--out", "sheet.csv")
    fill(Path("sheet.csv"), dict.fromkeys(truth_of(tea), "skip"))
    check_refused(run("estimate", "sheet.csv"), "0 of the ", "could be labelled")
    fill(Path("sheet.csv"), truth_of(tea), first=1)
    check_refused(run("estimate", "sheet.csv"), "1 of the ", "two labels")
    fill(Path("sheet.csv"), truth_of(tea), first=2)
    check_refused(run("estimate", "sheet.csv"), "8 more for a first number", "from 10 labels on")
    fill(Path("sheet.csv"), truth_of(tea), first=10)
    assert run("estimate", "sheet.csv").code == 0


def test_a_sheet_that_is_not_there_is_named_itself(run: Run) -> None:
    done = run("estimate", "nowhere.csv")
    check_refused(done, "nowhere.csv is not found")
    assert "campaign.db" not in done.err
