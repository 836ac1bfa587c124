"""Which technique to take, answered from measured rows, with the evidence."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any, Literal, get_args

from scipy.special import stdtr

from fieldcheck.bench.ranking import (
    CRITERIA,
    against_reference,
    criterion_ranks,
    exposed_ratio,
    failures_ratio,
    geometric_mean,
    mse_ratio,
    top_three,
)
from fieldcheck.bench.result import plain
from fieldcheck.bench.rows import ACCURATE, COUNTED, NONE, Row, accuracy_level, budgets_of, configurations, contestant
from fieldcheck.bench.traits import partitioning as partitioning_of
from fieldcheck.bench.traits import replacement as replacement_of
from fieldcheck.core.errors import BenchError

Objective = Literal["estimate", "estimate-median", "expose", "balanced", "balanced-median"]

CRITERION: dict[str, str] = dict(zip(get_args(Objective), CRITERIA, strict=True))
"""The objectives of the ICSE'24 paper; the trade-offs are its T_RMSE-nf and T_RMedSE-nf."""

WORDS: dict[str, str] = {
    "estimate": "the most accurate estimate (RMSE)",
    "estimate-median": "the most accurate estimate, outliers aside (RMedSE)",
    "expose": "the most failures (failing draws)",
    "balanced": "both (mean of the ranks in RMSE and in failing draws)",
    "balanced-median": "both (mean of the ranks in RMedSE and in failing draws)",
}

ALPHA = 0.05

SHARE = 0.5
"""A technique must have been measured in this share of the cells to be recommended for them."""

Candidate = tuple[str, str]
"""Technique and auxiliary variable."""


@dataclass(frozen=True)
class Standing:
    """How one candidate did over the matching cells.

    mean_rank, contenders
        Mean of its ranks (1 is best), and the mean number of candidates that it was ranked among.
    podiums
        Number of cells in which it is among the best three.
    rmse_ratio, failures_ratio, exposed_ratio
        RMSE, failing draws and distinct failing items to those of simple random sampling, geometric means over cells;
        nan where it was not measured.
    coverage, worst_coverage
        Mean and smallest share of intervals that contained the truth.
    """

    design: str
    auxiliary: str
    mean_rank: float
    contenders: float
    podiums: int
    cells: int
    subjects: int
    rmse_ratio: float
    failures_ratio: float
    exposed_ratio: float
    coverage: float
    worst_coverage: float

    def __str__(self) -> str:
        return contestant(self.design, self.auxiliary)


