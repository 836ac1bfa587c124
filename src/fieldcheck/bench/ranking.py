"""Who does best where: ranks, top three, wins on both counts, efficiency against simple random sampling."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from fieldcheck.bench.rows import (
    ACCURATE,
    COUNTED,
    LARGE,
    NONE,
    Config,
    Row,
    accuracy_level,
    budgets_of,
    configurations,
    designs_of,
    reference,
    unique,
)
from fieldcheck.bench.significance import average_ranks
from fieldcheck.core.exhibit import Cell, Matrix, Table
from fieldcheck.core.types import FloatArray

CRITERIA = ("RMSE", "RMedSE", "failures", "RMSE-failures", "RMedSE-failures")
"""Failures are failing draws, as in the papers. The last two are trade-offs: the mean of the two ranks."""

DRAWS = "Failures: failing draws, as the papers count; an item drawn twice counts twice."


def criterion_ranks(rows: Sequence[Row]) -> dict[str, FloatArray]:
    """By criterion, the rank of each row among these rows; 1 is best, equals share."""
    rmse = average_ranks(np.array([row["rmse"] for row in rows]))
    rmedse = average_ranks(np.array([row["rmedse"] for row in rows]))
    failures = average_ranks(-np.array([row["failures_mean"] for row in rows]))
    ranks = (rmse, rmedse, failures, (rmse + failures) / 2, (rmedse + failures) / 2)
    return dict(zip(CRITERIA, ranks, strict=True))


@dataclass
class _Tally:
    """How a technique did over configurations."""

    podiums: int = 0
    ranks: list[float] = field(default_factory=list)

    def key(self) -> tuple[int, float]:
        """Sorts the best first: more often among the top three, then the smaller mean rank."""
        return -self.podiums, float(np.mean(self.ranks))


def top_three(configs: Mapping[Config, Sequence[Row]], criterion: str) -> list[tuple[str, int]]:
    """The three techniques that are most often among the best three, with how often.

    Equal counts are ordered by mean rank. A technique counts where fewer than three are strictly better.
    """
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    for rows in configs.values():
        scores = criterion_ranks(rows)[criterion]
        for row, score in zip(rows, scores, strict=True):
            tally = tallies[row["design"]]
            tally.podiums += int((scores < score).sum() < 3)
            tally.ranks.append(float(score))
    best = sorted(tallies, key=lambda name: (*tallies[name].key(), name))[:3]
    return [(name, tallies[name].podiums) for name in best]


def top_three_table(rows: Sequence[Row], cut: float = ACCURATE) -> Table:
    """Table 10 of the ICSE'24 paper: the top three by task, budget, accuracy and auxiliary variable."""
    factors: dict[str, Callable[[Config, Row], str]] = {
        "task": lambda _, row: row["task"],
        "budget": lambda config, _: f"up to {LARGE}" if config.budget <= LARGE else f"over {LARGE}",
        "accuracy": lambda _, row: accuracy_level(row, cut),
        **({"group": lambda _, row: row["group"]} if any(row["group"] != row["subject"] for row in rows) else {}),
        "auxiliary": lambda config, row: f"{config.auxiliary} ({row['task']})",
    }
    lines: list[tuple[Cell, ...]] = []
    for factor, level_of in factors.items():
        for level, configs in _by_level(rows, level_of).items():
            lines += [_podium(factor, level, configs, criterion) for criterion in CRITERIA]
    return Table(
        name="ranking/top-three",
        title="Top three techniques",
        columns=("factor", "level", "criterion", "configurations", "1st", "2nd", "3rd"),
        rows=tuple(lines),
        note="In brackets: in how many configurations (subject, auxiliary variable, budget) the technique is "
        f"among the best three. Accuracy is high from {cut:g}. X-Y: mean of the two ranks. {DRAWS}",
    )


def _by_level(rows: Sequence[Row], level_of: Callable[[Config, Row], str]) -> dict[str, dict[Config, list[Row]]]:
    levels: dict[str, dict[Config, list[Row]]] = defaultdict(dict)
    for config, members in configurations(rows).items():
        levels[level_of(config, members[0])][config] = members
    return levels


