"""Point and intervals of `waves` at every accuracy: 4 pools x 3 budgets x 4 conditions x 500 campaigns.

    python benchmarks/right_numbers.py [--quick] [--pools NAME,...] [--conditions ...] [--out cells.tsv]

Conditions: `plain`; `hidden` (the most confident 2 % of the items fail); `shuffled` (signals permuted: useless);
`flipped` (2 % of the outcomes turned round, once). Beside the core grid: `few_hidden` (the most confident half percent)
and `adversary` (four of five of the most doubtful tenth fail, the most confident 2 %, and nothing else). Objectives
`estimate` and `protected`. Widths are relative to the expected width of the exact interval of a simple random sample,
errors to the exact error of one, and to the best of SRS, SSRS, SUPS and RHC-S with any auxiliary variable, all by
their exact formulas. Pools by name: the published subjects (``FIELDCHECK_DATA``), and those of ``accurate_pools.py``;
without names the four that nothing was chosen on. Takes half an hour on one quiet core; ``--quick`` a few minutes.
``--out`` is written cell by cell, and what it has is not measured again.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from accurate_pools import CORE, POOLS, TESTED, pool
from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import registry
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics.intervals.exact import hypergeometric
from fieldcheck.numerics.intervals.protected import MeanEvidence, protected
from fieldcheck.numerics.regression.assisted import hit_rate
from fieldcheck.numerics.sampling.allocation import allocate
from fieldcheck.numerics.sampling.draws import pps_sizes
from fieldcheck.numerics.sampling.partition import kmeans
from networks import data_folder

FloatArray = npt.NDArray[np.float64]
CONDITIONS = ("plain", "hidden", "shuffled", "flipped")
BUDGETS = (50, 200, 800)
LARGEST = 5_000
"""Larger pools are cut to this many items, at random."""
LEAKS = {("CN12_CIFAR10", "lsa")}
"""Columns of the published subjects that were computed from the labels."""
OBJECTIVES = ("estimate", "protected")
COLUMNS = (
    *("pool", "condition", "budget", "objective", "campaigns", "accuracy", "rmse", "rmse_se", "rmse_best", "bias"),
    *("failures", "protected", "protected_width", "trusting", "trusting_width", "srs_width", "none", "none_width"),
)
"""``rmse_se``: its standard error. ``srs_width``: of a random sample whose interval allows for as much of an unseen
failure as the protected one. ``none``: share of the campaigns without a failure, ``none_width``: their widest protected
interval, relative to the exact one of a random sample without a failure."""


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
        Cell(name, condition, budget, objective, campaigns, given.first)
        for budget in budgets
        for condition in given.conditions.split(",")
        for name in given.pools.split(",")
        for objective in given.objectives.split(",")
    ]
    known = given.out.read_text(encoding="utf-8").splitlines() if given.out and given.out.exists() else []
    done = {tuple(line.split("\t")[:5]): line for line in known}
    started = time.perf_counter()
    for cell in cells:
        key = (cell.pool, cell.condition, str(cell.budget), cell.objective, str(cell.campaigns))
        if key not in done:
            done[key] = "\t".join(f"{one:.4g}" if isinstance(one, float) else str(one) for one in measured(cell))
            if given.out:
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(done[key] + "\n")
        print(done[key], flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")
    table = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in done.values()]
    summarise(table)


def measured(cell: Cell) -> tuple[str | int | float, ...]:
    """One line."""
    frame, losses = conditioned(cell.pool, cell.condition)
    truth, budget = float(losses.mean()), cell.budget
    design = registry.build(f"waves:objective={cell.objective}", auxiliary="+".join(frame.auxiliary))
    values, failures, bounds, none = [], 0, [], [0.0]
    for seed in range(cell.first, cell.first + cell.campaigns):
        sample = design.draw(frame, losses, budget=budget, seed=seed)
        drawn = losses[sample.items]
        fit = Fit.of(Labelled(sample, drawn, drawn > 0))
        values.append(fit.value)
        failures += int(drawn.sum())
        both = fit.protected(0.95), fit.trusting(0.95)
        bounds.append([truth in both[0], both[0].width, truth in both[1], both[1].width])
        none += [] if drawn.any() else [both[0].width]
    squares, (held, width, trusted, narrow) = (np.array(values) - truth) ** 2, np.mean(bounds, axis=0)
    rmse, exact = math.sqrt(float(squares.mean())), exact_width(int(losses.sum()), budget, frame.size)
    srs = srs_error(losses, budget)
    noise = float(squares.std()) / math.sqrt(cell.campaigns) / (2 * max(rmse, 1e-12))
    return (
        *(cell.pool, cell.condition, budget, cell.objective, cell.campaigns, 1 - truth),
        *(rmse / srs, noise / srs, rmse / best_published(cell.pool, cell.condition, budget)),
        *((float(np.mean(values)) - truth) / srs, failures / (cell.campaigns * max(budget * truth, 1e-9))),
        *(float(held), float(width / exact), float(trusted), float(narrow / exact)),
        exact_width(int(losses.sum()), budget, frame.size, allowing=True) / exact,
        *((len(none) - 1) / cell.campaigns, max(none) / hypergeometric(0, budget, frame.size, level=0.95)[1]),
    )


@lru_cache(maxsize=32)
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
    return frame.part(kept), losses[kept]


def whole(name: str) -> tuple[Frame, FloatArray]:
    if name in POOLS or name in TESTED or name in CORE:
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
def exact_width(failures: int, budget: int, size: int, *, allowing: bool = False) -> float:
    """Expected width of the exact interval of a simple random sample.

    allowing
        Instead, of one that allows for part of an unseen failure as the protected interval does.
    """
    from scipy.stats import hypergeom

    def bounds(count: int) -> tuple[float, float]:
        if not allowing:
            return hypergeometric(count, budget, size, level=0.95)
        rate, density = count / budget, hit_rate(budget / size)
        spread = rate * (1 - rate) / budget * (1 - budget / size)
        found = MeanEvidence(rate, spread, spread, np.full(1, density), density, density, count, budget, size)
        return protected(found, level=0.95)

    found = hypergeom(size, failures, budget)
    counts = np.arange(int(found.ppf(1e-5)), int(found.ppf(1 - 1e-5)) + 1)
    widths = [high - low for low, high in (bounds(int(k)) for k in counts)]
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
    values = frame.values(auxiliary)
    strata = kmeans(values, min(10, budget))
    spread = np.array([len(group) * float(np.std(values[group])) for group in strata.members])
    counts = allocate(budget, strata.sizes, np.round(spread / max(float(spread.max()), 1e-300), 12))
    terms = [
        (len(group) / frame.size) ** 2 * float(losses[group].var(ddof=1)) * (1 / count - 1 / len(group))
        for group, count in zip(strata.members, counts, strict=True)
        if len(group) > 1
    ]
    return math.sqrt(sum(terms))


def summarise(table: list[dict[str, str]]) -> None:
    """Lowest and mean coverage, mean and largest width, and errors, by objective and condition; then all cells."""

    def column(key: str, own: list[dict[str, str]]) -> FloatArray:
        return np.array([float(row[key]) for row in own])

    def ends(key: str, own: list[dict[str, str]]) -> str:
        return f"{column(key, own).mean():.2f} ({column(key, own).max():.2f})"

    def lowest(key: str, own: list[dict[str, str]]) -> str:
        return f"{column(key, own).min():.3f} / {column(key, own).mean():.3f}"

    print(
        "| objective | condition | cells x campaigns | protected: coverage lowest / mean | width mean (largest) "
        "| if right | width | RMSE / SRS mean (largest) | / best published | bias / SRS error, lowest to highest |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for objective, condition in dict.fromkeys((row["objective"], row["condition"]) for row in table):
        own = [row for row in table if (row["objective"], row["condition"]) == (objective, condition)]
        print(
            f"| {objective} | {condition} | {len(own)} x {column('campaigns', own).mean():.0f} "
            f"| {lowest('protected', own)} | {ends('protected_width', own)} "
            f"| {lowest('trusting', own)} | {ends('trusting_width', own)} | {ends('rmse', own)} "
            f"| {ends('rmse_best', own)} | {column('bias', own).min():.2f} to {column('bias', own).max():.2f} |"
        )
    for objective in dict.fromkeys(row["objective"] for row in table):
        print(f"\n## Objective `{objective}`\n")
        print(
            "| pool (accuracy) | condition | n | campaigns | protected: coverage | width | if right: coverage | width "
            "| SRS with the same allowance: width | RMSE / SRS | / best published | bias | none found: share, width |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        cells = [row for row in table if row["objective"] == objective]
        for name, condition in dict.fromkeys((row["pool"], row["condition"]) for row in cells):
            own = [row for row in cells if (row["pool"], row["condition"]) == (name, condition)]

            def several(key: str, digits: int = 2, own: list[dict[str, str]] = own) -> str:
                return " / ".join(f"{float(row[key]):.{digits}f}" for row in own)

            errors = " / ".join(f"{float(row['rmse']):.2f} ± {float(row['rmse_se']):.2f}" for row in own)
            print(
                f"| {name} ({float(own[0]['accuracy']):.2%}) | {condition} | {several('budget', 0)} "
                f"| {several('campaigns', 0)} | {several('protected', 3)} | {several('protected_width')} "
                f"| {several('trusting', 3)} | {several('trusting_width')} | {several('srs_width')} | {errors} "
                f"| {several('rmse_best')} | {several('bias')} | {several('none')}, {several('none_width')} |"
            )


if __name__ == "__main__":
    main()
