"""From labelled samples to the mean loss of the pool. A new one is a file here and a line in the registry."""

from __future__ import annotations

from fieldcheck.accuracy.estimators.adaptive import Adaptive
from fieldcheck.accuracy.estimators.base import Estimator, KnowsChances, MeanLoss
from fieldcheck.accuracy.estimators.bets import BetsInverted, replayed
from fieldcheck.accuracy.estimators.hansen_hurwitz import HansenHurwitz
from fieldcheck.accuracy.estimators.mean import Mean
from fieldcheck.accuracy.estimators.model_assisted import ModelAssisted
from fieldcheck.accuracy.estimators.representative import Representative
from fieldcheck.accuracy.estimators.rhc import RaoHartleyCochran
from fieldcheck.accuracy.estimators.stratified import Stratified
from fieldcheck.core.draws import PoolChances
from fieldcheck.core.registry import Registry
from fieldcheck.core.sample import Labelled

__all__ = [
    "Adaptive",
    "BetsInverted",
    "HansenHurwitz",
    "Mean",
    "ModelAssisted",
    "RaoHartleyCochran",
    "Representative",
    "Stratified",
    "chances_of",
    "estimate",
    "registry",
    "replayed",
]


registry: Registry[Estimator] = Registry(
    "estimator",
    "fieldcheck.estimators",
    Mean,
    Representative,
    Stratified,
    HansenHurwitz,
    RaoHartleyCochran,
    Adaptive,
    ModelAssisted,
    BetsInverted,
)


def estimate(labelled: Labelled, *, estimator: str | None = None, level: float = 0.95) -> MeanLoss:
    """The mean loss, by the estimator of the design unless another is named; a wrong pair is refused."""
    sample = labelled.sample
    chosen = registry.build(estimator or sample.estimator)
    sample.drawn_as(*chosen.accepts)
    return chosen.estimate(labelled, level=level)


def chances_of(labelled: Labelled) -> PoolChances | None:
    """The chance of every item of the pool to be drawn, and labelled; None where it does not follow from the draws."""
    sample = labelled.sample
    chosen = registry.build(sample.estimator)
    return chosen.chances(labelled) if sample.draws.reusable and isinstance(chosen, KnowsChances) else None
