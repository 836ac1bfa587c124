"""How accurate is a trained model in operation, and where does it break?

>>> import fieldcheck as fc
>>> pool = fc.load("pool.csv")                                                      # doctest: +SKIP
>>> print(fc.simulate(pool, fc.designs.Ssrs("confidence"), budget=200, seed=1))     # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from fieldcheck import tomography
    from fieldcheck.accuracy import designs, estimators, predict
    from fieldcheck.accuracy.assessment.estimate import estimate
    from fieldcheck.accuracy.assessment.sampling import choose as sample
    from fieldcheck.accuracy.comparison.planning import plan
    from fieldcheck.accuracy.comparison.simulate import simulate
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
    "designs",
    "estimate",
    "estimators",
    "from_arrays",
    "load",
    "plan",
    "predict",
    "sample",
    "save",
    "simulate",
    "tomography",
]


_ERRORS = "fieldcheck.core.errors"


_HOME = {
    "BudgetError": _ERRORS,
    "Campaign": "fieldcheck.campaign.campaign",
    "Design": "fieldcheck.accuracy.designs.base",
    "DesignError": _ERRORS,
    "Estimate": "fieldcheck.core.estimate",
    "FieldcheckError": _ERRORS,
    "LabelError": _ERRORS,
    "Labelled": "fieldcheck.core.sample",
    "Pool": "fieldcheck.core.pool.pool",
    "PoolError": _ERRORS,
    "Sample": "fieldcheck.core.sample",
    "SampleError": _ERRORS,
    "designs": "fieldcheck.accuracy",
    "estimate": "fieldcheck.accuracy.assessment.estimate",
    "estimators": "fieldcheck.accuracy",
    "from_arrays": "fieldcheck.sources.pools.arrays",
    "load": "fieldcheck.sources",
    "plan": "fieldcheck.accuracy.comparison.planning",
    "predict": "fieldcheck.accuracy",
    "sample": "fieldcheck.accuracy.assessment.sampling",
    "save": "fieldcheck.sources",
    "simulate": "fieldcheck.accuracy.comparison.simulate",
    "tomography": "fieldcheck",
}
"""Where each name is from: it is loaded when it is first asked for, so that the command line starts at once."""


_THERE = {"sample": "choose"}
"""Names that are others where they are from."""


def __getattr__(name: str) -> _Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fieldcheck' has no attribute '{name}'")
    if name in ("designs", "estimators", "predict", "tomography"):
        found: _Any = _import_module(f"{_HOME[name]}.{name}")
    else:
        found = getattr(_import_module(_HOME[name]), _THERE.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
