"""Groups of subjects (the models of a dataset), and kinds of techniques: tables 3 and 6 to 9 of the ICSE'24 paper."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from fieldcheck.bench.ranking import (
    CRITERIA,
    against_reference,
    criterion_ranks,
    exposed_ratio,
    failures_ratio,
    geometric_mean,
    mse_ratio,
    rmedse_ratio,
)
from fieldcheck.bench.rows import COUNTED, Row, budgets_of, configurations, unique
from fieldcheck.bench.traits import TRAITS
from fieldcheck.core.exhibit import Cell, Table


def is_grouped(rows: Iterable[Row]) -> bool:
    """Whether subjects were put into groups."""
    return any(row["group"] != row["subject"] for row in rows)


def group_tables(rows: Sequence[Row]) -> list[Table]:
    """The paper's tables by group; nothing without groups."""
    if not is_grouped(rows):
        return []
    budgets = budgets_of(rows)
    failures = [group_failures(rows, budget) for budget in budgets]
    return [*failures, *([group_rmse(rows, budgets), group_growth(rows, budgets)] if len(budgets) > 1 else [])]


def group_failures(rows: Sequence[Row], budget: int) -> Table:
    """Table 3: failing draws of all subjects of a group together, mean and standard deviation."""
    at = [row for row in rows if row["budget"] == budget]
    groups = unique(row["group"] for row in at)
    members: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in at:
        members[row["auxiliary"], row["design"], row["group"]].append(row)
    lines = dict.fromkeys((auxiliary, design) for auxiliary, design, _ in members)
    return Table(
        name=f"groups/failures-{budget}",
        title=f"Failures found with {budget} labels, by group",
        columns=("auxiliary", "technique", *(f"{g} {part}" for g in groups for part in ("draws", "sd", "items"))),
        rows=tuple((*key, *(cell for g in groups for cell in _pooled(members[(*key, g)]))) for key in lines),
        note=f"Means and standard deviation over all repetitions of all subjects of a group. {COUNTED}",
    )


def _pooled(rows: Sequence[Row]) -> tuple[Cell, Cell, Cell]:
    """Of all repetitions thrown together, from the mean and the standard deviation of each subject."""
    if not rows:
        return None, None, None
    sizes = np.array([row["repetitions"] for row in rows])
    means = np.array([row["failures_mean"] for row in rows])
    within = np.array([row["failures_sd"] ** 2 for row in rows]) * (sizes - 1)
    mean = float(np.average(means, weights=sizes))
    total = float((within + sizes * (means - mean) ** 2).sum())
    items = float(np.average([row["exposed_mean"] for row in rows], weights=sizes))
    return mean, math.sqrt(total / (sizes.sum() - 1)) if sizes.sum() > 1 else math.nan, items


Runs = dict[tuple[str, str], dict[str, list[list[Row]]]]
"""By group and technique, by auxiliary variable, for every subject its rows in order of budget."""


def _runs(rows: Sequence[Row], budgets: Sequence[int]) -> Runs:
    """Only subjects with all budgets."""
    series: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["budget"]):
        series[row["group"], row["design"], row["auxiliary"], row["subject"]].append(row)
    found: Runs = defaultdict(lambda: defaultdict(list))
    for (group, design, auxiliary, _), members in series.items():
        if len(members) == len(budgets):
            found[group, design][auxiliary].append(members)
    return found


def group_rmse(rows: Sequence[Row], budgets: Sequence[int]) -> Table:
    """Tables 6 and 7, in their form: 3/3/3 are three subjects with each of three auxiliary variables."""
    first, last = budgets[0], budgets[-1]
    lines = []
    for key, by_auxiliary in _runs(rows, budgets).items():
        errors = [np.array([[row["rmse"] for row in run] for run in runs]) for runs in by_auxiliary.values()]
        reached = [np.bincount(one.argmin(axis=1), minlength=len(budgets)) for one in errors]
        counts = [_slashes(one[i] for one in reached) for i in range(len(budgets))]
        shrunk = _slashes((one[:, 0] > one[:, -1]).sum() for one in errors)
        lines.append((*key, _slashes(by_auxiliary), *counts, shrunk))
    return Table(
        name="groups/budget-rmse",
        title="Budget with the smallest RMSE, by group",
        columns=("group", "technique", "auxiliary", *(f"n = {n}" for n in budgets), f"{first} > {last}"),
        rows=tuple(lines),
        note="Number of subjects whose RMSE is smallest at this budget, for each auxiliary variable in turn; the last "
        f"column: subjects whose RMSE is larger with {first} labels than with {last}, as it should be.",
    )


