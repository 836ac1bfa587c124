"""DeepSample against its paper (Guerriero et al., ICSE 2024), on those of its eleven subjects whose data are here.

    python benchmarks/papers/icse24.py DATA [--keep FOLDER]      every part, about fifteen CPU minutes
    python benchmarks/papers/icse24.py DATA table-4 --short

Models D and E (CIFAR10), G and H (CIFAR100), and DO (steering); A, B and C (MNIST) rebuilt (``mnist_models``), the only
ones with activations, and so with CES. Techniques as published, as far as their estimates are right: no floor, SRS and
GBS with replacement, DeepEST with the text's threshold for lsa. Published numbers are pooled over the same models.
Model F and DD are not here; model I's published column repeats that of H.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnist_models
import numpy as np
from pages import Part, Run, main, table

from fieldcheck import bench
from fieldcheck.bench import Result, Row
from fieldcheck.bench.analysis import significance
from fieldcheck.bench.exhibits.groups import breakdown_table, group_growth, group_rmse
from fieldcheck.bench.ranking import best_auxiliary_table, top_three_table
from fieldcheck.core.exhibit import Matrix, Table

MODELS = {"model_D": "CIFAR10", "model_E": "CIFAR10", "model_G": "CIFAR100", "model_H": "CIFAR100"}
DESIGNS = {
    "gbs:replace=yes": "GBS", "deepest": "DeepEST", "2ups:floor=0": "2-UPS", "rhc:floor=0": "RHC-S", "ssrs": "SSRS",
    "sups:floor=0": "SUPS", "ces": "CES", "srs:replace=yes": "SRS",
}  # fmt: skip
LSA = "deepest:auxiliary=lsa,threshold=mean+var"
"""The threshold of the paper's text, which it takes from ICSE'21; ours is mean+sd, whatever the unit of lsa."""
NAMES = DESIGNS | {LSA: "DeepEST"}
CLASSIFICATION = ("confidence", "lsa", "dsa")
REGRESSION = ("lsa", "vae", "sae")
BUDGETS = (50, 100, 200, 400, 800)
REPETITIONS = 100
TABLE_4 = {
    "GBS": (10.2, 23.1, 16.6), "DeepEST": (28.9, 19.5, 19.2), "2-UPS": (31.0, 19.6, 18.2), "RHC-S": (32.8, 18.7, 18.7),
    "SSRS": (31.4, 19.1, 17.1), "SUPS": (32.7, 18.1, 19.1), "SRS": (17.7, 17.7, 17.7),
}  # fmt: skip
"""Items at least 12.5 degrees off among 200 labels, DO, with LSA, VAE and SAE."""

TABLE_3_MNIST = {
    "GBS": (28.2, 21.0, 20.3), "DeepEST": (80.5, 35.9, 73.0), "2-UPS": (69.5, 25.0, 25.2), "RHC-S": (70.6, 25.5, 23.9),
    "SSRS": (38.4, 27.3, 21.7), "SUPS": (69.8, 25.4, 24.7), "CES": (15.6, 15.6, 15.6), "SRS": (14.6, 14.6, 14.6),
}  # fmt: skip
"""Failures among 200 labels of the published A, B and C, with confidence, LSA and DSA: of other networks than ours."""
OURS = "DeepEST, our threshold"


def budgets(run: Run) -> tuple[int, ...]:
    return (50, 100) if run.short else BUDGETS


@cache
def rebuilt(run: Run) -> dict[str, tuple[Path, Path]]:
    """Pools and activations of the MNIST models; kept where long work is."""
    if run.keep is not None and not run.short:
        return mnist_models.pools(run.data, run.keep / "mnist")
    _SHORT_LIVED.append(TemporaryDirectory())
    return mnist_models.pools(run.data, Path(_SHORT_LIVED[-1].name), short=run.short)


_SHORT_LIVED: list[TemporaryDirectory[str]] = []
"""Folders that go when the script ends."""


def _measured(run: Run, subjects: Sequence[Path], designs: Sequence[str], *others: str, **more: Any) -> Result:
    """Techniques with auxiliary variables; finished cells are kept where long work is."""
    resume = None if run.keep is None or run.short else run.keep / "icse24.journal"
    if resume is not None:
        resume.parent.mkdir(parents=True, exist_ok=True)
    study = bench.Study(subjects, designs, others, budgets(run), repetitions=run.times(REPETITIONS), **more)
    return bench.run(study, resume=resume)


@cache
def both_thresholds(run: Run) -> Result:
    """Classification, DeepEST with lsa twice."""
    names = ["model_G", "model_H"] if run.short else list(MODELS)
    digits = rebuilt(run)
    paths = [*(pool for pool, _ in digits.values()), *(run.data / "subjects" / f"{name}.csv" for name in names)]
    groups = dict.fromkeys(digits, "MNIST") | {name: MODELS[name] for name in names}
    activations = {name: file for name, (_, file) in digits.items()}
    return _measured(run, paths, (*DESIGNS, LSA), *CLASSIFICATION, groups=groups, activations=activations)


def ours(design: str, auxiliary: str) -> bool:
    """Whether this is DeepEST with our own threshold, where the published one is another."""
    return design == "deepest" and auxiliary == "lsa"


@cache
def classification(run: Run) -> Result:
    found = both_thresholds(run)
    return replace(found, cells=tuple(one for one in found.cells if not ours(one.cell.design, one.cell.auxiliary)))


@cache
def regression(run: Run) -> Result:
    designs = [design for design in DESIGNS if design != "ces"]
    more = {"threshold": 0.5, "offset_scale": 25, "groups": {"dave_orig": "Udacity"}}
    return _measured(run, [run.data / "subjects" / "dave_orig.csv"], designs, *REGRESSION, **more)


def named(row: Row) -> Row:
    """With the paper's name of the technique."""
    return {**row, "design": NAMES[row["design"]]}