def _podium(factor: str, level: str, configs: Mapping[Config, Sequence[Row]], criterion: str) -> tuple[Cell, ...]:
    best = [f"{name} ({count})" for name, count in top_three(configs, criterion)]
    return (factor, level, criterion, len(configs), *best, *[None] * (3 - len(best)))


def best_auxiliary_table(rows: Sequence[Row]) -> Table | None:
    """Table 11 of the ICSE'24 paper: how often each auxiliary variable is best. None with fewer than two."""
    bound = [row for row in rows if row["auxiliary"] != NONE]
    groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in bound:
        groups[row["subject"], row["design"], row["budget"]].append(row)
    comparisons = [group for group in groups.values() if len(group) > 1]
    if not comparisons:
        return None
    lines = [_best_counts(task, name, comparisons) for task, name in _task_auxiliaries(bound)]
    return Table(
        name="ranking/best-auxiliary",
        title="How often each auxiliary variable is the best",
        columns=("task", "auxiliary", "comparisons", "RMSE", "RMedSE", "failures"),
        rows=tuple(lines),
        note=f"A comparison: one subject, technique and budget; equals count for each. {DRAWS}",
    )


def _task_auxiliaries(rows: Iterable[Row]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["task"], row["auxiliary"]) for row in rows))


def _best_counts(task: str, auxiliary: str, comparisons: Sequence[Sequence[Row]]) -> tuple[Cell, ...]:
    entered = [c for c in comparisons if any((r["task"], r["auxiliary"]) == (task, auxiliary) for r in c)]
    counts = dict.fromkeys(CRITERIA[:3], 0)
    for comparison in entered:
        own = next(i for i, row in enumerate(comparison) if row["auxiliary"] == auxiliary)
        ranks = criterion_ranks(comparison)
        for criterion in counts:
            counts[criterion] += int(ranks[criterion][own] == ranks[criterion].min())
    return (task, auxiliary, len(entered), *counts.values())


def wins_matrix(rows: Sequence[Row]) -> Matrix:
    """Row against column: where it has both the smaller RMSE and more failures, and where the other has."""
    return both_counts(_meetings(rows), designs_of(rows), name="ranking/wins", title="Better on both counts")


def both_counts(
    met: Mapping[tuple[str, str], Sequence[tuple[Row, Row]]], names: tuple[str, ...], *, name: str, title: str
) -> Matrix:
    """Who wins over whom, where they met."""
    scores = [[_score(met.get((one, other), [])) for other in names] for one in names]
    return Matrix(
        name=name,
        title=title,
        rows=names,
        columns=names,
        values=tuple(tuple(math.nan if i == j else s[0] for j, s in enumerate(line)) for i, line in enumerate(scores)),
        texts=tuple(tuple("" if i == j else s[1] for j, s in enumerate(line)) for i, line in enumerate(scores)),
        legend=((1.0, "row always better"), (0.0, "even"), (-1.0, "row always worse")),
        note="Won : lost, of all configurations in which the two meet. Won: smaller RMSE and more failures; "
        f"every other configuration is undecided. {DRAWS}",
    )


def _meetings(rows: Sequence[Row]) -> dict[tuple[str, str], list[tuple[Row, Row]]]:
    """Pairs of rows by pair of techniques; two without auxiliary variable meet once a subject and budget."""
    met: dict[tuple[str, str], dict[tuple[int, int], tuple[Row, Row]]] = defaultdict(dict)
    for members in configurations(rows).values():
        for one, other in permutations(members, 2):
            met[one["design"], other["design"]][id(one), id(other)] = (one, other)
    return {pair: list(pairs.values()) for pair, pairs in met.items()}


def _score(pairs: Sequence[tuple[Row, Row]]) -> tuple[float, str]:
    won = sum(_beats(one, other) for one, other in pairs)
    lost = sum(_beats(other, one) for one, other in pairs)
    return (won - lost) / max(len(pairs), 1), f"{won} : {lost}" if pairs else ""


def _beats(one: Row, other: Row) -> bool:
    return one["rmse"] < other["rmse"] and one["failures_mean"] > other["failures_mean"]


def geometric_mean(values: Iterable[float]) -> float:
    """Of the positive ones; nan when there are none."""
    positive = [math.log(value) for value in values if 0 < value < math.inf]
    return math.exp(math.fsum(positive) / len(positive)) if positive else math.nan


