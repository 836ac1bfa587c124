"""How accurate is a trained model in operation? Unbiased estimates with intervals that hold, from few labels.

>>> import fieldcheck as fc
>>> pool = fc.load("pool.csv")                                                      # doctest: +SKIP
>>> print(fc.assess(pool, fc.designs.Ssrs("confidence"), budget=200, seed=1))       # doctest: +SKIP
"""

from __future__ import annotations

from fieldcheck import designs, estimators
from fieldcheck.campaign import Sheet, assess, compare, estimate, plan, reuse
from fieldcheck.campaign import choose as sample
from fieldcheck.core.design import Design
from fieldcheck.core.errors import (
    BudgetError,
    DesignError,
    FieldcheckError,
    LabelError,
    PoolError,
    SampleError,
)
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.estimator import Estimator
from fieldcheck.core.frame import Frame
from fieldcheck.core.interval import Interval
from fieldcheck.core.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.sources import load, save

__all__ = [
    "BudgetError",
    "Design",
    "DesignError",
    "Estimate",
    "Estimator",
    "FieldcheckError",
    "Frame",
    "Interval",
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
    "reuse",
    "sample",
    "save",
]
