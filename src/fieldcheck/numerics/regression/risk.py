"""The risk model: what is believed about the loss of every item, before labels and after some.

A handful of coefficients with a Gaussian prior, fitted by a few Newton steps to the labels so far (the posterior
mode). Failures are Bernoulli with a logistic link; squared or absolute errors are gamma with a logarithmic link. More
flexible models were tried on the published subjects and gained nothing at these sample sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.numerics.sampling.wave import Prospect

FloatArray = npt.NDArray[np.float64]


IntArray = npt.NDArray[np.int64]


Family = Literal["bernoulli", "gamma"]


GROUP_LABELS = 20
"""Labels per predicted class from which on classes get effects of their own."""


GROUP_VARIANCE = 0.16
"""Prior variance of such an effect."""


SHAPE = 0.5
"""Shape of the gamma distribution: that of the square of a normal error."""


SLOPE_SD = 0.57
"""Prior standard deviation of the slope of a normal score."""


SLOPE_MEAN = {"dsa": 0.3, "lsa": 0.0, "member": 0.25, "knn_disagreement": 0.3}
"""Prior mean of the slope of an auxiliary variable, where it is not 0."""


_DIGITS = 9
"""Coefficients and linear predictors are rounded: logarithms may differ in the last bit between machines."""


@dataclass(frozen=True, eq=False)
class Belief:
    """Coefficients after some labels.

    coefficients
        One per feature.
    effects
        One per group, or empty.
    """

    coefficients: FloatArray
    effects: FloatArray

    def as_row(self) -> FloatArray:
        """Both in one array."""
        return np.concatenate([self.coefficients, self.effects])


@dataclass(frozen=True, eq=False)
class RiskModel:
    """Features of a population and a prior for their coefficients.

    features
        One row per item.
    mean, sd
        Of the prior, one per feature.
    groups
        Predicted class of each item; None when there is none.
    """

    features: FloatArray
    mean: FloatArray
    sd: FloatArray
    groups: IntArray | None = None
    family: Family = "bernoulli"

    @property
    def group_count(self) -> int:
        return 0 if self.groups is None else int(self.groups.max()) + 1

    def prior(self) -> Belief:
        """Before any label."""
        return Belief(self.mean, np.zeros(0))

    def fit(self, items: IntArray, losses: FloatArray) -> Belief:
        """After labels of these items. The same items may come in any order."""
        if not len(items):
            return self.prior()
        features = self.features[items]
        if self.family == "gamma":
            return Belief(_gamma_mode(features, losses, self._gamma_mean(losses), self.sd), np.zeros(0))
        coefficients = _logistic_mode(features, losses, self.mean, self.sd)
        return Belief(coefficients, self._effects(items, losses, coefficients))

    def linear(self, belief: Belief, items: IntArray | slice = slice(None)) -> FloatArray:
        """Linear predictor, one per item."""
        value = self.features[items] @ belief.coefficients
        if len(belief.effects) and self.groups is not None:
            value = value + belief.effects[self.groups[items]]
        return np.round(value, _DIGITS)

    def expected(self, linear: FloatArray) -> FloatArray:
        """Expected loss, one per linear predictor."""
        return np.asarray(special.expit(linear) if self.family == "bernoulli" else np.exp(np.clip(linear, -60, 60)))

    def prospect(self, belief: Belief) -> Prospect:
        """What a wave that is drawn with this belief goes by."""
        linear = self.linear(belief)
        expected = self.expected(linear)
        return Prospect(expected, self.spread(expected), linear)

    def spread(self, expected: FloatArray, *, dispersion: float = 1 / SHAPE) -> FloatArray:
        """Variance of the loss, one per expected loss.

        dispersion
            Of losses without a limit: their variance in units of the squared expectation.
        """
        return expected * (1 - expected) if self.family == "bernoulli" else dispersion * expected**2

    def belief(self, row: FloatArray) -> Belief:
        """The inverse of ``Belief.as_row``."""
        width = self.features.shape[1]
        return Belief(row[:width], row[width:])

    def _gamma_mean(self, losses: FloatArray) -> FloatArray:
        """The prior with its intercept at the scale of the losses seen: errors have any unit."""
        level = float(losses.mean())
        return np.concatenate([[np.log(level) if level > 0 else 0.0], self.mean[1:]])

    def _effects(self, items: IntArray, losses: FloatArray, coefficients: FloatArray) -> FloatArray:
        if self.groups is None or len(items) < GROUP_LABELS * self.group_count:
            return np.zeros(0)
        expected = special.expit(self.features[items] @ coefficients)
        group = self.groups[items]
        surplus = np.bincount(group, losses - expected, minlength=self.group_count)
        weight = np.bincount(group, expected * (1 - expected), minlength=self.group_count)
        return np.asarray(np.round(surplus / (weight + 1 / GROUP_VARIANCE), _DIGITS), dtype=np.float64)


def _logistic_mode(features: FloatArray, losses: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    def height(linear: FloatArray) -> float:
        return float((np.logaddexp(0.0, linear) - losses * linear).sum())

    def slopes(linear: FloatArray) -> tuple[FloatArray, FloatArray]:
        expected = special.expit(linear)
        return losses - expected, expected * (1 - expected)

    return _mode(features, mean, sd, height=height, slopes=slopes)


def _gamma_mode(features: FloatArray, losses: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    def ratio(linear: FloatArray) -> FloatArray:
        return np.asarray(losses * np.exp(-np.clip(linear, -60, 60)))

    def height(linear: FloatArray) -> float:
        return SHAPE * float((linear + ratio(linear)).sum())

    def slopes(linear: FloatArray) -> tuple[FloatArray, FloatArray]:
        here = ratio(linear)
        return SHAPE * (here - 1), SHAPE * here

    return _mode(features, mean, sd, height=height, slopes=slopes)


def _mode(
    features: FloatArray,
    mean: FloatArray,
    sd: FloatArray,
    *,
    height: Callable[[FloatArray], float],
    slopes: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """Where the posterior is highest, by Newton steps that are shortened until they lead there.

    Full steps alone go in circles when an item fails that was held for perfectly safe.

    height
        Minus the log likelihood, from the linear predictors.
    slopes
        Its two derivatives by each linear predictor; the first with the opposite sign.
    """

    def depth(at: FloatArray) -> float:
        return height(features @ at) + 0.5 * float((((at - mean) / sd) ** 2).sum())

    precision, at = 1 / sd**2, mean.copy()
    for _ in range(40):
        surplus, weight = slopes(features @ at)
        gradient = features.T @ surplus - precision * (at - mean)
        curvature = (features * weight[:, None]).T @ features + np.diag(precision)
        move = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
        size = float(np.abs(move).max())
        at = at + _shortened(depth, at, move * min(1.0, 2.0 / max(size, 1e-9)))
        if size < 1e-9:
            break
    return np.round(at, _DIGITS)


def _shortened(depth: Callable[[FloatArray], float], at: FloatArray, move: FloatArray) -> FloatArray:
    """The step, halved until it does not lead upwards (but for rounding)."""
    here = depth(at)
    for _ in range(30):
        if depth(at + move) <= here + 1e-12 * (1 + abs(here)):
            break
        move = move / 2
    return move


def normal_score(values: FloatArray) -> FloatArray:
    """Rank of each value, ties sharing theirs, as a quantile of the normal distribution."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(special.ndtri((rank[inverse] - 0.5) / len(values)))


