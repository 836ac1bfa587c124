"""How accurate is a trained model in operation, and where does it break?

>>> import fieldcheck as fc
>>> pool = fc.load("pool.csv")                                                      # doctest: +SKIP
>>> print(fc.assess(pool, fc.designs.Ssrs("confidence"), budget=200, seed=1))       # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from fieldcheck import designs, estimators
from fieldcheck.campaign import Campaign, Sheet, assess, compare, estimate, plan, reuse
from fieldcheck.campaign import choose as sample
from fieldcheck.core.design import Design
from fieldcheck.core.errors import BudgetError, DesignError, FieldcheckError, LabelError, PoolError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.sources import load, save

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
    "Sheet",
    "assess",
    "compare",
    "designs",
    "estimate",
    "estimators",
    "load",
    "plan",
    "predict",
    "reuse",
    "sample",
    "save",
    "tomography",
]

_LATER = frozenset({"predict", "tomography"})
"""Packages that are part of the interface and are loaded when they are asked for."""


def __getattr__(name: str) -> _ModuleType:
    if name in _LATER:
        return _import_module(f"fieldcheck.{name}")
    raise AttributeError(f"module 'fieldcheck' has no attribute '{name}'")
