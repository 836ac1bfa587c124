"""Point and intervals of `waves` at every accuracy: 4 pools x 3 budgets x 4 conditions x 500 campaigns.

    python benchmarks/right_numbers.py [--quick] [--jobs 2] [--pools NAME,...] [--out cells.tsv]

Conditions: `plain`; `hidden` (the most confident 2 % of the items fail); `shuffled` (signals permuted: useless);
`flipped` (2 % of the outcomes turned round, once). Beside the core grid: `few_hidden` (the most confident half percent)
and `adversary` (four of five of the most doubtful tenth fail, the most confident 2 %, and nothing else). Objectives
`estimate` and `protected`. Widths are relative to the expected width of the exact interval of a simple random sample,
errors to the exact error of one, and to the best of SRS, SSRS, SUPS and RHC-S with any auxiliary variable, all by
their exact formulas. Pools by name: the published subjects (``FIELDCHECK_DATA``), and those of ``accurate_pools.py``.
With 800 labels there are two fifths as many campaigns. Takes under an hour on one core; ``--quick`` a few minutes.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from accurate_pools import POOLS, TESTED, pool
from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import registry
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics.intervals.exact import hypergeometric
from fieldcheck.numerics.sampling.allocation import allocate
from fieldcheck.numerics.sampling.draws import pps_sizes
from fieldcheck.numerics.sampling.partition import kmeans
from networks import data_folder
from waves_study import LEAKS

FloatArray = npt.NDArray[np.float64]
CORE = ("one_digit", "signs_smoothed", "VGG16_CIFAR10", "model_H")
CONDITIONS = ("plain", "hidden", "shuffled", "flipped")
BUDGETS = (50, 200, 800)
LARGEST = 5_000
"""Larger pools are cut to this many items, at random."""
OBJECTIVES = ("estimate", "protected")
COLUMNS = (
    *("pool", "condition", "budget", "objective", "accuracy", "rmse", "rmse_best", "bias", "failures"),
    *("protected", "protected_width", "trusting", "trusting_width"),
)


@dataclass(frozen=True)
class Cell:
    pool: str
    condition: str
    budget: int
    objective: str
    campaigns: int
    first: int = 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pools", default=",".join(CORE))
    parser.add_argument("--conditions", default=",".join(CONDITIONS))
    parser.add_argument("--budgets", default="")
    parser.add_argument("--objectives", default=",".join(OBJECTIVES))
    parser.add_argument("--campaigns", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    campaigns = given.campaigns or (60 if given.quick else 500)
    budgets = [int(one) for one in given.budgets.split(",") if one] or (BUDGETS[:2] if given.quick else BUDGETS)
    cells = [
        Cell(name, condition, budget, objective, campaigns if budget < BUDGETS[-1] else 2 * campaigns // 5, given.first)
        for name in given.pools.split(",")
        for condition in given.conditions.split(",")
        for budget in budgets
        for objective in given.objectives.split(",")
    ]
    rows, started = [], time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(given.jobs) as workers:
        for row in workers.imap(measured, cells):
            rows.append(row)
            line = "\t".join(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row)
            print(line, flush=True)
            if given.out:
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
    print(f"\n{time.perf_counter() - started:.0f} s")
    summarise(rows, campaigns)


def measured(cell: Cell) -> tuple[str | int | float, ...]:
    """One line."""
    frame, losses = conditioned(cell.pool, cell.condition)
    truth, budget = float(losses.mean()), cell.budget
    design = registry.build(f"waves:objective={cell.objective}", auxiliary="+".join(frame.auxiliary))
    values, failures, bounds = [], 0, []
    for seed in range(cell.first, cell.first + cell.campaigns):
        sample = design.draw(frame, losses, budget=budget, seed=seed)
        drawn = losses[sample.items]
        fit = Fit.of(Labelled(sample, drawn, drawn > 0))
        values.append(fit.value)
        failures += int(drawn.sum())
        both = fit.protected(0.95), fit.trusting(0.95)
        bounds.append([truth in both[0], both[0].width, truth in both[1], both[1].width])
    error, (held, width, trusted, narrow) = np.array(values) - truth, np.mean(bounds, axis=0)
    rmse, exact = float(np.sqrt(np.mean(error**2))), exact_width(int(losses.sum()), budget, frame.size)
    srs = srs_error(losses, budget)
    return (
        *(cell.pool, cell.condition, budget, cell.objective, 1 - truth),
        *(rmse / srs, rmse / best_published(cell.pool, cell.condition, budget), float(error.mean()) / srs),
        failures / (cell.campaigns * max(budget * truth, 1e-9)),
        *(float(held), float(width / exact), float(trusted), float(narrow / exact)),
    )


@lru_cache(maxsize=2)
def conditioned(name: str, condition: str) -> tuple[Frame, FloatArray]:
    frame, losses = loaded(name)
    rng, size = np.random.default_rng(0), frame.size
    if condition == "shuffled":
        order = rng.permutation(size)
        mixed = {key: values[order] for key, values in frame.auxiliary.items()}
        predictions = None if frame.predictions is None else frame.predictions[order]
        return replace(frame, auxiliary=mixed, predictions=predictions, _memo={}), losses
    losses, count = losses.copy(), round(0.02 * size)
    doubt = np.argsort(frame.auxiliary["confidence"], kind="stable")
    if condition == "hidden":
        losses[doubt[:count]] = 1.0
    if condition == "few_hidden":
        losses[doubt[: count // 4]] = 1.0
    if condition == "adversary":
        losses[:] = 0.0
        losses[doubt[:count]] = 1.0
        losses[doubt[-size // 10 :]] = rng.random(len(doubt[-size // 10 :])) < 0.8
    if condition == "flipped":
        turned = rng.choice(size, count, replace=False)
        losses[turned] = 1 - losses[turned]
    return frame, losses


def loaded(name: str) -> tuple[Frame, FloatArray]:
    """A pool, or a random part of it."""
    frame, losses = whole(name)
    if frame.size <= LARGEST:
        return frame, losses
    kept = np.sort(np.random.default_rng(1).permutation(frame.size)[:LARGEST])
    predictions = None if frame.predictions is None else frame.predictions[kept]
    part = {key: values[kept] for key, values in frame.auxiliary.items()}
    return replace(frame, size=LARGEST, auxiliary=part, predictions=predictions, _memo={}), losses[kept]


def whole(name: str) -> tuple[Frame, FloatArray]:
    if name in POOLS or name in TESTED:
        arrays = pool(name)
        doubt = 1 - arrays["confidence"].astype(np.float64)
        frame = Frame(
            len(doubt),
            auxiliary={"confidence": doubt},
            predictions=arrays["predicted"].astype(np.int64),
            traits=derived.traits(),
        )
        return frame, arrays["failed"].astype(np.float64)
    found = sources.load(data_folder() / "subjects" / f"{name}.csv")
    names = [one for one in ("confidence", "dsa", "lsa") if one in derived.names(found) and (name, one) not in LEAKS]
    return derived.frame(found, names), found.losses()


def srs_error(losses: FloatArray, budget: int) -> float:
    return math.sqrt(float(losses.var(ddof=1)) * (1 / budget - 1 / len(losses)))


@lru_cache(maxsize=64)
def exact_width(failures: int, budget: int, size: int) -> float:
    """Expected width of the exact interval of a simple random sample."""
    from scipy.stats import hypergeom

    found = hypergeom(size, failures, budget)
    counts = np.arange(int(found.ppf(1e-5)), int(found.ppf(1 - 1e-5)) + 1)
    widths = [high - low for low, high in (hypergeometric(int(k), budget, size, level=0.95) for k in counts)]
    return float(np.average(widths, weights=found.pmf(counts)))


@lru_cache(maxsize=64)
def best_published(name: str, condition: str, budget: int) -> float:
    """Smallest exact error of SRS, SSRS, SUPS and RHC-S with any of the auxiliary variables."""
    frame, losses = conditioned(name, condition)
    errors = [srs_error(losses, budget)]
    for auxiliary in frame.auxiliary:
        chance = pps_sizes(frame.size_measure(auxiliary), 0.1).probability
        spread = float((losses**2 / chance).sum()) / frame.size**2 - float(losses.mean()) ** 2
        groups = np.array([len(part) for part in np.array_split(np.arange(frame.size), budget)])
        share = (float((groups**2).sum()) - frame.size) / (frame.size * (frame.size - 1))
        errors += [math.sqrt(spread / budget), math.sqrt(spread * share), ssrs_error(frame, losses, auxiliary, budget)]
    return min(errors)


def ssrs_error(frame: Frame, losses: FloatArray, auxiliary: str, budget: int) -> float:
    values = frame.chi(auxiliary)
    strata = kmeans(values, min(10, budget))
    spread = np.array([len(group) * float(np.std(values[group])) for group in strata.members])
    counts = allocate(budget, strata.sizes, np.round(spread / max(float(spread.max()), 1e-300), 12))
    terms = [
        (len(group) / frame.size) ** 2 * float(losses[group].var(ddof=1)) * (1 / count - 1 / len(group))
        for group, count in zip(strata.members, counts, strict=True)
        if len(group) > 1
    ]
    return math.sqrt(sum(terms))


def summarise(rows: list[tuple[str | int | float, ...]], campaigns: int) -> None:
    """Lowest and mean coverage, mean and largest width, and errors, by objective and condition."""
    table = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    print(f"\n{campaigns} campaigns a cell; standard error of a coverage of .95: {math.sqrt(0.0475 / campaigns):.3f}")
    print(
        "| objective | condition | protected: coverage lowest / mean | width mean (largest) | if right | width "
        "| RMSE / SRS mean (largest) | / best published |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for objective, condition in dict.fromkeys((row["objective"], row["condition"]) for row in table):
        own = [row for row in table if (row["objective"], row["condition"]) == (objective, condition)]

        def column(key: str, own: list[dict[str, str | int | float]] = own) -> FloatArray:
            return np.array([float(row[key]) for row in own])

        print(
            f"| {objective} | {condition} "
            f"| {column('protected').min():.3f} / {column('protected').mean():.3f} "
            f"| {column('protected_width').mean():.2f} ({column('protected_width').max():.2f}) "
            f"| {column('trusting').min():.3f} / {column('trusting').mean():.3f} "
            f"| {column('trusting_width').mean():.2f} ({column('trusting_width').max():.2f}) "
            f"| {column('rmse').mean():.2f} ({column('rmse').max():.2f}) "
            f"| {column('rmse_best').mean():.2f} ({column('rmse_best').max():.2f}) |"
        )


if __name__ == "__main__":
    main()
