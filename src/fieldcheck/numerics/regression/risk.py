"""The risk model: what is believed about the loss of every item, before labels and after some.

A handful of coefficients with a Gaussian prior, fitted to the labels so far (the posterior mode). Failures are
Bernoulli with a logistic link; squared or absolute errors are gamma with a logarithmic link. More flexible models were
tried on the published subjects and gained nothing at these sample sizes.

For failures there are three such models, which differ in the share that fails however safe it looks; each counts by
its prior weight and by how likely it makes the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.numerics.regression.modes import SHAPE, Failures, Likelihood, Losses, Modes, Prior, modes
from fieldcheck.numerics.sampling.wave import Prospect

T = TypeVar("T")


FloatArray = npt.NDArray[np.float64]


BoolArray = npt.NDArray[np.bool_]


IntArray = npt.NDArray[np.int64]


Family = Literal["bernoulli", "gamma"]


HIDDEN = np.array([0.0, 0.01, 0.05])
"""Share of failures that nothing announces, one per risk model."""


HIDDEN_WEIGHT = np.array([0.99, 0.005, 0.005])
"""Prior weight of each. The dial between plain pools and pools with hidden failures: with .97, .015, .015 the error
relative to a random sample was .434 and .97, with these .398 and 1.05 (chosen by hand on 18 pools)."""


HIDDEN_MOST = 0.3
"""Hidden failures are at first believed to be at most this share of the announced ones. It matters where a model is
believed to fail in less than one of a thousand items: without it, all chances there would be nearly equal."""


GROUPS, GROUP_SD = 20, 0.5
"""Most predicted classes that get an effect of their own, and its prior standard deviation."""


LEVEL = (-0.8, 1.3)
"""Prior mean and standard deviation of the intercept. This and what follows was chosen on fifteen pools; leaving out
the pool that is tested costs half a percent of the error."""


DOUBT = (2.6, 0.9)
"""Of the slope of logit(1 - confidence), scaled by its spread over the pool: the slope itself runs from .4 to 4 over
real models, slope times spread only from 1.1 to 4.1."""


SHARED = 0.3
"""What the slope of the doubt gives up for each of the signals that say part of the same."""


BEND = (-0.1, 0.2)
"""Of the square of the scaled doubt, counted from its mean."""


SLOPE = (0.0, 0.57)
"""Of the normal score of an auxiliary variable of which nothing is known."""


EXTREME = 0.25
"""Prior mean of the slope of errors over how extreme the prediction is."""


BLIND_SD = 2.0
"""Prior standard deviation of the log odds of a failure where signals are worth nothing."""


BLOCK = 1 << 16
"""Items whose losses are worked out at once: three risk models side by side take the memory of many columns."""


DIGITS = 9
"""Coefficients and log odds are rounded: logarithms may differ in the last bit between machines."""


class Known(Protocol):
    """What is known of an auxiliary variable beside its values: its prior slopes, and whether it echoes the doubt."""

    @property
    def slope(self) -> tuple[float, float]: ...

    @property
    def error_slope(self) -> float: ...

    @property
    def echo(self) -> bool: ...


class Population(Protocol):
    """What a risk model is made of; a frame is one."""

    @property
    def size(self) -> int: ...

    @property
    def task(self) -> str: ...

    @property
    def auxiliary(self) -> Mapping[str, FloatArray]: ...

    @property
    def predictions(self) -> npt.NDArray[Any] | None: ...

    @property
    def traits(self) -> Mapping[str, Known]: ...

    def memo(self, key: Hashable, make: Callable[[], T]) -> T: ...


NOTHING: Mapping[str, Known] = {}


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

    def as_row(self) -> FloatArray:
        """Weights and coefficients in one array."""
        return np.concatenate([self.weights, self.coefficients.ravel()])


@dataclass(frozen=True, eq=False)
class RiskModel:
    """Features of a population and a prior for their coefficients.

    features
        One row per item.
    mean, sd
        Of the prior, one per feature.
    groups
        Predicted class of each item, a whole number of any width, if they are few enough to have effects of their own;
        otherwise None.
    announced, classes
        Where the features are those of a part of the population: mean chance to fail by the prior, and number of
        groups, in all of it.
    """

    features: FloatArray
    mean: FloatArray
    sd: FloatArray
    groups: npt.NDArray[Any] | None = None
    family: Family = "bernoulli"
    announced: float | None = None
    classes: int | None = None

    @cached_property
    def weights(self) -> FloatArray:
        """Prior weight of each risk model."""
        if self.models == 1:
            return np.ones(1)
        announced = self.announced
        if announced is None:
            announced = float(special.expit(self.features @ self.mean).mean())
        hidden = HIDDEN_WEIGHT[1:] * min(1.0, HIDDEN_MOST * announced / float(HIDDEN @ HIDDEN_WEIGHT))
        return np.round(np.concatenate([[1 - hidden.sum()], hidden]), DIGITS)

    @property
    def group_count(self) -> int:
        return 0 if self.groups is None else self.classes or int(self.groups.max()) + 1

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
            return replace(self, features=self.features[:, :1], mean=self.mean[:1], sd=self.sd[:1])
        if self.announced is None:
            rate = float(self.expected(self.prior()).mean())
        else:
            rate = float((HIDDEN + (1 - HIDDEN) * self.announced) @ self.weights)
        level, sd = np.atleast_1d(special.logit(rate)), np.array([BLIND_SD])
        return replace(self, features=self.features[:, :1], mean=level, sd=sd, groups=None, announced=None)

    def _modes(self, items: IntArray, losses: FloatArray, used: BoolArray) -> Modes:
        likelihood = self._likelihood(np.tile(HIDDEN, len(used)))
        seen = np.repeat(used.astype(np.float64), self.models, axis=0)
        return modes(self._rows(items), losses, self._prior(losses), likelihood, used=seen)

    def _likelihood(self, hidden: FloatArray) -> Likelihood:
        return Failures(hidden[:, None]) if self.family == "bernoulli" else Losses()

    def _prior(self, losses: FloatArray) -> Prior:
        return Prior(self._mean(losses), np.concatenate([self.sd, np.full(self.group_count, GROUP_SD)]))

    def _rows(self, items: IntArray) -> FloatArray:
        if self.groups is None:
            return self.features[items]
        return np.concatenate([self.features[items], np.eye(self.group_count)[self.groups[items]]], axis=1)

    def _mean(self, losses: FloatArray) -> FloatArray:
        """Errors have any unit: the intercept of their prior lies at the scale of the losses seen."""
        mean: FloatArray = self.prior().coefficients[0].copy()
        if self.family == "gamma":
            level = float(losses.mean()) if len(losses) else 0.0
            mean[0] = np.log(level) if level > 0 else 0.0
        return mean

    def expected(self, belief: Belief, items: IntArray | slice = slice(None)) -> FloatArray:
        """Expected loss, one per item."""
        if not isinstance(items, slice) or items != slice(None):
            return self._expected(belief, items)
        found = np.empty(len(self.features))
        for start in range(0, len(found), BLOCK):
            found[start : start + BLOCK] = self._expected(belief, slice(start, start + BLOCK))
        return found

    def _expected(self, belief: Belief, items: IntArray | slice) -> FloatArray:
        features = self.features[items]
        linear = features @ belief.coefficients[:, : features.shape[1]].T
        if self.groups is not None:
            linear = linear + belief.coefficients[:, features.shape[1] :].T[self.groups[items]]
        if self.family == "gamma":
            return np.asarray(np.exp(np.clip(np.round(linear[:, 0], DIGITS), -60, 60)))
        chance = (HIDDEN + (1 - HIDDEN) * special.expit(linear)) @ belief.weights
        return self.shifted(chance, 0.0)

    def shifted(self, expected: FloatArray, shift: float) -> FloatArray:
        """Expected losses after the intercept was moved: by log odds for failures, else by a factor ``exp(shift)``."""
        if self.family == "gamma":
            return np.asarray(expected * np.exp(shift))
        odds = special.logit(np.clip(expected, 1e-12, 1 - 1e-12))
        return np.asarray(special.expit(np.round(odds, DIGITS) + shift))

    def prospect(self, belief: Belief) -> Prospect:
        """What a wave that is drawn with this belief goes by."""
        expected = self.expected(belief)
        return Prospect(expected, self.spread(expected), expected)

    def spread(self, expected: FloatArray, *, dispersion: float = 1 / SHAPE) -> FloatArray:
        """Variance of the loss, one per expected loss.

        dispersion
            Of losses without a limit: their variance in units of the squared expectation.
        """
        return expected * (1 - expected) if self.family == "bernoulli" else dispersion * expected**2

    def belief(self, row: FloatArray) -> Belief:
        """The inverse of ``Belief.as_row``."""
        return Belief(row[self.models :].reshape(self.models, -1), row[: self.models])


def normal_score(values: FloatArray) -> FloatArray:
    """Rank of each value, ties sharing theirs, as a quantile of the normal distribution."""
    # Not np.unique with its inverse: at ten million items that holds three more arrays of their length.
    order = np.argsort(values)
    ordered = values[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(values) - 1) + 1
    del ordered
    counts = np.diff(ends, prepend=0)
    score = np.asarray(special.ndtri((ends - (counts - 1) / 2 - 0.5) / len(values)))
    found = np.empty(len(values))
    found[order] = score if len(score) == len(values) else np.repeat(score, counts)
    return found


def failure_model(
    suspicion: FloatArray | None,
    others: Mapping[str, FloatArray],
    groups: npt.NDArray[Any] | None,
    size: int,
    traits: Mapping[str, Known] = NOTHING,
) -> RiskModel:
    """The prior for failures.

    suspicion
        1 - confidence, one per item.
    others
        Further auxiliary variables by name, one value per item each; they enter by rank.
    traits
        What is known of some of them.
    """
    columns, likely = [np.ones(size)], np.ones(size)
    doubt = None if suspicion is None else special.logit(np.clip(suspicion, 1e-6, 0.999))
    doubted = doubt is not None and float(doubt.std()) >= 1e-9
    if doubt is not None and doubted:
        scaled = doubt / max(float(doubt.std()), 0.3)
        likely = special.expit(LEVEL[0] + DOUBT[0] * scaled)
        columns += [scaled, _centred((scaled - scaled.mean()) ** 2, likely)]
    columns += [_centred(normal_score(values), likely) for values in others.values()]
    mean, sd = failure_prior(others, traits, doubted=doubted)
    few = groups is not None and int(groups.max()) < GROUPS
    return RiskModel(np.column_stack(columns), mean, sd, groups if few else None)


def failure_prior(
    others: Collection[str], traits: Mapping[str, Known], *, doubted: bool
) -> tuple[FloatArray, FloatArray]:
    """Prior means and standard deviations: of the intercept, of the doubt and its square, and of other variables.

    doubted
        Whether there is a doubt, which differs between items.
    """
    slope = DOUBT[0] - SHARED * sum(traits[name].echo for name in others if name in traits)
    known = [LEVEL, (slope, DOUBT[1]), BEND] if doubted else [(float(special.logit(0.1)), 1.5)]
    mean, sd = np.array([*known, *(traits[name].slope if name in traits else SLOPE for name in others)]).T
    return mean, sd


def loss_prior(others: Collection[str], traits: Mapping[str, Known], *, extreme: bool) -> tuple[FloatArray, FloatArray]:
    """The same for losses without a limit; ``extreme``: by how far the prediction is from the middle, too."""
    slopes = [traits[name].error_slope if name in traits else 0.0 for name in others]
    mean = [0.0, *slopes, *([EXTREME] if extreme else [])]
    return np.array(mean), np.array([10.0] + [SLOPE[1]] * (len(mean) - 1))


def _centred(column: FloatArray, weights: FloatArray) -> FloatArray:
    """Zero where failures are expected, so that the intercept means the same with and without this column."""
    return column - float(np.average(column, weights=weights))


def loss_model(
    others: Mapping[str, FloatArray],
    predictions: FloatArray | None,
    size: int,
    traits: Mapping[str, Known] = NOTHING,
) -> RiskModel:
    """The prior for squared or absolute errors: larger where signals are high, or the prediction is extreme."""
    columns = [np.ones(size), *map(normal_score, others.values())]
    if predictions is not None:
        columns.append(normal_score(np.abs(predictions - np.median(predictions))))
    mean, sd = loss_prior(others, traits, extreme=predictions is not None)
    return RiskModel(np.column_stack(columns), mean, sd, None, "gamma")


def frame_model(
    auxiliary: Mapping[str, FloatArray],
    predictions: npt.NDArray[Any] | None,
    size: int,
    task: str,
    traits: Mapping[str, Known] = NOTHING,
) -> RiskModel:
    """The prior that fits what is known about a population.

    predictions
        Predicted class (a small whole number) or value of each item, where it is known.
    """
    others = {name: values for name, values in auxiliary.items() if name != "confidence"}
    if task == "regression":
        return loss_model(others, None if predictions is None else predictions.astype(np.float64), size, traits)
    return failure_model(auxiliary.get("confidence"), others, predictions, size, traits)


def model_of(frame: Population) -> RiskModel:
    """The prior that fits a frame, made once."""
    return frame.memo(
        "risk",
        lambda: frame_model(frame.auxiliary, frame.predictions, frame.size, frame.task, frame.traits),
    )
