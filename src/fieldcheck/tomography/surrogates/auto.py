"""The default: several surrogates, weighted by how well they foretell outcomes that they did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate, Numbers, Surrogate
from fieldcheck.tomography.surrogates.boosting import Boosting
from fieldcheck.tomography.surrogates.closure import Closure
from fieldcheck.tomography.surrogates.counts import Counts, Learner
from fieldcheck.tomography.surrogates.gp import Gp
from fieldcheck.tomography.surrogates.logistic import Logistic, LogisticFit

HELD_OUT = 0.25
"""Share of the measured tests of high order that the trial holds out."""


HIGH = 3


FEW_TESTS = 20
"""Of order HIGH and more, below which nothing tells how well orders are extrapolated."""


LIGHT = 0.05
"""Weights below this are dropped."""


DOUBT = 2.0
"""Standard errors that are taken off the lead of another surrogate: held-out outcomes are mostly noise."""


TRIAL_FEATURES = 100
"""Smooth terms in the trial: fewer than in the fit, for time."""


@dataclass(frozen=True)
class Auto:
    """Weigh surrogates by how well they foretell held-out outcomes, and blend those that count.

    A quarter of the measured tests of order three and more is held out; each surrogate learns from the rest and
    foretells their outcomes. The logistic regression, the best where it was tried, keeps all the weight unless another
    one is ahead of it in log-likelihood by more than two standard errors; weights then go by what is left of the lead
    (pseudo-BMA of Yao et al., Bayesian Analysis 2018, made wary). Where hardly any test of order three and more was
    measured, held-out tests would not tell how orders are extrapolated: there the closure is taken, which is made for
    that. Where tests make the same of some inputs, only the regression knows single inputs, and it is taken.
    """

    name: ClassVar[str] = "auto"
    title: ClassVar[str] = "Surrogates weighted by held-out outcomes"
    paper: ClassVar[str] = "Yao et al., Bayesian Analysis 2018"

    def fit(self, evidence: Evidence, *, seed: int) -> FittedSurrogate:
        if evidence.alike is not None:
            return Logistic().fit(evidence, seed=seed)
        if len(_high_tests(evidence)) < FEW_TESTS:
            return _untried(evidence, seed)
        main = Logistic().fit(evidence, seed=seed)
        others: list[Surrogate] = [Gp(), Boosting(), Closure()]
        trial: list[Surrogate] = [
            Logistic(features=TRIAL_FEATURES, length=main.length),
            Gp(features=TRIAL_FEATURES),
            *others[1:],
        ]
        weights, scores = _weights(trial, evidence, seed)
        parts: list[FittedSurrogate] = [main] if weights[0] else []
        parts += [one.fit(evidence, seed=seed) for one, weight in zip(others, weights[1:], strict=True) if weight]
        return Blend(
            tuple(parts),
            tuple(float(weight) for weight in weights if weight),
            (_note([one.name for one in trial], scores, weights), *(text for part in parts for text in part.notes)),
        )

    def numbers_of(self, fitted: FittedSurrogate) -> Numbers | None:
        """Kept is the regression, where nothing else was chosen."""
        if not isinstance(fitted, Blend) or len(fitted.parts) != 1 or not isinstance(fitted.parts[0], LogisticFit):
            return None
        return replace(fitted.parts[0], notes=fitted.notes).numbers()

    def of_numbers(self, numbers: Numbers, space: Space) -> FittedSurrogate:
        return LogisticFit.of_numbers(numbers, space)


def _high_tests(evidence: Evidence) -> IntArray:
    """Measured tests of high order; in a space of one or two perturbations, those with all of them at work."""
    tests = np.unique(evidence.outcomes.tests)
    return tests[evidence.space.orders(tests) >= min(HIGH, len(evidence.space.axes))]


def _untried(evidence: Evidence, seed: int) -> FittedSurrogate:
    """What is taken where too few tests could be held out."""
    extrapolates = len(evidence.space.axes) >= HIGH
    only: Surrogate = Closure() if extrapolates else Logistic()
    fitted = only.fit(evidence, seed=seed)
    why = "hardly any test of order three and more was run" if extrapolates else "too few tests were run to try others"
    return Blend((fitted,), (1.0,), (f"auto: {only.name}, because {why}", *fitted.notes))


def _note(names: Sequence[str], scores: FloatArray, weights: FloatArray) -> str:
    found = zip(names, scores, weights, strict=True)
    return "auto: held-out log-likelihood per outcome " + ", ".join(
        f"{name} {score:.4f} (weight {weight:.2f})" for name, score, weight in found
    )


@dataclass(frozen=True, eq=False)
class Blend:
    """A weighted mean of surrogates; where they disagree, the band is wider."""

    parts: tuple[FittedSurrogate, ...]
    weights: tuple[float, ...]
    notes: tuple[str, ...]

    def predict(self, tests: IntArray) -> tuple[FloatArray, FloatArray]:
        if len(self.parts) == 1:
            return self.parts[0].predict(tests)
        found = [part.predict(tests) for part in self.parts]
        return _blended(np.array([mean for mean, _ in found]), np.array([sd for _, sd in found]), self.weights)

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        found = np.array([part.region(tests, weights) for part in self.parts])
        mean, error = _blended(found[:, 0], found[:, 1], self.weights)
        return float(mean), float(error)


def _blended(means: FloatArray, errors: FloatArray, weights: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the mixture; the first axis runs over its parts."""
    share = np.asarray(weights)
    mean = np.tensordot(share, means, axes=1)
    variance = np.tensordot(share, errors**2 + (means - mean) ** 2, axes=1)
    return mean, np.sqrt(variance)


