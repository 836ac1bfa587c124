"""The default technique on every subject of a folder: error, failures, coverage; and where its assumptions are broken.

    python benchmarks/waves_study.py FOLDER [--repetitions 500] [--jobs 2] [--conditions plain,shuffled,blind,flipped]

Conditions: `plain`; `shuffled` (auxiliary variables permuted: useless); `blind` (the most confident 2 % of the items
fail); `flipped` (2 % of the outcomes turned round, once). Everything is relative to simple random sampling with the
same number of labels, whose error is known exactly. One line per cell, tab-separated, on standard output; summaries
on standard error.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import registry
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.interval import Interval

BUDGETS = (50, 100, 200, 400, 800)
OBJECTIVES = ("estimate", "balanced", "expose")
LEAKS = {("CN12_CIFAR10", "lsa")}
"""Columns that give away the outcome, and are left out."""

COLUMNS = (
    *("subject", "condition", "objective", "budget", "rmse", "audit_rmse", "bias", "audit_bias_in_se", "failures"),
    *("coverage", "guarded_coverage", "width", "guarded_width"),
)


@dataclass(frozen=True)
class Task:
    path: Path
    condition: str
    objective: str
    budget: int
    repetitions: int
    design: str


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--conditions", default="plain,shuffled,blind,flipped")
    parser.add_argument("--objectives", default=",".join(OBJECTIVES))
    parser.add_argument("--design", default="", help="parameters: floor=0.1")
    given = parser.parse_args()
    tasks = [
        Task(path, condition, objective, budget, given.repetitions, given.design)
        for path in sorted(given.folder.glob("*.csv"))
        for condition in given.conditions.split(",")
        for objective in (given.objectives.split(",") if condition == "plain" else ("estimate",))
        for budget in BUDGETS
    ]
    print("\t".join(COLUMNS))
    rows = []
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for row in pool.imap(cell, tasks, chunksize=5):
            rows.append(row)
            print("\t".join(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row), flush=True)
    summarise(rows)


def cell(task: Task) -> tuple[str | int | float, ...]:
    """One line: rmse, failures and widths relative to simple random sampling."""
    field = prepared(task.path, task.condition)
    truth, spread = float(field.losses.mean()), float(field.losses.std())
    srs = spread / np.sqrt(task.budget) * np.sqrt(1 - task.budget / len(field.losses))
    parameters = f"objective={task.objective}" + (f",{task.design}" if task.design else "")
    design = registry.build(f"waves:{parameters}", auxiliary="+".join(field.frame.auxiliary))
    values, audits, failures = [], [], 0
    standard: list[Interval] = []
    guarded: list[Interval] = []
    for seed in range(task.repetitions):
        labelled = play(field, design, budget=task.budget, seed=seed)
        fit = Fit.of(labelled)
        failures += labelled.failures
        values.append(fit.value)
        audits.append(fit.audit)
        standard.append(fit.trusting(0.95))
        guarded.append(fit.protected(0.95))
    value, audit = np.array(values), np.array(audits)
    return (
        *(task.path.stem, task.condition, task.objective, task.budget),
        float(np.sqrt(np.mean((value - truth) ** 2)) / srs),
        float(np.sqrt(np.mean((audit - truth) ** 2)) / srs),
        float((value.mean() - truth) / srs),
        float((audit.mean() - truth) / (audit.std(ddof=1) / np.sqrt(len(audit)))),
        failures / task.repetitions / (task.budget * float(field.failed.mean())),
        *(float(np.mean([truth in one for one in kind])) for kind in (standard, guarded)),
        *(float(np.mean([one.width for one in kind]) / (3.92 * srs)) for kind in (standard, guarded)),
    )


_fields: dict[tuple[Path, str], Field] = {}


def prepared(path: Path, condition: str) -> Field:
    if (path, condition) not in _fields:
        _fields.clear()
        _fields[path, condition] = prepare(path, condition)
    return _fields[path, condition]


def prepare(path: Path, condition: str) -> Field:
    pool = sources.load(path)
    names = [name for name in ("confidence", "dsa", "lsa", "vae", "sae") if name in derived.names(pool)]
    names = [name for name in names if (path.stem, name) not in LEAKS]
    field = Field.of(pool, auxiliary=names, threshold=0.5)
    rng = np.random.default_rng(0)
    if condition == "shuffled":
        order = rng.permutation(len(pool))
        mixed = {name: values[order] for name, values in field.frame.auxiliary.items()}
        predictions = None if field.frame.predictions is None else field.frame.predictions[order]
        return replace(field, frame=replace(field.frame, auxiliary=mixed, predictions=predictions, _memo={}))
    if condition in ("blind", "flipped") and pool.task == "classification":
        count = round(0.02 * len(pool))
        losses = field.losses.copy()
        if condition == "blind":
            losses[np.argsort(field.frame.auxiliary["confidence"], kind="stable")[:count]] = 1.0
        else:
            turned = rng.choice(len(pool), count, replace=False)
            losses[turned] = 1 - losses[turned]
        return replace(field, losses=losses, failed=losses > 0, truth=1 - float(losses.mean()))
    return field


def summarise(rows: list[tuple[str | int | float, ...]]) -> None:
    table = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    for key in dict.fromkeys((row["condition"], row["objective"]) for row in table):
        for regression in (False, True):
            own = [r for r in table if (r["condition"], r["objective"]) == key]
            own = [r for r in own if str(r["subject"]).startswith("dave") == regression]
            if own:
                say(f"{key[0]} {key[1]}{' (regression)' if regression else ''}", own)


def say(name: str, rows: list[dict[str, str | int | float]]) -> None:
    def column(key: str) -> npt.NDArray[np.float64]:
        return np.array([float(row[key]) for row in rows])

    rmse, failures = column("rmse"), column("failures")
    print(
        f"{name:28} rmse {np.exp(np.log(rmse).mean()):.3f} (worst {rmse.max():.3f})  "
        f"audit {np.exp(np.log(column('audit_rmse')).mean()):.3f}  failures {np.exp(np.log(failures).mean()):.2f}  "
        f"coverage {column('coverage').mean():.3f} (worst {column('coverage').min():.3f})  "
        f"guarded {column('guarded_coverage').mean():.3f} (worst {column('guarded_coverage').min():.3f})  "
        f"width {column('width').mean():.2f}, guarded {column('guarded_width').mean():.2f}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
