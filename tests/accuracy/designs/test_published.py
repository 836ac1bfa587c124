"""The papers' own numbers: how many failures each technique finds, against 30 repetitions of the authors.

Both means are of independent repetitions with (nearly) the same spread, ours with R, theirs with 30: their difference,
over ``sd √(1/30 + 1/R)`` with our sd, follows Student's t with R - 1 degrees of freedom. The limit is such that one of
all cells of a table crosses it with probability 1e-4 (Bonferroni).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from fieldcheck.accuracy import designs
from fieldcheck.accuracy.auxiliary import Combined, derived
from fieldcheck.sources import load

from .subjects import subject

THEIRS = 30
BUDGETS = (50, 100, 200, 400, 800)
MODELS = ("D", "E", "G", "H")
AUXILIARY = ("confidence", "dsa", "lsa")
SPECS = {
    "SRS": "srs:replace=yes",
    "SUPS": "sups:floor=0",
    "RHC-S": "rhc:floor=0",
    "2-UPS": "2ups:floor=0",
    "DeepEST": "deepest",
    "GBS": "gbs:replace=yes",
    "SSRS": "ssrs",
}
"""The published techniques: without a floor, and with replacement where the authors draw so."""
RULES = {("DeepEST", "lsa"): "deepest:threshold=mean+var"}
"""Where what is published is not our default; here lsa is scaled to [0, 1], so that the rule works."""


@dataclass(frozen=True)
class Cell:
    """One comparison of mean failure counts."""

    name: str
    ours: float
    sd: float
    repeats: int
    published: float

    @property
    def z(self) -> float:
        return (self.ours - self.published) / self.error

    @property
    def error(self) -> float:
        return self.sd * np.sqrt(1 / THEIRS + 1 / self.repeats)

    def __str__(self) -> str:
        return f"{self.name:<32} ours {self.ours:8.2f}  published {self.published:8.2f}  z {self.z:+.2f}"


def limit(cells: list[Cell]) -> float:
    return float(t.isf(1e-4 / 2 / len(cells), cells[0].repeats - 1))


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def published(published_data: Path) -> dict[tuple[str, str, str, int], float]:
    """Mean failure counts of the ICSE'24 study by model, auxiliary variable, technique and budget."""
    rows = read(published_data / "published" / "deepsample_icse24.csv")
    return {
        (row["model"], row["aux"], row["technique"], int(row["budget"])): float(row["failures_mean"])
        for row in rows
        if row["model"] in MODELS
    }


def failing_draws(field, spec: str, auxiliary: str, *, seeds: range) -> np.ndarray:
    """Failing draws, repeats counted as the authors do; one row per repetition, one column per budget.

    Where the first draws of a sample are a sample of the smaller budget, one sample serves all budgets.
    """
    design = designs.registry.build(spec, auxiliary=auxiliary)
    counts = np.empty((len(seeds), len(BUDGETS)))
    for row, seed in enumerate(seeds):
        sample = design.draw(field.frame, field.losses, budget=BUDGETS[-1], seed=seed)
        for at, budget in enumerate(BUDGETS):
            if not sample.draws.prefix_valid or spec == "ssrs":
                sample = design.draw(field.frame, field.losses, budget=budget, seed=100_000 * at + seed)
            counts[row, at] = field.losses[sample.items[:budget]].sum()
    return counts


def compare(published_data: Path, published, technique: str, *, repeats: int) -> list[Cell]:
    cells = []
    for model in MODELS:
        field = subject(published_data / "subjects" / f"model_{model}.csv", AUXILIARY)
        for auxiliary in ("none",) if technique == "SRS" else AUXILIARY:
            seeds = range(len(cells) * 100, len(cells) * 100 + repeats)  # no cell shares its randomness with another
            spec = RULES.get((technique, auxiliary), SPECS[technique])
            counts = failing_draws(field, spec, auxiliary, seeds=seeds)
            for budget, column in zip(BUDGETS, counts.T, strict=True):
                name = f"{technique} {model} {auxiliary} {budget}"
                theirs = published[model, auxiliary, technique, budget]
                cells.append(Cell(name, column.mean(), column.std(ddof=1), repeats, theirs))
    return cells


@pytest.mark.parametrize(
    ("technique", "repeats"), [("SRS", 60), ("SUPS", 60), ("RHC-S", 30), ("2-UPS", 60), ("DeepEST", 40)]
)
def test_failure_counts(published_data: Path, published, technique: str, repeats: int) -> None:
    cells = compare(published_data, published, technique, repeats=repeats)
    reach = limit(cells)
    assert not [str(cell) for cell in cells if abs(cell.z) > reach]
    # The whole table leans to neither side. One sample serves five budgets, so only the curves are independent; their
    # mean z has a variance of one over their number at most.
    groups = np.array([cell.z for cell in cells]).reshape(-1, len(BUDGETS)).mean(axis=1)
    assert abs(groups.mean()) < 5 / np.sqrt(len(groups))


