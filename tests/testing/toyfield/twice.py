"""A surrogate."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.surrogates import Closure


@dataclass(frozen=True)
class Twice(Closure):
    """Closure, once more."""

    name: ClassVar[str] = "twice"
    title: ClassVar[str] = "Closure of a toy"