def failure_model(
    suspicion: FloatArray | None, others: dict[str, FloatArray], groups: IntArray | None, size: int
) -> RiskModel:
    """The prior for failures.

    suspicion
        1 - confidence, one per item. The less the model doubts on average, the more its confidence is believed.
    others
        Further auxiliary variables by name, one value per item each; they enter by rank.
    """
    columns, mean, sd = [np.ones(size)], [0.0], [1.41]
    if suspicion is None:
        mean, sd = [float(special.logit(0.1))], [1.5]
    else:
        trust = float(np.clip(0.5 + 10 * (0.05 - suspicion.mean()), 0.5, 0.9))
        doubt = 0.3 + trust * special.logit(np.clip(suspicion, 1e-6, 0.999))
        columns += [doubt, (doubt - doubt.mean()) ** 2 / 10]
        mean, sd = [*mean, 1.0, 0.0], [*sd, 0.57, 0.42]
    for name, values in others.items():
        columns.append(normal_score(values))
        mean.append(SLOPE_MEAN.get(name, 0.0))
        sd.append(SLOPE_SD)
    return RiskModel(np.column_stack(columns), np.array(mean), np.array(sd), groups)


def loss_model(others: dict[str, FloatArray], predictions: FloatArray | None, size: int) -> RiskModel:
    """The prior for squared or absolute errors: larger where signals are high, or the prediction is extreme."""
    columns, mean = [np.ones(size)], [0.0]
    signals = dict(others)
    if predictions is not None:
        signals["extreme"] = np.abs(predictions - np.median(predictions))
    for name, values in signals.items():
        columns.append(normal_score(values))
        mean.append(0.25 if name in ("lsa", "extreme") else 0.0)
    sd = [10.0] + [SLOPE_SD] * (len(columns) - 1)
    return RiskModel(np.column_stack(columns), np.array(mean), np.array(sd), None, "gamma")


def frame_model(
    auxiliary: Mapping[str, FloatArray], predictions: npt.NDArray[Any] | None, size: int, task: str
) -> RiskModel:
    """The prior that fits what is known about a population.

    predictions
        Predicted class (a small whole number) or value of each item, where it is known.
    """
    others = {name: values for name, values in auxiliary.items() if name != "confidence"}
    if task == "regression":
        return loss_model(others, None if predictions is None else predictions.astype(np.float64), size)
    groups = None if predictions is None else predictions.astype(np.int64)
    return failure_model(auxiliary.get("confidence"), others, groups, size)
