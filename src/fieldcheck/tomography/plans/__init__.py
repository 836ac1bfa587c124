"""Which tests to run on which inputs, one plan a file. A new one is a file here and a line in the registry below."""

from __future__ import annotations

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.registry import Registry
from fieldcheck.tomography.plans.base import Plan
from fieldcheck.tomography.plans.full import Full
from fieldcheck.tomography.plans.ordered import Ordered
from fieldcheck.tomography.plans.pairs import Pairs
from fieldcheck.tomography.plans.random import Random
from fieldcheck.tomography.plans.spread import Spread

__all__ = ["Full", "Ordered", "Pairs", "Random", "Spread", "registry"]

registry: Registry[Plan] = Registry(
    "plan",
    "fieldcheck.plans",
    Spread,
    Pairs,
    Full,
    Ordered,
    Random,
    error=SpaceError,
    hint="fieldcheck tomography list plans",
)
