"""One row of a comparison: what a technique did in one cell, over its repetitions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypedDict

from fieldcheck.accuracy import designs

NONE = "none"
"""The auxiliary variable of a technique that needs none."""

ACCURATE = 0.9
"""Models from this accuracy (or 1 - MSE) on count as high: the paper's MNIST and Udacity against CIFAR."""

LARGE = 200
"""Budgets up to this one are small or medium, those above are large (table 10b of the ICSE'24 paper)."""

USUAL = 200
"""The budget at which the papers compare techniques."""

COUNTED = "Draws: failing draws, as the papers count; an item drawn twice counts twice. Items: distinct failing items."
"""What stands under a table that has both counts."""


class Row(TypedDict):
    """What ``bench --json`` writes.

    group
        What the subject is one of (the dataset of several models); its own name where it stands alone.
    truth, mean
        On the metric scale: accuracy, or 1 - MSE.
    failing
        Items of the pool that fail: what there is to find.
    bias_se, failures_sd
        Standard error of the bias and standard deviation over repetitions; nan with one repetition.
    failures_mean, exposed_mean
        Failing draws, as the papers count them (an item drawn twice counts twice), and distinct failing items.
    rmedse
        Root of the median squared error: RMSE without the weight of outliers.
    coverage, trusted_share
        Share of all intervals that contain the truth, and share of those that call themselves trustworthy.
    """

    subject: str
    group: str
    task: str
    design: str
    auxiliary: str
    budget: int
    repetitions: int
    truth: float
    failing: int
    mean: float
    bias: float
    bias_se: float
    rmse: float
    rmedse: float
    failures_mean: float
    failures_sd: float
    exposed_mean: float
    coverage: float
    trusted_share: float
    width_mean: float
    cpu_seconds: float


class Config(NamedTuple):
    """Where techniques meet: one subject, one auxiliary variable, one budget."""

    subject: str
    auxiliary: str
    budget: int


def configurations(rows: Iterable[Row]) -> dict[Config, list[Row]]:
    """The rows that meet in each configuration; techniques without auxiliary variable are in every one."""
    free: dict[tuple[str, int], list[Row]] = defaultdict(list)
    bound: dict[Config, list[Row]] = defaultdict(list)
    for row in rows:
        if row["auxiliary"] == NONE:
            free[row["subject"], row["budget"]].append(row)
        else:
            bound[Config(row["subject"], row["auxiliary"], row["budget"])].append(row)
    hosted = {(config.subject, config.budget) for config in bound}
    for subject, budget in (place for place in free if place not in hosted):
        bound[Config(subject, NONE, budget)] = []
    return {config: [*free.get((config.subject, config.budget), []), *own] for config, own in bound.items()}


def contestant(design: str, auxiliary: str) -> str:
    """A technique with its auxiliary variable, in words."""
    return design if auxiliary == NONE else f"{design} with {auxiliary}"


def is_reference(design: str) -> bool:
    """Whether this technique is simple random sampling, which the others are measured against."""
    return design.partition(":")[0] == designs.reference.name


def reference(rows: Iterable[Row]) -> Row | None:
    """The row of simple random sampling among these: the plain one where it is there."""
    found = sorted((row for row in rows if is_reference(row["design"])), key=lambda row: row["design"])
    return found[0] if found else None


def accuracy_level(row: Row, cut: float = ACCURATE) -> Literal["low", "high"]:
    """Whether the model is accurate."""
    return "high" if row["truth"] >= cut else "low"


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order of appearance."""
    return tuple(dict.fromkeys(values))


def slug(*parts: str) -> str:
    """The parts as one word for a file name."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


def designs_of(rows: Iterable[Row]) -> tuple[str, ...]:
    return unique(row["design"] for row in rows)


def budgets_of(rows: Iterable[Row]) -> tuple[int, ...]:
    return tuple(sorted({row["budget"] for row in rows}))


def usual_budget(budgets: Sequence[int]) -> int:
    """The budget nearest to the papers' 200."""
    return min(budgets, key=lambda budget: (abs(budget - USUAL), budget))
