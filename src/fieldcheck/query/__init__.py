"""Questions about regions of a space: text to tree, tree to the tests that it selects. Nothing is run as code."""

from fieldcheck.query.parse import LONGEST, parse
from fieldcheck.query.region import Query

__all__ = ["LONGEST", "Query", "parse"]
