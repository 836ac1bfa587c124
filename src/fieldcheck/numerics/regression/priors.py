"""The prior of a population: the features of its items, and what is believed of their coefficients before labels."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.exact import ExactSum, Range, scan, summed
from fieldcheck.numerics.order import Column
from fieldcheck.numerics.regression.features import Extreme, Made, SignalColumn, doubt_of, predicted
from fieldcheck.numerics.regression.population import Known, Population
from fieldcheck.numerics.regression.risk import RiskModel, RiskRule
from fieldcheck.numerics.scores import Scores, median, normal_scores
from fieldcheck.numerics.types import FloatArray

GROUPS = 20
"""Most predicted classes that get an effect of their own."""


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


CONSTANT = 1e-6
"""Confidence whose log odds spread less than this is the same everywhere."""


UNKNOWN: FloatArray = np.zeros(0)
"""Facts that have to be found out."""


def _doubt_sums(part: Population, _: None) -> tuple[ExactSum, ExactSum, Range]:
    """Of the doubt and its square; and the range of the codes of the predicted classes."""
    doubt = doubt_of(part) if "confidence" in part.auxiliary else np.zeros(0)
    codes = Range() if part.predictions is None else Range.of(part.predictions)
    return ExactSum.of(doubt), ExactSum.of(doubt * doubt), codes


def _weighted_sums(part: Population, given: tuple[Made, bool]) -> tuple[ExactSum, ...]:
    """Of the weights, and of each column but the scaled doubt times them."""
    made, doubtful = given
    columns = made.columns(part)
    likely = special.expit(LEVEL[0] + DOUBT[0] * columns[0]) if doubtful else np.ones(part.size)
    return summed(likely, *(likely * column for column in columns[int(doubtful) :]))


def failure_model(population: Population, facts: FloatArray = UNKNOWN) -> RiskModel:
    """The prior for failures.

    ``confidence`` among the auxiliary variables is 1 - confidence; the others enter by rank.

    facts
        ``facts_of`` this model, where it was made before.
    """
    others = [name for name in population.auxiliary if name != "confidence"]
    columns = [SignalColumn(name) for name in others]
    ranked = [(column, normal_scores(population, column, population.size), 0.0) for column in columns]
    if len(facts) == len(Facts._fields) + len(ranked):
        known, centres = Facts(*facts[: -len(ranked) or None].tolist()), facts[len(Facts._fields) :].tolist()
    else:
        known, centres = _found(population, ranked)
    doubt = (known.scale, known.middle, known.bend) if known.scale else None
    made = Made(doubt, tuple((*one[:2], centre) for one, centre in zip(ranked, centres, strict=True)))
    mean, sd = failure_prior(others, population.traits, doubted=doubt is not None)
    announced = None if math.isnan(known.announced) else known.announced
    return RiskModel(population, RiskRule(made, int(known.groups)), mean, sd, announced)


class Facts(NamedTuple):
    """What the prior for failures takes from all items, beside the ranks and the centres of ranked columns.

    scale, middle, bend
        ``Made.doubt``; a scale of 0: there is none.
    groups
        Predicted classes with effects of their own.
    announced
        ``RiskModel.announced``; not a number: not found out yet.
    """

    scale: float
    middle: float
    bend: float
    groups: float
    announced: float = math.nan


def facts_of(model: RiskModel) -> FloatArray:
    """What a prior for failures took from all items of its population, to make it again without looking at them."""
    made = model.rule.features
    if not isinstance(made, Made) or model.family != "bernoulli":
        return UNKNOWN
    known = Facts(*(made.doubt or (0.0, 0.0, 0.0)), model.group_count, model.announces)
    return np.array([*known, *(centre for *_, centre in made.ranked)])


def _found(population: Population, ranked: Sequence[tuple[Column, Scores, float]]) -> tuple[Facts, list[float]]:
    """By looking at all items: the facts, and where the ranked columns are centred."""
    spread, mean, codes = _first_sums(population)
    doubtful = spread > CONSTANT
    scale = max(spread, 0.3)
    doubt, centres = (scale, mean / scale, 0.0) if doubtful else None, list[float]()
    if doubtful or ranked:
        # Zero where failures are expected, so that the intercept means the same with and without a column.
        weight, *sums = map(float, scan(population, _weighted_sums, (Made(doubt, tuple(ranked)), doubtful)))
        centres = [one / weight for one in sums]
    bend = centres.pop(0) if doubtful else 0.0
    groups = int(codes.high) + 1 if 0 <= codes.high < GROUPS else 0
    return Facts(*((doubt or (0.0, 0.0))[:2]), bend, groups), centres


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


def _first_sums(population: Population) -> tuple[float, float, Range]:
    """Standard deviation and mean of the doubt; smallest and largest code of a predicted class."""
    *sums, codes = scan(population, _doubt_sums, None)
    mean, square = (one.exact / population.size for one in sums)
    return math.sqrt(max(square - mean**2, Fraction(0))), float(mean), codes


def loss_model(population: Population) -> RiskModel:
    """The prior for squared or absolute errors: larger where signals are high, or the prediction is extreme."""
    names = [name for name in population.auxiliary if name != "confidence"]
    columns, extreme = list[Column](map(SignalColumn, names)), population.predictions is not None
    if extreme:
        columns.append(Extreme(median(population, predicted, population.size)))
    mean, sd = loss_prior(names, population.traits, extreme=extreme)
    made = Made(None, tuple((column, normal_scores(population, column, population.size), 0.0) for column in columns))
    return RiskModel(population, RiskRule(made, 0, "gamma"), mean, sd)


def risk_model(population: Population, facts: FloatArray = UNKNOWN) -> RiskModel:
    """The prior that fits what is known about a population.

    Its predictions are codes of classes (small whole numbers) or values, where they are known.

    facts
        ``facts_of`` it, where they are known.
    """
    return loss_model(population) if population.task == "regression" else failure_model(population, facts)


def model_of(frame: Population, facts: FloatArray = UNKNOWN) -> RiskModel:
    """The prior that fits a frame, made once."""
    return frame.memo("risk", lambda: risk_model(frame, facts))
