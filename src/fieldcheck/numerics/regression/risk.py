"""The risk model: what is believed about the loss of every item, before labels and after some.

A handful of coefficients with a Gaussian prior, fitted to the labels so far (the posterior mode). Failures are
Bernoulli with a logistic link; squared or absolute errors are gamma with a logarithmic link. More flexible models were
tried on the published subjects and gained nothing at these sample sizes.

For failures there are three such models, which differ in the share that fails however safe it looks; each counts by
its prior weight and by how likely it makes the labels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.numerics.exact import ExactSum, scan
from fieldcheck.numerics.regression.features import AsGiven, Features, Plain
from fieldcheck.numerics.regression.modes import SHAPE, Failures, Likelihood, Losses, Modes, Prior, modes
from fieldcheck.numerics.regression.population import Arrays, Population
from fieldcheck.numerics.types import BoolArray, FloatArray, IntArray

Family = Literal["bernoulli", "gamma"]


HIDDEN = np.array([0.0, 0.01, 0.05])
"""Share of failures that nothing announces, one per risk model."""


HIDDEN_WEIGHT = np.array([0.99, 0.005, 0.005])
"""Prior weight of each. The dial between plain pools and pools with hidden failures: with .97, .015, .015 the error
relative to a random sample was .434 and .97, with these .398 and 1.05 (chosen by hand on 18 pools)."""


HIDDEN_MOST = 0.3
"""Hidden failures are at first believed to be at most this share of the announced ones. It matters where a model is
believed to fail in less than one of a thousand items: without it, all chances there would be nearly equal."""


GROUP_SD = 0.5
"""Prior standard deviation of the effect of a predicted class."""


BLIND_SD = 2.0
"""Prior standard deviation of the log odds of a failure where signals are worth nothing."""


DIGITS = 9
"""Coefficients and log odds are rounded: logarithms may differ in the last bit between machines."""


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed after some labels.

    coefficients
        One row per risk model; first those of the features, then one per group.
    weights
        One per risk model; they add up to 1.
    evidence
        Logarithm of the chance that all risk models together gave the labels, by Laplace's approximation.
    """

    coefficients: FloatArray
    weights: FloatArray
    evidence: float = 0.0

    @cached_property
    def key(self) -> str:
        """Tells it from others."""
        return hashlib.sha256(self.as_row().tobytes()).hexdigest()

    def as_row(self) -> FloatArray:
        """Weights and coefficients in one array."""
        return np.concatenate([self.weights, self.coefficients.ravel()])


