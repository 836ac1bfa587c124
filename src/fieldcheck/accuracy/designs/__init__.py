"""The techniques, one a file. A new one is a file here and a line in the registry below; see ``core.design.Design``."""

from __future__ import annotations

from fieldcheck.accuracy.designs.base import Design
from fieldcheck.accuracy.designs.ces import Ces
from fieldcheck.accuracy.designs.css import Css
from fieldcheck.accuracy.designs.deepest import DeepEst
from fieldcheck.accuracy.designs.gbs import Gbs
from fieldcheck.accuracy.designs.rhc import Rhc
from fieldcheck.accuracy.designs.srs import Srs
from fieldcheck.accuracy.designs.ssrs import Ssrs
from fieldcheck.accuracy.designs.sups import Sups
from fieldcheck.accuracy.designs.two_ups import TwoUps
from fieldcheck.accuracy.designs.waves import Waves
from fieldcheck.core.registry import Registry

__all__ = ["Ces", "Css", "DeepEst", "Gbs", "Rhc", "Srs", "Ssrs", "Sups", "TwoUps", "Waves", "reference", "registry"]

registry: Registry[Design] = Registry(
    "design", "fieldcheck.designs", Waves, Srs, Css, Sups, Rhc, Ssrs, Gbs, TwoUps, Ces, DeepEst
)

reference: type[Design] = Srs
"""The technique that the others are measured against."""