def rows_of(run: Run, *results: Result) -> list[Row]:
    return [named(row) for result in results or (classification(run), regression(run)) for row in result.fair_rows()]


@cache
def published(run: Run) -> dict[tuple[str, str, str, int], dict[str, str]]:
    """By model, auxiliary variable, technique and budget."""
    with (run.data / "published" / "deepsample_icse24.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    return {(one["model"], one["aux"].lower(), one["technique"], int(one["budget"])): one for one in lines}


def _published(run: Run, row: Row, key: str) -> float:
    model = "DO" if row["subject"] == "dave_orig" else row["subject"].removeprefix("model_")
    for auxiliary in (row["auxiliary"], "none", "", *CLASSIFICATION, *REGRESSION):
        line = published(run).get((model, auxiliary, row["design"], row["budget"]))
        if line is not None and line[key]:
            return float(line[key])
    return float("nan")


def usual(run: Run, rows: Iterable[Row]) -> list[Row]:
    budget = 100 if run.short else 200
    return [row for row in rows if row["budget"] == budget]


def table_2(run: Run) -> str:
    """Accuracy of the subjects."""
    digits = {name: model.accuracy for name, model in mnist_models.MODELS.items()}
    true = digits | {"model_D": 0.715, "model_E": 0.790, "model_G": 0.663, "model_H": 0.574, "dave_orig": 0.904}
    truths = {row["subject"]: row["truth"] for row in rows_of(run)}
    return table(
        ["subject", "published", "here"], [[name, true[name], f"{truth:.3f}"] for name, truth in truths.items()]
    )


def table_3(run: Run) -> str:
    """Failing draws with 200 labels, models of a dataset together: published / here."""
    pooled: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in usual(run, both_thresholds(run).fair_rows()):
        pair = (_published_failures(run, named(row)), row["failures_mean"])
        name = OURS if ours(row["design"], row["auxiliary"]) else NAMES[row["design"]]
        pooled[row["auxiliary"], name, row["group"]].append(pair)
    groups = tuple(dict.fromkeys(group for _, _, group in pooled))
    shown = {key: "{:.1f} / {:.1f}".format(*np.mean(pairs, axis=0)) for key, pairs in pooled.items()}
    lines = dict.fromkeys((auxiliary, design) for auxiliary, design, _ in pooled)
    return table(["χ", "technique", *groups], [[*key, *(shown.get((*key, g), "") for g in groups)] for key in lines])


def _published_failures(run: Run, row: Row) -> float:
    if row["group"] == "MNIST":
        at = CLASSIFICATION.index(row["auxiliary"]) if row["auxiliary"] in CLASSIFICATION else 0
        return TABLE_3_MNIST[row["design"]][at]
    return _published(run, row, "failures_mean")


def table_4(run: Run) -> str:
    """Items at least 12.5° off among 200 labels of DO: published / here, and the histogram from there on."""
    result, budget = regression(run), 100 if run.short else 200
    rows = []
    for one in result.cells:
        if one.cell.budget == budget:
            name, auxiliary = DESIGNS[one.cell.design], one.cell.auxiliary
            theirs = TABLE_4[name][REGRESSION.index(auxiliary) if auxiliary in REGRESSION else 0]
            bins = one.offsets[:, 5:].mean(axis=0)
            counts = one.offsets[:, 5:].sum(axis=1)
            error = float(np.std(counts, ddof=1)) * np.sqrt(1 / 30 + 1 / len(counts)) or 1.0
            off = f"{(counts.mean() - theirs) / error:+.1f}"
            rows.append([auxiliary, name, *(f"{x:.1f}" for x in bins), theirs, f"{counts.mean():.1f}", off])
    heads = [
        "12.5 – 15",
        "15 – 17.5",
        "17.5 – 20",
        "20 – 22.5",
        "over 22.5",
        "published sum",
        "here",
        "standard errors",
    ]
    return table(["χ", "technique", *heads], rows)


def figures_1_and_3(run: Run) -> str:
    """Friedman's p, and pairs that differ by Dunn's test, with 200 labels."""
    rows = []
    for result in (classification(run), regression(run)):
        exhibits = significance(result)
        friedman = next(one for one in exhibits if isinstance(one, Table))
        p = {(line[0], line[1], line[2]): line[5] for line in friedman.rows}
        budget = 100 if run.short else 200
        for one in exhibits:
            if isinstance(one, Matrix) and one.name != "significance/dunn-all":
                subject, auxiliary, _ = one.title.partition("test: ")[2].split(", ")
                worse = {name: sum(v == -1 for v in line) for name, line in zip(one.rows, one.values, strict=True)}
                beaten = ", ".join(f"{NAMES[name]} ({n})" for name, n in worse.items() if n)
                rows.append([subject, auxiliary, f"{p[subject, auxiliary, budget]:.1g}", beaten or "none"])
    return table(["subject", "χ", "Friedman's p", "significantly worse than how many others"], rows)


def figures_2_4_5(run: Run) -> str:
    """RMSE and RMedSE with 200 labels: published / here."""
    rows = []
    for row in usual(run, rows_of(run)):
        pairs = [f"{_published(run, row, key):.4f} / {row[key]:.4f}".replace("nan", "–") for key in ("rmse", "rmedse")]
        rows.append([row["subject"], row["auxiliary"], row["design"], *pairs])
    return table(["subject", "χ", "technique", "RMSE", "RMedSE"], rows)


def markdown(exhibit: Table) -> str:
    shown = [
        [f"{cell:.3g}" if isinstance(cell, float) else "" if cell is None else cell for cell in row]
        for row in exhibit.rows
    ]
    return table(exhibit.columns, shown)


def tables_6_7(run: Run) -> str:
    """Budget of the smallest RMSE, in the paper's form."""
    return markdown(group_rmse(rows_of(run), budgets(run)))


def tables_8_9(run: Run) -> str:
    """Failing draws from the smallest to the largest budget, in the paper's form."""
    return markdown(group_growth(rows_of(run), budgets(run)))


def table_10(run: Run) -> str:
    """Top three by task, budget, accuracy and auxiliary variable."""
    return markdown(top_three_table(rows_of(run)))


def table_11(run: Run) -> str:
    """How often each auxiliary variable is the best."""
    found = best_auxiliary_table(rows_of(run))
    assert found is not None
    return markdown(found)


def section_6(run: Run) -> str:
    """By partitioning, replacement, accuracy and dataset."""
    results = (classification(run), regression(run))
    return markdown(breakdown_table([row for result in results for row in result.fair_rows()]))


PARTS: dict[str, Part] = {
    "table-2": table_2,
    "table-3": table_3,
    "table-4": table_4,
    "figures-1-3": figures_1_and_3,
    "figures-2-4-5": figures_2_4_5,
    "tables-6-7": tables_6_7,
    "tables-8-9": tables_8_9,
    "table-10": table_10,
    "table-11": table_11,
    "section-6": section_6,
}

if __name__ == "__main__":
    main("icse24", PARTS, __doc__)
