"""Coverage and width of the 95 % intervals, on published subjects and on pools that nothing was tuned on.

python benchmarks/interval_study.py ../shared/data/subjects --repetitions 300
python benchmarks/interval_study.py synthetic --repetitions 300 --designs css,ssrs,gbs
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fieldcheck.accuracy import designs
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.accuracy.estimators.weighted import heaviest
from fieldcheck.core.draws import GroupDraws, StepDraws, StratifiedDraws, WeightedDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.intervals import (
    hypergeometric,
    out_of_reach,
    srs_mean,
    stratified_binary,
    stratified_mean,
    weighted_mean,
)
from fieldcheck.numerics.sampling.draws import pps_sizes

LEVEL = 0.95
BUDGETS = (50, 100, 200, 400, 800)
LEAKS = {("CN12_CIFAR10", "lsa")}


@dataclass(frozen=True)
class Subject:
    """A pool with known losses, and one auxiliary variable."""

    name: str
    auxiliary: str
    frame: Frame
    losses: FloatArray


def published(folder: Path) -> Iterator[Subject]:
    """The subjects of the published studies, one auxiliary variable at a time."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [{key.lower(): value for key, value in row.items()} for row in csv.DictReader(file)]
        column = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        regression = "label" in column
        if regression:
            losses = (column["label"].astype(float) - column["sut"].astype(float)) ** 2
            auxiliary = {key: column[key].astype(float) for key in ("vae", "sae", "lsa")}
        else:
            losses = (column["outcome"] == "Fail").astype(float)
            auxiliary = {key: column[key].astype(float) for key in ("dsa", "lsa")}
            auxiliary["confidence"] = 1 - column["confidence"].astype(float)
        frame = Frame(len(losses), "regression" if regression else "classification", auxiliary, traits=derived.traits())
        for name in auxiliary:
            if (path.stem, name) not in LEAKS:
                yield Subject(path.stem, name, frame, losses)


def synthetic(size: int = 20_000) -> Iterator[Subject]:
    """Classification pools whose failures follow a suspicion well, not at all, or against it."""
    rng = np.random.default_rng(5)
    chi = rng.beta(0.5, 4, size)
    safest = chi < np.quantile(chi, 0.3)
    chances = {
        "90 %, good": 0.03 + 0.64 * chi,
        "99.9 %, good": 0.009 * chi,
        "90 %, useless": np.full(size, 0.1),
        "99 %, useless": np.full(size, 0.01),
        "blind spot": np.where(safest, 0.03, 0.0) + np.where(chi > 0.3, 0.1, 0.0),
        "86 %, inverted": 0.2 * (1 - chi) ** 4,
        "60 %": np.minimum(0.2 + 1.8 * chi, 0.95),
    }
    for name, chance in chances.items():
        losses = (rng.random(size) < chance).astype(float)
        yield Subject(name, "chi", Frame(size, "classification", {"chi": chi}), losses)


def bounds(subject: Subject, sample: Sample, *, probabilities: FloatArray | None) -> tuple[float, float, bool]:
    """The interval for the design of this sample, and whether it says that it can be trusted.

    probabilities
        One per item of the pool, for designs that draw items in proportion to them.
    """
    losses, population = subject.losses[sample.items], sample.population
    binary = subject.frame.task == "classification"
    if sample.estimator == "mean":
        if binary:
            return *hypergeometric(int(losses.sum()), len(losses), population, level=LEVEL), True
        return *srs_mean(losses, population, level=LEVEL), True
    if sample.estimator == "stratified":
        return *_stratified(sample, losses, binary=binary), True
    terms, weights, bound = _terms(sample, losses)
    top = 1.0 if binary else np.inf
    hidden = None if probabilities is None else out_of_reach(probabilities, len(losses))
    return weighted_mean(terms, level=LEVEL, bound=bound, weights=weights, hidden=hidden, top=top)[:3]


def _stratified(sample: Sample, losses: FloatArray, *, binary: bool) -> tuple[float, float]:
    draws = sample.drawn_as(StratifiedDraws)
    sizes, stratum, adaptive = draws.sizes, draws.stratum, draws.adaptive
    if not binary:
        return stratified_mean(sizes, stratum, losses, level=LEVEL, adaptive=adaptive)
    counts = np.bincount(stratum, minlength=len(sizes))
    failures = np.bincount(stratum, weights=losses, minlength=len(sizes))
    return stratified_binary(sizes, counts, failures, level=LEVEL, adaptive=adaptive)


