"""The techniques, one a file. A new one is a file here and a line in the registry below; see ``core.design.Design``."""

from __future__ import annotations

from fieldcheck.core.design import Design
from fieldcheck.core.registry import Registry
from fieldcheck.designs.ces import Ces
from fieldcheck.designs.css import Css
from fieldcheck.designs.deepest import DeepEst
from fieldcheck.designs.gbs import Gbs
from fieldcheck.designs.rhc import Rhc
from fieldcheck.designs.srs import Srs
from fieldcheck.designs.ssrs import Ssrs
from fieldcheck.designs.sups import Sups
from fieldcheck.designs.two_ups import TwoUps
from fieldcheck.designs.waves import Waves

__all__ = ["Ces", "Css", "DeepEst", "Gbs", "Rhc", "Srs", "Ssrs", "Sups", "TwoUps", "Waves", "registry"]

registry: Registry[Design] = Registry(
    "design", "fieldcheck.designs", Waves, Srs, Css, Sups, Rhc, Ssrs, Gbs, TwoUps, Ces, DeepEst
)
