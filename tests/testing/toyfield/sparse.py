"""A plan."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.plans import Spread


@dataclass(frozen=True)
class Sparse(Spread):
    """Spread, and little of it."""

    name: ClassVar[str] = "sparse"
    title: ClassVar[str] = "A little of everything"
    usual: ClassVar[int] = 500