def test_failure_counts_of_gbs(published_data: Path, published) -> None:
    """From 200 labels on as for the others.

    Before, the published code finds fewer: its counts start at 1 before the first draw, which blurs where failures are;
    ours may exceed it there by up to a tenth of the labels.
    """
    cells = compare(published_data, published, "GBS", repeats=40)
    late = [cell for cell in cells if int(cell.name.split()[-1]) >= 200]
    reach = limit(late)
    assert not [str(cell) for cell in late if abs(cell.z) > reach]
    for cell in (cell for cell in cells if cell not in late):
        more = 0.1 * int(cell.name.split()[-1])
        assert -4.5 * cell.error <= cell.ours - cell.published <= 4.5 * cell.error + more, str(cell)


def test_failure_counts_of_ssrs_are_reported(published_data: Path, published, record_property) -> None:
    """Its allocation differs from the published code on purpose; the counts stand beside each other in the record."""
    cells = compare(published_data, published, "SSRS", repeats=10)
    for cell in cells:
        record_property(cell.name, f"{cell.ours:.1f} published {cell.published:.1f}")
        print(cell)
    ratio = np.median([cell.ours / cell.published for cell in cells])
    # Same strata, same rule for all but the smallest ones: a median far from 1 would mean another technique.
    assert 0.8 < ratio < 1.25


VARIANTS = {"DeepEST_CS": "confidence", "DeepEST_DSA": "dsa", "DeepEST_LSA": "lsa", "DeepEST_C": "combined"}


def table_ii(published_data: Path, *, repeats: int, published_thresholds: bool) -> list[Cell]:
    """ICSE'21, table II: failing examples among 200 labels."""
    files = published_data / "published"
    thresholds = {
        (r["file"], r["auxiliary"]): float(r["threshold"])
        for r in read(files / "deepest_icse21_thresholds.csv")
        if published_thresholds
    }
    cells = []
    for row in read(files / "deepest_icse21_table2.csv"):
        if row["technique"] not in VARIANTS:
            continue
        auxiliary = VARIANTS[row["technique"]]
        field = subject(published_data / "subjects" / f"{row['file']}.csv", tuple(VARIANTS.values()))
        design = designs.DeepEst(auxiliary, threshold=thresholds.get((row["file"], auxiliary)))
        seeds = range(len(cells) * repeats, (len(cells) + 1) * repeats)  # as above: no randomness is shared
        counts = found(design, field, field.losses > 0, seeds=seeds)
        name = f"{row['file']} {auxiliary}"
        cells.append(Cell(name, counts.mean(), counts.std(ddof=1), repeats, float(row["failures_mean"])))
    assert len(cells) == 16
    return cells


def found(design, field, failed, *, seeds: range) -> np.ndarray:
    """Failing items among 200, one count per repetition."""
    samples = (design.draw(field.frame, field.losses, budget=200, seed=seed) for seed in seeds)
    return np.array([failed[sample.items].sum() for sample in samples])


def test_deepest_table_ii(published_data: Path) -> None:
    cells = table_ii(published_data, repeats=200, published_thresholds=True)
    assert not [str(cell) for cell in cells if abs(cell.z) > 4]


def test_deepest_table_ii_with_our_thresholds(published_data: Path, record_property) -> None:
    """They differ for lsa only; there no count falls below half of the published one.

    The lowest is CN12, whose lsa takes ten values: above the published threshold lies none of them, so that its 38 are
    those of a random sample; above ours lie two, in which fewer fail.
    """
    for cell in table_ii(published_data, repeats=200, published_thresholds=False):
        record_property(cell.name, f"{cell.ours:.1f} published {cell.published:.1f}")
        assert cell.ours > cell.published / 2, str(cell)
        assert " lsa" in cell.name or abs(cell.z) < 4, str(cell)


def test_combined_is_the_published_column(published_data: Path) -> None:
    """To its rounding; with min-max in place of the maximum every subject would be .03 to .05 off."""
    for name in ("CN5_MNIST", "LN5_MNIST", "CN12_CIFAR10", "VGG16_CIFAR10"):
        pool = load(published_data / "subjects" / f"{name}.csv")
        frame = derived.frame(pool, ("dsa", "combined"))
        ours = Combined.column(pool.confidence, frame.values("dsa"))
        np.testing.assert_allclose(ours, frame.values("combined"), atol=1e-7)


STEERING = {"lsa": 28.9, "vae": 19.5, "sae": 19.2}
"""ICSE'24, table 4: items of the model DO that are 12.5 degrees off or more, among 200 labels of DeepEST."""


@pytest.mark.parametrize("auxiliary", list(STEERING))
def test_deepest_in_regression(published_data: Path, auxiliary: str) -> None:
    field = subject(published_data / "subjects" / "dave_orig.csv", tuple(STEERING))
    counts = found(designs.DeepEst(auxiliary), field, 25 * np.sqrt(field.losses) >= 12.5, seeds=range(200))
    cell = Cell(auxiliary, counts.mean(), counts.std(ddof=1), 200, STEERING[auxiliary])
    assert abs(cell.z) < 4, str(cell)
