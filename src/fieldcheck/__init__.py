"""How accurate is a trained model in operation, and where does it break?

>>> import fieldcheck as fc
>>> pool = fc.load("pool.csv")                                                      # doctest: +SKIP
>>> print(fc.simulate(pool, fc.designs.Ssrs("confidence"), budget=200, seed=1))       # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.assessment.estimate import estimate
from fieldcheck.accuracy.assessment.planning import plan
from fieldcheck.accuracy.assessment.sampling import choose as sample
from fieldcheck.accuracy.assessment.simulate import simulate
from fieldcheck.accuracy.comparison.reuse import reuse
from fieldcheck.accuracy.comparison.simulate import compare
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import BudgetError, DesignError, FieldcheckError, LabelError, PoolError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.sources import load, save
from fieldcheck.sources.pools.arrays import from_arrays

__all__ = [
    "BudgetError",
    "Campaign",
    "Design",
    "DesignError",
    "Estimate",
    "FieldcheckError",
    "LabelError",
    "Labelled",
    "Pool",
    "PoolError",
    "Sample",
    "SampleError",
    "compare",
    "designs",
    "estimate",
    "estimators",
    "from_arrays",
    "load",
    "plan",
    "predict",
    "reuse",
    "sample",
    "save",
    "simulate",
    "tomography",
]


_LATER = {"predict": "fieldcheck.accuracy.predict", "tomography": "fieldcheck.tomography"}
"""Packages that are part of the interface and are loaded when they are asked for."""


def __getattr__(name: str) -> _ModuleType:
    if name in _LATER:
        return _import_module(_LATER[name])
    raise AttributeError(f"module 'fieldcheck' has no attribute '{name}'")