def _weights(candidates: Sequence[Surrogate], evidence: Evidence, seed: int) -> tuple[FloatArray, FloatArray]:
    """Weight of each candidate and its held-out log-likelihood per outcome."""
    outcomes = evidence.outcomes
    left_out = _left_out(evidence, seed)
    learnt = replace(evidence, outcomes=outcomes.select(~left_out))
    unseen = outcomes.select(left_out)
    tests, at = np.unique(unseen.tests, return_inverse=True)
    chances = np.array([np.clip(_foretold(one, learnt, tests, seed), 0.003, 0.997) for one in candidates])
    # By test: what a surrogate gets wrong about a test, it gets wrong for all outcomes of it.
    held, count = np.bincount(at, weights=unseen.held), np.bincount(at)
    logs = held * np.log(chances) + (count - held) * np.log1p(-chances)
    return _shares(logs), logs.sum(axis=1) / len(unseen)


def _foretold(surrogate: Surrogate, evidence: Evidence, tests: IntArray, seed: int) -> FloatArray:
    """Predictions; a learner from counts is spared its bands."""
    if isinstance(surrogate, Learner):
        return surrogate.learn(Counts.of(evidence), seed=seed)(tests)
    return surrogate.fit(evidence, seed=seed).predict(tests)[0]


def _shares(logs: FloatArray) -> FloatArray:
    """Weights from log-likelihoods (candidates by tests): others count by what is left of their lead over the first."""
    lead = logs - logs[0]
    doubt = DOUBT * np.sqrt(logs.shape[1]) * lead.std(axis=1)
    safe = lead.sum(axis=1) - doubt
    weights = np.exp(safe - safe.max())
    weights = np.where(weights < LIGHT * weights.sum(), 0.0, weights)
    return np.asarray(weights / weights.sum())


def _left_out(evidence: Evidence, seed: int) -> BoolArray:
    """Rows of a random quarter of the tests of high order."""
    tests = _high_tests(evidence)
    keys = stream(seed, "auto", "held-out").bit_generator.random_raw(len(tests))
    chosen = tests[np.argsort(keys, kind="stable")[: round(HELD_OUT * len(tests))]]
    return np.isin(evidence.outcomes.tests, chosen)
