"""How well each auxiliary variable tells failures from the rest, on a pool whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fieldcheck.accuracy.assessment.diagnostics import leak_warning
from fieldcheck.accuracy.auxiliary import Combined, derived, registry
from fieldcheck.core.exhibit import Line, LineChart, Table
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import BoolArray, FloatArray
from fieldcheck.numerics import ranks
from fieldcheck.numerics.regression import priors, risk
from fieldcheck.numerics.regression.population import Arrays

RISKIEST = 200
"""Items that a labelling campaign could look at first."""

GROUPS = 20
"""Groups of equal size, from safe to risky: the points of a curve, and the strata of a regression."""

TOGETHER = "together"

DERIVED = frozenset({Combined.name, *(name for name, variable in registry.items() if variable.from_probabilities)})
"""Variables that say nothing that others do not say already."""


@dataclass(frozen=True)
class Signal:
    """One auxiliary variable, or all of them together.

    separation
        Classification: area under the curve, the chance that a failing item has the larger value; 0.5 is useless.
        Regression: Spearman's rank correlation with the absolute error; 0 is useless.
    riskiest
        Failures among the 200 items with the largest values, ties shared out; in regression their part of the total
        error.
    ratio
        Smallest RMSE that a sample allocated by it can reach, relative to simple random sampling: the mean over items
        of the standard deviation of the loss given the variable, divided by the standard deviation of the loss (Neyman,
        1934), under the logistic (regression: grouped) model of the loss fitted here.
    observed, fitted
        Mean loss in groups of equal size from safe to risky, as it is and as the model says.
    """

    name: str
    separation: float
    riskiest: float
    ratio: float
    observed: tuple[float, ...]
    fitted: tuple[float, ...]


@dataclass(frozen=True)
class Separation:
    """All signals of a pool, the most separating first, then all together."""

    pool: str
    task: str
    items: int
    failures: int | None
    signals: tuple[Signal, ...]
    warnings: tuple[str, ...]

    def table(self) -> Table:
        """One row per variable."""
        classify = self.task == "classification"
        shown = min(RISKIEST, self.items)
        columns = (
            "auxiliary",
            "AUC" if classify else "rank correlation",
            f"failures in {shown} riskiest" if classify else f"share of error in {shown} riskiest",
            "achievable RMSE ratio",
        )
        rows = tuple((one.name, one.separation, one.riskiest, one.ratio) for one in self.signals)
        known = f"{self.failures:,} of {self.items:,} items fail. " if self.failures is not None else ""
        note = known + "The ratio is to simple random sampling with the same number of labels: smaller is better."
        return Table("signals", f"Auxiliary variables of {self.pool}", columns, rows, note)

    def charts(self) -> tuple[LineChart, ...]:
        """One per variable: how the loss grows with it."""
        return tuple(self._chart(one) for one in self.signals)

    def _chart(self, one: Signal) -> LineChart:
        x = tuple((at + 0.5) / len(one.observed) for at in range(len(one.observed)))
        what = "share of failures" if self.task == "classification" else "mean squared error"
        model = "logistic curve" if self.task == "classification" else "gamma curve"
        return LineChart(
            f"curves/{one.name}",
            one.name,
            "items, from the smallest value to the largest",
            what,
            (Line(model, x, one.fitted), Line("observed", x, one.observed)),
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def separation(pool: Pool, auxiliary: Sequence[str] = ()) -> Separation:
    """How well the named variables, by default all of the pool's, separate what the model gets wrong."""
    losses = pool.losses()
    names = [name.strip().lower() for name in auxiliary] or list(derived.names(pool))
    columns = {name: derived.values(pool, name) for name in names}
    warnings = {name: _leak(pool, name) for name in names}
    found = [_signal(pool, name, {name: values}, values, losses) for name, values in columns.items()]
    found.sort(key=lambda one: -one.separation if math.isfinite(one.separation) else math.inf)
    sound = {name: values for name, values in columns.items() if name not in DERIVED and not warnings[name]}
    if len(sound) > 1:
        found.append(_signal(pool, TOGETHER, sound, None, losses))
    return Separation(
        pool=pool.name,
        task=pool.task,
        items=len(pool),
        failures=int(losses.sum()) if pool.task == "classification" else None,
        signals=tuple(found),
        warnings=tuple(text for texts in warnings.values() for text in texts),
    )


def _leak(pool: Pool, name: str) -> tuple[str, ...]:
    return leak_warning(pool, name, items=np.arange(len(pool)), failed=_failed(pool))


def _failed(pool: Pool) -> BoolArray:
    """In regression, errors over the mean one: a leak would give them away too."""
    losses = pool.losses()
    return losses > (0.5 if pool.task == "classification" else losses.mean())


def _signal(
    pool: Pool, name: str, columns: Mapping[str, FloatArray], values: FloatArray | None, losses: FloatArray
) -> Signal:
    model = priors.risk_model(Arrays(len(pool), columns, task=pool.task, traits=derived.traits()))
    expected = model.expected(model.fit(np.arange(len(pool)), losses))
    by = expected if values is None else values
    return Signal(
        name=name,
        separation=ranks.auc(by, losses > 0.5)
        if pool.task == "classification"
        else _rank_correlation(by, pool.losses("absolute")),
        riskiest=_among_riskiest(by, losses if pool.task == "classification" else losses / max(losses.sum(), 1e-300)),
        ratio=_ratio(model, expected, losses),
        observed=_by_group(by, losses),
        fitted=_by_group(by, expected),
    )


def _rank_correlation(values: FloatArray, offsets: FloatArray) -> float:
    """Spearman's; nan where one of them is constant."""
    from scipy.stats import rankdata

    first, second = (rankdata(one) for one in (values, offsets))
    spread = float(first.std() * second.std())
    return float(np.mean((first - first.mean()) * (second - second.mean()))) / spread if spread else float("nan")


def _among_riskiest(values: FloatArray, losses: FloatArray) -> float:
    """Losses of the riskiest items; those that tie at the cut count by the share of them that fits in."""
    count = min(RISKIEST, len(values))
    cut = np.partition(values, -count)[-count]
    above, tied = values > cut, values == cut
    return float(losses[above].sum() + losses[tied].mean() * (count - above.sum()))


def _ratio(model: risk.RiskModel, expected: FloatArray, losses: FloatArray) -> float:
    total = float(losses.std())
    if total == 0:
        return float("nan")
    if model.family == "bernoulli":
        return float(np.sqrt(expected * (1 - expected)).mean()) / total
    groups = np.array_split(losses[np.argsort(expected, kind="stable")], GROUPS)
    return float(sum(len(group) * group.std() for group in groups)) / (len(losses) * total)


def _by_group(by: FloatArray, values: FloatArray) -> tuple[float, ...]:
    ordered = values[np.argsort(by, kind="stable")]
    return tuple(float(group.mean()) for group in np.array_split(ordered, min(GROUPS, len(values))))
