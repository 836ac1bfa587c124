"""Questions about regions of a space: text to tree, tree to the tests that it selects. Nothing is run as code."""

from __future__ import annotations

from fieldcheck.tomography.query.parse import LONGEST, parse
from fieldcheck.tomography.query.region import Query

__all__ = ["LONGEST", "Query", "parse"]