@dataclass(frozen=True, eq=False)
class RiskRule:
    """From what is known about items and what is believed to expected losses: all that a step needs.

    groups
        How many predicted classes have effects of their own; 0: none.
    """

    features: Features
    groups: int = 0
    family: Family = "bernoulli"

    @cached_property
    def key(self) -> str:
        """Tells it from others of the same population."""
        return f"{self.family} {self.groups} {self.features.key}"

    def odds(self, belief: Belief, part: Population) -> FloatArray:
        """One per item: rounded log odds of a failure, or logarithm of the expected loss."""
        if self.family == "gamma":
            return self._logarithm(belief, part)
        return np.asarray(np.round(special.logit(self.likely(belief, part)), DIGITS))

    def _logarithm(self, belief: Belief, part: Population) -> FloatArray:
        linear = _linear(belief.coefficients[0], *self._columns(part), part.size)
        return np.asarray(np.clip(np.round(linear, DIGITS), -60, 60))

    def likely(self, belief: Belief, part: Population) -> FloatArray:
        """Expected loss, one per item, without the rounding that draws go by: two logarithms less for each."""
        if self.family == "gamma":
            return self.loss(self._logarithm(belief, part))
        shares: dict[bytes, float] = {}  # before any label all risk models have the same coefficients
        for hidden, row, weight in zip(HIDDEN.tolist(), belief.coefficients, belief.weights.tolist(), strict=True):
            if weight:
                shares[row.tobytes()] = shares.get(row.tobytes(), 0.0) + weight * (1 - hidden)
        chance, columns = np.full(part.size, float(belief.weights @ HIDDEN)), self._columns(part)
        for row, share in shares.items():
            announced = special.expit(_linear(np.frombuffer(row), *columns, part.size))
            chance += np.multiply(announced, share, out=announced)
        return np.clip(chance, 1e-12, 1 - 1e-12, out=chance)

    def _columns(self, part: Population) -> tuple[Sequence[FloatArray], npt.NDArray[Any] | None]:
        columns = part.memo(self.features, lambda: self.features.columns(part))
        return columns, part.predictions if self.groups else None

    def expected(self, belief: Belief, part: Population) -> FloatArray:
        """Expected loss, one per item."""
        return self.loss(self.odds(belief, part))

    def loss(self, odds: FloatArray) -> FloatArray:
        """From log odds, or from the logarithm of a loss."""
        return np.asarray(np.exp(odds) if self.family == "gamma" else special.expit(odds))

    def shifted(self, expected: FloatArray, shift: float) -> FloatArray:
        """Expected losses after the intercept was moved: by log odds for failures, else by a factor ``exp(shift)``."""
        if self.family == "gamma":
            return np.asarray(expected * np.exp(shift))
        right = 1 - expected
        right *= np.exp(-shift)
        right += expected
        return np.divide(expected, right, out=right)

    def spread(self, expected: FloatArray, *, dispersion: float = 1 / SHAPE) -> FloatArray:
        """Variance of the loss, one per expected loss.

        dispersion
            Of losses without a limit: their variance in units of the squared expectation.
        """
        return expected * (1 - expected) if self.family == "bernoulli" else dispersion * expected**2


def _linear(row: FloatArray, columns: Sequence[FloatArray], codes: npt.NDArray[Any] | None, size: int) -> FloatArray:
    """Item by item, feature by feature: a product of matrices may add in another order for other sizes."""
    found, added = np.full(size, row[0]), np.empty(size)
    for slope, column in zip(row[1:].tolist(), columns, strict=False):
        found += np.multiply(column, slope, out=added)
    if codes is not None:
        found += row[1 + len(columns) :].take(codes, out=added, mode="clip")
    return found


