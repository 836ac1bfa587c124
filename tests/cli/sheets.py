"""Made-up pools, and what people do to the sheets drawn from them."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fieldcheck

CODE = {"PYTHONPATH": str(Path(fieldcheck.__file__).parents[1])}
"""For processes in other folders: the package that is tested, installed or not."""

CLASSES = ("grüner Tee", "black tea", "Kräuter, mild")
SIZE = 240


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


def write(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([list(header), *rows])
    return path


def tea_rows() -> list[list[object]]:
    dice = random.Random(11)  # noqa: S311 -- made-up data
    rows: list[list[object]] = []
    for item in range(SIZE):
        truth, confidence = dice.choice(CLASSES), round(dice.random() ** 0.4, 3)
        said = truth if dice.random() < confidence else dice.choice(CLASSES)
        lsa = round(5 * (1 - confidence) + dice.random(), 3)
        rows.append([f"cup_{item:04d}", said, confidence, lsa, truth, "Darjeeling" if item % 3 else "=cmd()"])
    return rows


def price_rows() -> list[list[object]]:
    dice = random.Random(12)  # noqa: S311 -- made-up data
    rows: list[list[object]] = []
    for item in range(SIZE):
        spread, value = round(dice.random(), 3), round(dice.gauss(10, 1), 3)
        rows.append([item, value, spread, round(value + dice.gauss(0, 2 * spread), 3)])
    return rows


def truth_of(pool: Path) -> dict[str, str]:
    """The true label by id."""
    with pool.open(encoding="utf-8", newline="") as stream:
        return {row["id"]: row["target"] for row in csv.DictReader(stream)}


def outcomes_of(pool: Path) -> dict[str, str]:
    """Right or wrong, by id."""
    with pool.open(encoding="utf-8", newline="") as stream:
        return {row["id"]: "right" if row["target"] == row["prediction"] else "wrong" for row in csv.DictReader(stream)}


def read(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def fill(sheet: Path, labels: dict[str, str], *, first: int | None = None) -> list[dict[str, str]]:
    """Write labels into a sheet, all of them or the first few."""
    rows = read(sheet)
    for row in rows[:first]:
        row["label"] = labels[row["id"].removeprefix("'")]
    return rewrite(sheet, rows)


def rewrite(sheet: Path, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    write(sheet, rows[0], (row.values() for row in rows))
    return rows