def group_growth(rows: Sequence[Row], budgets: Sequence[int]) -> Table:
    """Tables 8 and 9, in their form: means over the subjects of a group, for each auxiliary variable in turn."""
    first, last = budgets[0], budgets[-1]
    lines = []
    for key, by_auxiliary in _runs(rows, budgets).items():
        low = [float(np.mean([run[0]["failures_mean"] for run in runs])) for runs in by_auxiliary.values()]
        high = [float(np.mean([run[-1]["failures_mean"] for run in runs])) for runs in by_auxiliary.values()]
        growth = [b / a if a > 0 else math.nan for a, b in zip(low, high, strict=True)]
        lines.append(
            (*key, _slashes(by_auxiliary), *(_slashes(f"{x:.1f}" for x in many) for many in (low, growth, high)))
        )
    return Table(
        name="groups/budget-failures",
        title="Failing draws from the smallest to the largest budget, by group",
        columns=("group", "technique", "auxiliary", f"n = {first}", f"n = {last} / n = {first}", f"n = {last}"),
        rows=tuple(lines),
        note="Means over the subjects of a group, for each auxiliary variable in turn; an item drawn twice "
        "counts twice.",
    )


def _slashes(values: Iterable[object]) -> str:
    return "/".join(map(str, values))


RATIOS: dict[str, Callable[[Row, Row], float]] = {
    "RMSE / SRS": lambda row, base: math.sqrt(mse_ratio(row, base)),
    "RMedSE / SRS": rmedse_ratio,
    "draws / SRS": failures_ratio,
    "items / SRS": exposed_ratio,
}


def breakdown_table(rows: Sequence[Row]) -> Table:
    """By kind of technique (partitioning, replacement) and kind of subject (accuracy, group): section 6 of ICSE'24."""
    bases = {id(row): base for row, base in against_reference(rows)}
    podiums = _podiums(rows)
    lines: list[tuple[Cell, ...]] = []
    for factor, level_of in TRAITS.items():
        for level in unique(map(level_of, rows)):
            own = [row for row in rows if level_of(row) == level]
            paired = [(row, bases[id(row)]) for row in own if id(row) in bases]
            ratios = [geometric_mean(ratio(*pair) for pair in paired) for ratio in RATIOS.values()]
            lines.append((factor, level, len(own), *ratios, *_shares(own, podiums)))
    return Table(
        name="ranking/breakdown",
        title="By kind of technique and of subject",
        columns=("factor", "level", "cells", *RATIOS, *(f"top three, {criterion}" for criterion in CRITERIA)),
        rows=tuple(lines),
        note="Geometric means over cells, without srs itself. Top three: in percent of the configurations (subject, "
        "auxiliary variable, budget) in which such a technique takes part, how often it is among the best three. "
        f"{COUNTED}",
    )


def _podiums(rows: Sequence[Row]) -> dict[int, list[tuple[bool, ...]]]:
    """By row, for every configuration that it takes part in: whether it is among the best three, by criterion."""
    found: dict[int, list[tuple[bool, ...]]] = defaultdict(list)
    for members in configurations(rows).values():
        ranks = np.array(list(criterion_ranks(members).values()))
        better = (ranks[:, None, :] < ranks[:, :, None]).sum(axis=2)
        for row, places in zip(members, better.T, strict=True):
            found[id(row)].append(tuple((places < 3).tolist()))
    return found


def _shares(rows: Sequence[Row], podiums: Mapping[int, list[tuple[bool, ...]]]) -> list[float]:
    places = [place for row in rows for place in podiums[id(row)]]
    return [100 * float(np.mean(column)) for column in zip(*places, strict=True)]