@dataclass(frozen=True, eq=False)
class RiskModel:
    """A population, how its features are made, and a prior for their coefficients.

    mean, sd
        Of the prior, one per feature.
    announced
        Mean chance to fail by the prior, without hidden failures, where the items are a part of the population; None:
        to be found out.
    """

    population: Population
    rule: RiskRule
    mean: FloatArray
    sd: FloatArray
    announced: float | None = None

    @classmethod
    def given(
        cls,
        features: FloatArray,
        mean: FloatArray,
        sd: FloatArray,
        *,
        groups: npt.NDArray[Any] | None = None,
        classes: int = 0,
        family: Family = "bernoulli",
        announced: float | None = None,
    ) -> RiskModel:
        """With these features: one row per item, the first column 1; ``groups`` are predicted classes."""
        columns = {str(at): column for at, column in enumerate(features.T[1:])}
        items = Arrays(len(features), columns, groups)
        return cls(items, RiskRule(AsGiven(), classes, family), mean, sd, announced)

    @property
    def family(self) -> Family:
        return self.rule.family

    def matrix(self, part: Population) -> FloatArray:
        """The features of some items: one row per item, the first column 1."""
        return np.column_stack([np.ones(part.size), *self.rule.features.columns(part)])

    @cached_property
    def weights(self) -> FloatArray:
        """Prior weight of each risk model."""
        if self.models == 1:
            return np.ones(1)
        announced = self.announces
        hidden = HIDDEN_WEIGHT[1:] * min(1.0, HIDDEN_MOST * announced / float(HIDDEN @ HIDDEN_WEIGHT))
        return np.round(np.concatenate([[1 - hidden.sum()], hidden]), DIGITS)

    @property
    def announces(self) -> float:
        """Mean chance to fail by the prior, without hidden failures."""
        if self.announced is not None:
            return self.announced
        if len(self.mean) == 1:  # all items are alike
            one = ExactSum.of(special.expit(self.mean))
            return float(ExactSum(one.units * self.population.size)) / self.population.size
        key = ("announced", self.rule.features, self.mean.tobytes())
        total = self.population.memo(key, lambda: scan(self.population, _announced, (self.rule, self.mean)))
        return float(total) / self.population.size

    @property
    def group_count(self) -> int:
        return self.rule.groups

    @property
    def models(self) -> int:
        return len(HIDDEN) if self.family == "bernoulli" else 1

    def prior(self) -> Belief:
        """Before any label."""
        mean = np.concatenate([self.mean, np.zeros(self.group_count)])
        return Belief(np.repeat(mean[None], self.models, axis=0), self.weights)

    def fit(self, items: IntArray, losses: FloatArray) -> Belief:
        """After labels of these items. The same items may come in any order."""
        return self.fits(items, losses, np.ones((1, len(items)), dtype=bool))[0]

    def fits(self, items: IntArray, losses: FloatArray, used: BoolArray) -> list[Belief]:
        """After some of the labels, for each row of ``used`` (one column per label)."""
        if not len(items):
            return [self.prior()] * len(used)
        found = self._modes(items, losses, used)
        evidence = found.evidence.reshape(len(used), self.models) + np.log(self.weights)
        weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        weights = np.round(weights / weights.sum(axis=1, keepdims=True), DIGITS)
        coefficients = np.round(found.coefficients, DIGITS).reshape(len(used), self.models, -1)
        together = special.logsumexp(evidence, axis=1).tolist()
        return [Belief(*parts) for parts in zip(coefficients, weights, together, strict=True)]

    def evidence(self, items: IntArray, losses: FloatArray) -> float:
        """Logarithm of the chance that this model gave the labels."""
        return self.fit(items, losses).evidence

    def useless(self, items: IntArray, losses: FloatArray, evidence: float, *, before: float) -> float:
        """Chance that the signals are worth nothing, by the labels.

        evidence
            Of this model, for the same labels.
        before
            The chance before any label.
        """
        if not len(items) or len(self.mean) == 1:
            return before
        odds = special.logit(before) + self.blind().evidence(items, losses) - evidence
        return float(np.round(special.expit(odds), DIGITS))

    def possible(self, items: IntArray, losses: FloatArray, count: int, normal: FloatArray) -> list[Belief]:
        """Beliefs that the labels leave possible: so many draws from the posterior, each of one risk model.

        Drawn around the modes with the curvature there, and chosen by how likely each makes the labels: where none
        fails, the curvature alone would leave failure rates possible that the labels rule out.

        normal
            Independent standard normal numbers, a row for each draw to choose from, a column per coefficient.
        """
        found, around = self.fit(items, losses), []
        models = np.searchsorted(np.cumsum(found.weights), (np.arange(len(normal)) + 0.5) / len(normal))
        for model in np.unique(models).tolist():
            around.append(self._around(items, losses, found.coefficients[model], model, normal[models == model]))
        weight = np.concatenate([one for _, one in around])
        ends = np.cumsum(weight / weight.sum())
        chosen = np.minimum(np.searchsorted(ends, (np.arange(count) + 0.5) / count), len(normal) - 1)
        rows = np.concatenate([one for one, _ in around])[chosen]
        return [
            Belief(np.repeat(row[None], self.models, axis=0), np.eye(self.models)[model])
            for row, model in zip(rows, models[chosen].tolist(), strict=True)
        ]

    def _around(
        self, items: IntArray, losses: FloatArray, mode: FloatArray, model: int, normal: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Coefficients around the mode of one risk model, and how much each counts; these add up to how many."""
        rows, prior, likelihood = self._rows(items), self._prior(losses), self._likelihood(HIDDEN[model : model + 1])
        bent = likelihood.expected((rows @ mode)[None], losses)[0]
        curvature = (rows * bent[:, None]).T @ rows + np.diag(1 / prior.sd**2)
        moved = np.linalg.solve(np.linalg.cholesky(curvature).T, normal.T).T
        found = mode + moved
        height = likelihood.height(found @ rows.T, losses).sum(axis=1)
        height = height + 0.5 * (((found - prior.mean) / prior.sd) ** 2 - normal**2).sum(axis=1)
        weight = np.exp(height.min() - height)
        return found, weight / weight.mean()

    def blind(self) -> RiskModel:
        """The same without signals: all items fail equally often, about as often as was believed before any label."""
        if self.family == "gamma":
            return replace(self, rule=replace(self.rule, features=Plain()), mean=self.mean[:1], sd=self.sd[:1])
        level = np.atleast_1d(special.logit(float((HIDDEN + (1 - HIDDEN) * self.announces) @ self.weights)))
        return replace(self, rule=RiskRule(Plain()), mean=level, sd=np.array([BLIND_SD]), announced=None)

    def _modes(self, items: IntArray, losses: FloatArray, used: BoolArray) -> Modes:
        likelihood = self._likelihood(np.tile(HIDDEN, len(used)))
        seen = np.repeat(used.astype(np.float64), self.models, axis=0)
        return modes(self._rows(items), losses, self._prior(losses), likelihood, used=seen)

    def _likelihood(self, hidden: FloatArray) -> Likelihood:
        return Failures(hidden[:, None]) if self.family == "bernoulli" else Losses()

    def _prior(self, losses: FloatArray) -> Prior:
        return Prior(self._mean(losses), np.concatenate([self.sd, np.full(self.group_count, GROUP_SD)]))

    def _rows(self, items: IntArray) -> FloatArray:
        part = self.population.take(items)
        rows = self.matrix(part)
        if not self.rule.groups or part.predictions is None:
            return rows
        return np.concatenate([rows, np.eye(self.rule.groups)[part.predictions]], axis=1)

    def _mean(self, losses: FloatArray) -> FloatArray:
        """Errors have any unit: the intercept of their prior lies at the scale of the losses seen."""
        mean: FloatArray = self.prior().coefficients[0].copy()
        if self.family == "gamma":
            level = float(losses.mean()) if len(losses) else 0.0
            mean[0] = np.log(level) if level > 0 else 0.0
        return mean

    def expected(self, belief: Belief, items: IntArray | None = None) -> FloatArray:
        """Expected loss, one per item; of all items only where they are in memory."""
        if items is not None:
            return self.rule.expected(belief, self.population.take(items))
        return np.concatenate(list(self.population.map(_expected, (self.rule, belief))))

    def shifted(self, expected: FloatArray, shift: float) -> FloatArray:
        """Expected losses after the intercept was moved; ``RiskRule.shifted`` has the words."""
        return self.rule.shifted(expected, shift)

    def spread(self, expected: FloatArray, *, dispersion: float = 1 / SHAPE) -> FloatArray:
        """Variance of the loss, one per expected loss; ``RiskRule.spread`` has the words."""
        return self.rule.spread(expected, dispersion=dispersion)

    def belief(self, row: FloatArray) -> Belief:
        """The inverse of ``Belief.as_row``."""
        return Belief(row[self.models :].reshape(self.models, -1), row[: self.models])


def _announced(part: Population, given: tuple[RiskRule, FloatArray]) -> ExactSum:
    rule, mean = given
    return ExactSum.of(special.expit(_linear(mean, rule.features.columns(part), None, part.size)))


def _expected(part: Population, given: tuple[RiskRule, Belief]) -> FloatArray:
    return given[0].expected(given[1], part)
