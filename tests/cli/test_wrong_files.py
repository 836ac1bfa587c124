"""A file that is something else says what it is, and what to run: never that it is damaged."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest
from PIL import Image

from .sheets import Run


@pytest.fixture
def work(run: Run, tmp_path: Path) -> Path:
    rows = "\n".join(f"r{at},{'ab'[at % 2]},0.{at % 40 + 55}" for at in range(120))
    (tmp_path / "pool.csv").write_text(f"id,prediction,confidence\n{rows}\n")
    assert run("start", "pool.csv", "--campaign", "c.db", "--budget", "40").code == 0
    assert run("next", "c.db", "--out", "to_label.csv").code == 0
    assert run("sample", "pool.csv", "--out", "sheet.csv", "--budget", "40").code == 0
    (tmp_path / "images").mkdir()
    Image.new("L", (4, 4)).save(tmp_path / "images" / "a.png")
    (tmp_path / "net.onnx").write_bytes(b"\x08\x07")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("estimate pool.csv", "is a pool of 120 items"),
        ("report pool.csv --out r.html", "is a pool of 120 items"),
        ("status pool.csv", "is a pool of 120 items"),
        ("report to_label.csv --out r.html", "is a sheet of items to label"),
        ("estimate to_label.csv", "is a sheet of items to label"),
        ("start c.db --campaign d.db", "is a campaign"),
        ("inspect c.db", "is a campaign"),
        ("inspect images", "is a folder of images"),
        ("start net.onnx --campaign d.db", "is a model"),
        ("plan sheet.csv", "is a sheet to fill in"),
    ],
)
def test_says_what_it_is_and_what_to_run(run: Run, work: Path, words: str, what: str) -> None:
    done = run(*shlex.split(words))
    assert done.code in (2, 3)
    assert what in done.err
    hint = done.err.partition("try:  ")[2]
    assert hint.startswith("fieldcheck ")
    assert "backup" not in done.err
    if not {"MODEL", "INPUTS", "CAMPAIGN"} & set(hint.split()) and "estimate" not in hint:
        assert run(*shlex.split(hint)[1:]).code == 0


def test_what_is_right_but_bad_says_what_is_wrong_with_it(run: Run, work: Path) -> None:
    (work / "bad.csv").write_text("id,prediction,confidence\n1,a,2.5\n2,b,0.5\n3,b,0.5\n")
    assert "outside [0, 1]" in run("start", "bad.csv", "--campaign", "d.db").err
    with (work / "sheet.csv").open() as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    (work / "sheet.csv").write_text("id,label\n" + f"{ids[0]},zebra\n")
    assert "zebra" in run("estimate", "sheet.csv").err
