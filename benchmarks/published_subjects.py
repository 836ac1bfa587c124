"""All techniques on all subjects of a folder: coverage, error, failures; and the rows that `recommend` answers from.

    python benchmarks/published_subjects.py FOLDER [--repetitions 1000] [--jobs 2] [--only waves,deepest] [--write]

FOLDER holds labelled pools (the published subjects, which are not part of this project), and beside a pool, where they
are there, its activations under the same name (.npy), for CES; `papers/mnist_models.py` makes such a folder. Goes on
where it stopped (measured.journal in the folder of results). Rows of subjects that are not in the folder are taken as
they ship; with --only those of the other techniques, too. --write replaces src/fieldcheck/bench/measured.json. The
table is printed as Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck import bench
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.bench import Row
from fieldcheck.engines import Processes
from fieldcheck.sources import load

HERE = Path(__file__).resolve().parent
DESIGNS = ("srs", "css", "ssrs", "gbs", "sups", "rhc", "2ups", "deepest", "ces")
WAVES = ("waves", *(f"waves:objective={one}" for one in ("estimate", "balanced", "expose")))
GROUPS = {
    **dict.fromkeys(("CN5_MNIST", "LN5_MNIST"), "MNIST"),
    **dict.fromkeys(("model_A", "model_B", "model_C"), "MNIST-rebuilt"),
    **dict.fromkeys(("CN12_CIFAR10", "VGG16_CIFAR10", "model_D", "model_E", "model_F"), "CIFAR10"),
    **dict.fromkeys(("model_G", "model_H", "model_I"), "CIFAR100"),
    **dict.fromkeys(("dave_orig", "dave_dropout"), "Udacity"),
}
BUDGETS = (50, 100, 200, 400, 800)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="techniques to measure again: waves,deepest")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    subjects, journal = sorted(pools(given.folder)), HERE / "results" / "measured.journal"
    groups = {path.stem: GROUPS[path.stem] for path in subjects if path.stem in GROUPS}
    beside = {path.stem: path.with_suffix(".npy") for path in subjects}
    activations = {name: path for name, path in beside.items() if path.exists()}
    common: dict[str, Any] = {"subjects": subjects, "budgets": BUDGETS, "threshold": 0.5, "groups": groups}
    common["activations"] = activations
    ours = DESIGNS if activations else tuple(name for name in DESIGNS if name != "ces")
    have = {name for path in subjects for name in derived.names(load(path))}
    plans = [
        bench.Study(designs=designs, auxiliaries=known(auxiliaries, have), repetitions=repetitions, **common)
        for designs, auxiliaries, repetitions in (
            (ours, ("confidence", "dsa", "lsa", "vae", "sae"), given.repetitions),
            (WAVES, ("confidence", "confidence+dsa+lsa", "lsa+vae+sae"), min(given.repetitions, 300)),
        )
    ]
    wanted = [narrowed(plan, given.only.split(",")) for plan in plans] if given.only else plans
    parts = [bench.run(plan, engine=Processes(given.jobs), progress=tell, resume=journal) for plan in wanted if plan]
    here = set() if given.only else {path.stem for path in subjects}
    found = {cell_of(row): row for row in bench.measured_rows() if row["subject"] not in here}
    found |= {cell_of(row): row for part in parts for row in part.fair_rows()}
    rows = list(found.values())
    print(f"{given.repetitions} repetitions a cell, {plans[1].repetitions} for waves\n")
    for task in ("classification", "regression"):
        tell_task(task, [row for row in rows if row["task"] == task])
    if given.write:
        target = HERE.parent / "src" / "fieldcheck" / "bench" / "measured.json"
        target.write_text(bench.compact_json(rows, seed=parts[0].seed, level=parts[0].level), encoding="utf-8")
        print(f"wrote {target.relative_to(HERE.parent)}", file=sys.stderr)


def pools(folder: Path) -> list[Path]:
    return [*folder.glob("*.csv"), *folder.glob("*.parquet")]


def known(auxiliaries: tuple[str, ...], have: set[str]) -> tuple[str, ...]:
    """Those that some subject has."""
    return tuple(name for name in auxiliaries if set(name.split("+")) <= have)


def narrowed(plan: bench.Study, names: list[str]) -> bench.Study | None:
    """The plan with these techniques only; None when it has none of them."""
    designs = tuple(design for design in plan.designs if design.partition(":")[0] in names)
    return replace(plan, designs=designs) if designs else None


def cell_of(row: Row) -> bench.Cell:
    return bench.Cell(row["subject"], row["design"], row["auxiliary"], row["budget"])


def tell_task(task: str, rows: list[Row]) -> None:
    print(f"## {task}\n\nSmallest coverage over subjects and auxiliary variables, and mean coverage:\n")
    table(rows, coverage)
    kinds = {"RMSE": "rmse", "Failing draws": "failures_mean", "Distinct failing items": "exposed_mean"}
    for name, key in kinds.items():
        print(f"\n{name} relative to srs, geometric mean:\n")
        table(rows, partial(geometric, key=key, rows=rows))
    print()


def coverage(cell: list[Row]) -> str:
    values = [row["coverage"] for row in cell]
    return f"{min(values):.3f} / {np.mean(values):.3f}"


def table(rows: list[Row], show: Callable[[list[Row]], str]) -> None:
    print("| design | " + " | ".join(map(str, BUDGETS)) + " |")
    print("|---" * (len(BUDGETS) + 1) + "|")
    for design in (*DESIGNS, *WAVES):
        cells = [[row for row in rows if row["design"] == design and row["budget"] == budget] for budget in BUDGETS]
        print(f"| {design} | " + " | ".join(show(cell) if cell else "" for cell in cells) + " |")


def geometric(cell: list[Row], *, key: str, rows: list[Row]) -> str:
    baseline = {(r["subject"], r["budget"]): r[key] for r in rows if r["design"] == "srs"}  # type: ignore[literal-required]
    ratios = [r[key] / baseline[r["subject"], r["budget"]] for r in cell]  # type: ignore[literal-required]
    return f"{np.exp(np.mean(np.log(ratios))):.2f}"


def tell(done: int, total: int, cell: bench.Cell) -> None:
    if done % 50 == 0:
        print(f"{done} of {total}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
