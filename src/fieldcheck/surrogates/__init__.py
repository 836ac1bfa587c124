"""Ways to predict the tests that were not run. A new one is a file here and a line in the registry below."""

from __future__ import annotations

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.registry import Registry
from fieldcheck.core.surrogate import Surrogate
from fieldcheck.surrogates.auto import Auto
from fieldcheck.surrogates.boosting import Boosting
from fieldcheck.surrogates.closure import Closure
from fieldcheck.surrogates.forest import Forest
from fieldcheck.surrogates.gp import Gp
from fieldcheck.surrogates.independence import Independence
from fieldcheck.surrogates.kept import fitted
from fieldcheck.surrogates.logistic import Logistic
from fieldcheck.surrogates.measured import anytime_interval, measured_interval
from fieldcheck.surrogates.mlp import Mlp

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
    "fitted",
    "measured_interval",
    "registry",
]

registry: Registry[Surrogate] = Registry(
    "surrogate", "fieldcheck.surrogates", Auto, Logistic, Gp, Boosting, Closure, Independence, Mlp, Forest,
    error=SpaceError, hint="fieldcheck tomography list surrogates",
)  # fmt: skip
