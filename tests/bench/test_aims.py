"""Which objective for which aim: the advice says what the docs say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fieldcheck.bench import aims
from fieldcheck.core.errors import BenchError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "improve.md"


@pytest.mark.parametrize("one", aims.MEASURED.values(), ids=lambda one: one.objective)
def test_the_docs_have_the_same_numbers(one: aims.Measured) -> None:
    (row,) = re.findall(rf"^\| [\w ]+ \| `{one.objective}`.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    _, _, _, error, gain, _ = (cell.strip() for cell in row.split("|"))
    assert tuple(map(float, re.findall(r"\d*\.\d+", error)[:3])) == one.error
    said = [float(number) for number in re.findall(r"[+-]?\d*\.\d+", gain.replace("−", "-"))]
    assert said == [number for pair in one.gain.values() for number in pair]


def test_advice() -> None:
    assert str(aims.advice("both")).startswith("--objective balanced --train-share 0.5\n")
    assert str(aims.advice("estimate")).startswith("--objective estimate\n")
    assert aims.advice("improve").to_dict()["objective"] == "balanced"
    with pytest.raises(BenchError, match="no aim 'fun'"):
        aims.advice("fun")