@dataclass(frozen=True)
class Recommendation:
    """The best candidate, and what speaks for it.

    standings
        All candidates, the best first.
    top
        The three techniques that are most often among the best three of a configuration, with how often: the answer
        of the ICSE'24 notebook, which looks at techniques with whatever auxiliary variable.
    configurations
        Number of configurations (subject, auxiliary variable, budget).
    budgets
        The measured budgets that the answer rests on.
    p_value
        Chance of a difference as large as that between the first two if they were equally good (paired t-test
        over subjects, over cells where there are fewer than three subjects); 1 where the runner-up is ahead
        on average. None with a single pair.
    """

    objective: Objective
    asked: Mapping[str, str | int]
    standings: tuple[Standing, ...]
    top: tuple[tuple[str, int], ...]
    configurations: int
    budgets: tuple[int, ...]
    p_value: float | None

    @property
    def best(self) -> Standing:
        return self.standings[0]

    @property
    def runner_up(self) -> Standing | None:
        return self.standings[1] if len(self.standings) > 1 else None

    @property
    def clear(self) -> bool:
        """Whether the best differs from the runner-up by more than noise."""
        return self.p_value is not None and self.p_value < ALPHA

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not a finite number is None."""
        standings = [{key: plain(value) for key, value in asdict(one).items()} for one in self.standings]
        return {
            "objective": self.objective,
            "asked": dict(self.asked),
            "budgets": list(self.budgets),
            "design": self.best.design,
            "auxiliary": self.best.auxiliary,
            "clear": self.clear,
            "p_value": self.p_value,
            "configurations": self.configurations,
            "top": [{"design": name, "podiums": times} for name, times in self.top],
            "standings": standings,
        }

    def __str__(self) -> str:
        lines = [f"{self.best}", f"  for {WORDS[self.objective]}{self._context()}", ""]
        lines += _table(self.standings[:5])
        return "\n".join([*lines, "", self._podium(), COUNTED, *self._caveats()])

    def _podium(self) -> str:
        named = ", ".join(f"{name} ({times})" for name, times in self.top)
        return f"Most often among the best three, of {self.configurations} configurations: {named}."

    def _context(self) -> str:
        return "".join(f", {key} {value}" for key, value in self.asked.items())

    def _caveats(self) -> list[str]:
        best = self.best
        budgets = ", ".join(map(str, self.budgets))
        lines = [f"Cells measured: {best.cells}; subjects: {best.subjects}; budgets: {budgets}."]
        wanted = self.asked.get("budget")
        if isinstance(wanted, int) and wanted not in self.budgets:
            lines.append(f"A budget of {wanted} was not measured; the nearest one was taken.")
        return lines + ([] if self.runner_up is None else [self._difference(self.runner_up)])

    def _difference(self, other: Standing) -> str:
        if self.p_value is None:
            return f"One cell cannot tell whether its lead over {other} is more than noise."
        judgement = "is more than noise" if self.clear else "may be noise: take either"
        return f"Its lead over {other} {judgement} (p = {self.p_value:.2g})."


def recommend(
    rows: Sequence[Row],
    *,
    objective: Objective = "balanced",
    task: str | None = None,
    budget: int | tuple[int, int] | None = None,
    subject: str | None = None,
    group: str | None = None,
    accuracy: str | None = None,
    auxiliary: str | None = None,
    partitioning: str | None = None,
    replacement: str | None = None,
) -> Recommendation:
    """The technique that did best in the measured cells that are like yours.

    budget
        Where it was not measured, the nearest ones on a logarithmic scale are taken. A pair: all from the first to the
        second.
    subject, group
        Only this subject, or the subjects of this group (a dataset).
    accuracy
        ``low`` or ``high``: what you expect of the model; high is 0.9 or more.
    auxiliary
        Only techniques that use this variable, or none.
    partitioning
        ``yes`` or ``no``: only techniques that cut the pool into strata, or only those that do not.
    replacement
        ``with`` or ``without``: only techniques that may draw an item twice, or only those that may not.
    """
    wanted = {
        "task": task,
        "subject": subject,
        "group": group,
        "accuracy": accuracy,
        "auxiliary": auxiliary,
        "partitioning": partitioning,
        "replacement": replacement,
    }
    asked = {key: value for key, value in wanted.items() if value is not None}
    _check(objective, budget, asked)
    matching = _within(_matching(rows, asked), budget)
    standings = _standings(matching, rows, CRITERION[objective])
    first_two = [(one.design, one.auxiliary) for one in standings[:2]]
    met = configurations(matching)
    return Recommendation(
        objective=objective,
        asked=asked if budget is None else {**asked, "budget": _said(budget)},
        standings=tuple(standings),
        top=tuple(top_three(met, CRITERION[objective])),
        configurations=len(met),
        budgets=budgets_of(matching),
        p_value=_p_value(_gaps(matching, first_two, objective)) if len(first_two) == 2 else None,
    )


ALLOWED = {
    "accuracy": {"low", "high"},
    "partitioning": {"yes", "no"},
    "replacement": {"with", "without"},
}


def _check(objective: str, budget: int | tuple[int, int] | None, asked: Mapping[str, str]) -> None:
    if objective not in get_args(Objective):
        raise BenchError(f"no objective '{objective}'", rule=", ".join(get_args(Objective)))
    for key, words in ALLOWED.items():
        if key in asked and asked[key] not in words:
            raise BenchError(f"no {key} '{asked[key]}'", rule=" or ".join(sorted(words)) + _meaning(key))
    low, high = budget if isinstance(budget, tuple) else (budget, budget)
    if low is not None and high is not None and not 2 <= low <= high:
        raise BenchError(f"a budget of {_said(budget)}", rule="2 labels or more; a range as 100-400")


def _meaning(key: str) -> str:
    return f"; high is {ACCURATE:g} and more" if key == "accuracy" else ""


def _said(budget: int | tuple[int, int] | None) -> str | int:
    return f"{budget[0]}-{budget[1]}" if isinstance(budget, tuple) else budget or 0


_FILTERS: dict[str, Callable[[Row, str], bool]] = {
    "task": lambda row, value: row["task"] == value,
    "subject": lambda row, value: row["subject"] == value,
    "group": lambda row, value: row["group"] == value,
    "accuracy": lambda row, value: accuracy_level(row) == value,
    "auxiliary": lambda row, value: row["auxiliary"] in (value, NONE),
    "partitioning": lambda row, value: partitioning_of(row["design"]) == value,
    "replacement": lambda row, value: replacement_of(row["design"]) == value,
}


def _apply(rows: Sequence[Row], asked: Mapping[str, str]) -> list[Row]:
    """The rows that pass every filter; nothing when none of them uses the auxiliary variable asked for."""
    kept = [row for row in rows if all(_FILTERS[key](row, value) for key, value in asked.items())]
    bound = "auxiliary" not in asked or any(row["auxiliary"] == asked["auxiliary"] for row in kept)
    return kept if bound else []


def _matching(rows: Sequence[Row], asked: Mapping[str, str]) -> list[Row]:
    found = _apply(rows, asked)
    if found:
        return found
    fewer = {key: _apply(rows, {k: v for k, v in asked.items() if k != key}) for key in asked}
    left = [f"without --{key}: {len(cells)} cells" for key, cells in fewer.items() if cells]
    raise BenchError(
        "nothing measured matches " + ", ".join(f"--{key} {value}" for key, value in asked.items()),
        rule=_inventory(rows),
        hint="; ".join(left) or "fewer filters",
    )


def _inventory(rows: Sequence[Row]) -> str:
    if not rows:
        return "there are no measured results"
    kinds = {"tasks": "task", "groups": "group", "auxiliary variables": "auxiliary"}
    found = {words: sorted({str(row[key]) for row in rows}) for words, key in kinds.items()}  # type: ignore[literal-required]
    return "measured are: " + "; ".join(f"{words} {', '.join(names)}" for words, names in found.items())


def _within(rows: list[Row], budget: int | tuple[int, int] | None) -> list[Row]:
    """The rows of the nearest budget, or of all in the range; of the nearest to its middle if there are none in it."""
    if budget is None:
        return rows
    if isinstance(budget, tuple):
        inside = [row for row in rows if budget[0] <= row["budget"] <= budget[1]]
        return inside or _within(rows, round(math.sqrt(budget[0] * budget[1])))
    distance = {n: round(abs(math.log(n / budget)), 9) for n in budgets_of(rows)}
    closest = min(distance.values())
    return [row for row in rows if distance[row["budget"]] == closest]


def _comparisons(rows: Sequence[Row]) -> list[dict[Candidate, Row]]:
    """The candidates that met on each subject with each budget."""
    comparisons: dict[tuple[str, int], dict[Candidate, Row]] = defaultdict(dict)
    for row in rows:
        comparisons[row["subject"], row["budget"]][row["design"], row["auxiliary"]] = row
    return list(comparisons.values())


def _standings(rows: Sequence[Row], everything: Sequence[Row], criterion: str) -> list[Standing]:
    """``everything`` has the rows of simple random sampling, also where it was not asked for."""
    comparisons = _comparisons(rows)
    places: dict[Candidate, list[tuple[float, int, bool]]] = defaultdict(list)
    for comparison in comparisons:
        ranks = criterion_ranks(list(comparison.values()))[criterion]
        for candidate, rank in zip(comparison, ranks.tolist(), strict=True):
            places[candidate].append((rank, len(comparison), int((ranks < rank).sum()) < 3))
    often = max(map(len, places.values()))
    kept = {one: found for one, found in places.items() if len(found) >= SHARE * often}
    ratios = {
        id(row): (math.sqrt(mse_ratio(row, base)), failures_ratio(row, base), exposed_ratio(row, base))
        for row, base in against_reference(everything)
    }
    standings = [_standing(one, found, rows, ratios) for one, found in kept.items()]
    return sorted(standings, key=lambda one: (one.mean_rank / one.contenders, one.design, one.auxiliary))


def _standing(
    candidate: Candidate,
    places: Sequence[tuple[float, int, bool]],
    rows: Sequence[Row],
    ratios: Mapping[int, tuple[float, float, float]],
) -> Standing:
    own = [row for row in rows if (row["design"], row["auxiliary"]) == candidate]
    found = [ratios[id(row)] for row in own if id(row) in ratios]
    return Standing(
        *candidate,
        mean_rank=fmean(rank for rank, _, _ in places),
        contenders=fmean(size for _, size, _ in places),
        podiums=sum(podium for _, _, podium in places),
        cells=len(own),
        subjects=len({row["subject"] for row in own}),
        rmse_ratio=geometric_mean(rmse for rmse, _, _ in found),
        failures_ratio=geometric_mean(draws for _, draws, _ in found),
        exposed_ratio=geometric_mean(items for _, _, items in found),
        coverage=fmean(row["coverage"] for row in own),
        worst_coverage=min(row["coverage"] for row in own),
    )


def _gaps(rows: Sequence[Row], pair: Sequence[Candidate], objective: Objective) -> list[float]:
    """How far the first is ahead of the second: per subject, or per cell with fewer than three subjects."""
    by_subject: dict[str, list[float]] = defaultdict(list)
    for comparison in _comparisons(rows):
        if all(one in comparison for one in pair):
            first, second = (_merit(comparison, one, objective) for one in pair)
            by_subject[comparison[pair[0]]["subject"]].append(first - second)
    if len(by_subject) < 3:
        return [gap for gaps in by_subject.values() for gap in gaps]
    return [fmean(gaps) for gaps in by_subject.values()]


def _merit(comparison: Mapping[Candidate, Row], one: Candidate, objective: Objective) -> float:
    """Larger is better; logarithms, so that a subject counts by ratios and not by how hard it is."""
    row = comparison[one]
    if objective in ("estimate", "estimate-median"):
        return -math.log(max(row["rmse" if objective == "estimate" else "rmedse"], 1e-12))
    if objective == "expose":
        return math.log(max(row["failures_mean"], 1e-12))
    ranks = criterion_ranks(list(comparison.values()))[CRITERION[objective]]
    return -float(ranks[list(comparison).index(one)])


def _p_value(gaps: Sequence[float]) -> float | None:
    if len(gaps) < 2:
        return None
    lead, error = fmean(gaps), stdev(gaps) / math.sqrt(len(gaps))
    if lead <= 0:
        return 1.0
    return float(2 * stdtr(len(gaps) - 1, -lead / error)) if error > 0 else 0.0


def _table(standings: Sequence[Standing]) -> list[str]:
    width = max(len(str(one)) for one in standings)
    head = f"  {'':{width}}  mean rank  top three  RMSE / SRS  draws / SRS  items / SRS  coverage (worst)"
    return [head, *(_line(one, width) for one in standings)]


def _line(one: Standing, width: int) -> str:
    rank = f"{one.mean_rank:.1f} of {one.contenders:.0f}"
    coverage = f"{one.coverage:.3f} ({one.worst_coverage:.3f})"
    ratios = f"{_ratio(one.rmse_ratio):>10}  {_ratio(one.failures_ratio):>11}  {_ratio(one.exposed_ratio):>11}"
    top = f"{one.podiums} of {one.cells}"
    return f"  {one!s:{width}}  {rank:>9}  {top:>9}  {ratios}  {coverage:>16}"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"