def _terms(sample: Sample, losses: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Weighted losses, weights and the heaviest possible weight, for the estimators with unequal probabilities."""
    draws, population = sample.draws, sample.population
    if isinstance(draws, StepDraws):
        weights = 1 / (population * draws.probability)
        before = np.concatenate([[0.0], np.cumsum(losses)[:-1]]) / population
        return before + losses * weights, weights, 1 / (1 - draws.weighted)
    if isinstance(draws, GroupDraws):
        chance = draws.share * draws.group
        heavy = np.divide(1.0, population * chance, out=np.zeros(len(sample)), where=chance > 0)
        return losses * heavy * draws.group * len(sample), heavy, heaviest(draws.least, population)
    one_draw = sample.drawn_as(WeightedDraws)
    weights = 1 / (population * one_draw.probability)
    return losses * weights, weights, heaviest(one_draw.least, population)


@dataclass(frozen=True)
class Cell:
    """What was seen for one subject, design and budget; width in units of simple random sampling's."""

    subject: Subject
    design: str
    budget: int
    coverage: float
    width: float
    trusted: float


def cells(subject: Subject, spec: str, *, repetitions: int) -> Iterator[Cell]:
    """One cell per budget; designs whose samples grow are drawn once for all budgets."""
    design: Design = designs.registry.build(spec, auxiliary=subject.auxiliary)
    floor = getattr(design, "floor", None)
    probabilities = None
    if floor is not None and design.name != "2ups":
        probabilities = pps_sizes(subject.frame.size_measure(subject.auxiliary), floor).probability
    truth, grows = float(subject.losses.mean()), design.name in ("gbs", "sups", "2ups", "deepest")
    for budget in BUDGETS:
        seen = []
        for seed in range(repetitions):
            drawn = _drawn(subject, design, budget=max(BUDGETS) if grows else budget, seed=seed)
            low, high, trusted = bounds(subject, drawn.prefix(budget), probabilities=probabilities)
            seen.append((low <= truth <= high, high - low, trusted))
        coverage, width, trusted = np.mean(seen, axis=0).tolist()
        yield Cell(subject, spec, budget, coverage, width / _reference(subject, budget), trusted)


def _drawn(subject: Subject, design: Design, *, budget: int, seed: int) -> Sample:
    sample: Sample = subject.frame.memo(
        ("study", repr(design), budget, seed),
        lambda: design.draw(subject.frame, subject.losses, budget=budget, seed=seed),
    )
    return sample


def _reference(subject: Subject, budget: int) -> float:
    """Width for a simple random sample: exact at the expected number of failures, or normal for other losses."""
    size = subject.frame.size
    if subject.frame.task == "classification":
        low, high = hypergeometric(round(budget * float(subject.losses.mean())), budget, size, level=LEVEL)
        return high - low
    return float(2 * 1.96 * subject.losses.std() * np.sqrt(1 / budget - 1 / size))


def show(found: list[Cell]) -> None:
    """One line per design, task and budget: the worst cell, the mean, the width, how many are trusted."""
    print("| task | design | n | cells | trusted | worst coverage | where | mean | width / SRS |")
    print("|---" * 9 + "|")
    groups = sorted({(cell.subject.frame.task, cell.design, cell.budget) for cell in found})
    for group in groups:
        members = [c for c in found if (c.subject.frame.task, c.design, c.budget) == group]
        worst = min(members, key=lambda cell: cell.coverage)
        trusted, mean, width = np.mean([(c.trusted, c.coverage, c.width) for c in members], axis=0)
        where = f"{worst.subject.name} {worst.subject.auxiliary}"
        print(
            f"| {group[0]} | {group[1]} | {group[2]} | {len(members)} | {trusted:.2f} "
            f"| {worst.coverage:.3f} | {where} | {mean:.3f} | {width:.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", help="folder of published subjects, or 'synthetic'")
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--designs", default="css,ssrs,gbs,sups,sups:floor=0,2ups,rhc,deepest")
    parser.add_argument("--only", default="", help="part of a subject's name")
    options = parser.parse_args()
    chosen = synthetic() if options.subjects == "synthetic" else published(Path(options.subjects))
    found = [
        cell
        for subject in chosen
        if options.only in subject.name
        for spec in options.designs.split(",")
        for cell in cells(subject, spec, repetitions=options.repetitions)
    ]
    show(found)


if __name__ == "__main__":
    main()
