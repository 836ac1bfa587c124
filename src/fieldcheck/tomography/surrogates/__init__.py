"""Ways to predict the tests that were not run. A new one is a file here and a line in the registry below."""

from __future__ import annotations

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.registry import Registry
from fieldcheck.tomography.surrogates.auto import Auto
from fieldcheck.tomography.surrogates.base import Surrogate
from fieldcheck.tomography.surrogates.boosting import Boosting
from fieldcheck.tomography.surrogates.closure import Closure
from fieldcheck.tomography.surrogates.forest import Forest
from fieldcheck.tomography.surrogates.gp import Gp
from fieldcheck.tomography.surrogates.independence import Independence
from fieldcheck.tomography.surrogates.intervals import anytime_interval, measured_interval
from fieldcheck.tomography.surrogates.logistic import Logistic
from fieldcheck.tomography.surrogates.mlp import Mlp

__all__ = [
    "Auto",
    "Boosting",
    "Closure",
    "Forest",
    "Gp",
    "Independence",
    "Logistic",
    "Mlp",
    "anytime_interval",
    "measured_interval",
    "registry",
]


registry: Registry[Surrogate] = Registry(
    "surrogate", "fieldcheck.surrogates", Auto, Logistic, Gp, Boosting, Closure, Independence, Mlp, Forest,
    error=SpaceError, hint="fieldcheck tomography list surrogates",
)  # fmt: skip