def efficiency_table(rows: Sequence[Row]) -> Table | None:
    """Mean squared error and failures relative to simple random sampling. None when it does not take part."""
    budgets = budgets_of(rows)
    groups: dict[tuple[str, str, str], list[tuple[Row, Row]]] = defaultdict(list)
    for row, base in against_reference(rows):
        groups[row["task"], row["design"], row["auxiliary"]].append((row, base))
    if not groups:
        return None
    return Table(
        name="ranking/efficiency",
        title="Efficiency relative to simple random sampling",
        columns=(
            "task",
            "technique",
            "auxiliary",
            "cells",
            *(f"MSE ratio, n = {n}" for n in budgets),
            "MSE ratio",
            "failing draws ratio",
            "failing items ratio",
        ),
        rows=tuple(_efficiency(key, pairs, budgets) for key, pairs in groups.items()),
        note=f"Geometric means over cells; an MSE ratio under 1 means that fewer labels do: 0.5 halves them. {COUNTED}",
    )


def against_reference(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Every other row with that of simple random sampling on the same subject and budget, where it exists."""
    by_place: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        by_place[row["subject"], row["budget"]].append(row)
    bases = {place: reference(members) for place, members in by_place.items()}
    paired = [(row, bases[row["subject"], row["budget"]]) for row in rows]
    return [(row, base) for row, base in paired if base is not None and row is not base]


def mse_ratio(row: Row, base: Row) -> float:
    return (row["rmse"] / base["rmse"]) ** 2 if base["rmse"] > 0 else math.nan


def rmedse_ratio(row: Row, base: Row) -> float:
    return row["rmedse"] / base["rmedse"] if base["rmedse"] > 0 else math.nan


def failures_ratio(row: Row, base: Row) -> float:
    """Of failing draws."""
    return row["failures_mean"] / base["failures_mean"] if base["failures_mean"] > 0 else math.nan


def exposed_ratio(row: Row, base: Row) -> float:
    """Of distinct failing items."""
    return row["exposed_mean"] / base["exposed_mean"] if base["exposed_mean"] > 0 else math.nan


def _efficiency(
    key: tuple[str, str, str], pairs: Sequence[tuple[Row, Row]], budgets: Sequence[int]
) -> tuple[Cell, ...]:
    by_budget = [geometric_mean(mse_ratio(*pair) for pair in pairs if pair[0]["budget"] == n) for n in budgets]
    overall = geometric_mean(mse_ratio(*pair) for pair in pairs)
    counts = (geometric_mean(ratio(*pair) for pair in pairs) for ratio in (failures_ratio, exposed_ratio))
    return (*key, len(pairs), *by_budget, overall, *counts)


def failures_table(rows: Sequence[Row], budget: int) -> Table:
    """Table II of ICSE'21, table 3 of ICSE'24: failing draws, distinct items, and their share of all, per subject."""
    at = [row for row in rows if row["budget"] == budget]
    subjects = unique(row["subject"] for row in at)
    by_place = {(row["auxiliary"], row["design"], row["subject"]): row for row in at}
    lines = [
        (auxiliary, design, *_counts([by_place.get((auxiliary, design, subject)) for subject in subjects]))
        for auxiliary, design in dict.fromkeys((row["auxiliary"], row["design"]) for row in at)
    ]
    return Table(
        name=f"failures/budget-{budget}",
        title=f"Failures found with {budget} labels",
        columns=("auxiliary", "technique", *(f"{s} {part}" for s in subjects for part in COUNTS)),
        rows=tuple(lines),
        note=f"Means over repetitions, and the standard deviation of the draws. {COUNTED} "
        "Share: items in percent of all failing items of the pool.",
    )


COUNTS: dict[str, Callable[[Row], float]] = {
    "draws": lambda row: row["failures_mean"],
    "sd": lambda row: row["failures_sd"],
    "items": lambda row: row["exposed_mean"],
    "share": lambda row: 100 * row["exposed_mean"] / row["failing"] if row["failing"] else math.nan,
}
"""Of failures found."""


def _counts(rows: Sequence[Row | None]) -> list[Cell]:
    return [None if row is None else value(row) for row in rows for value in COUNTS.values()]
