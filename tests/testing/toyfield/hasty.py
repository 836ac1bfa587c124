"""A stopping rule."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.runs.stopping import NarrowInterval


@dataclass(frozen=True)
class Hasty(NarrowInterval):
    """Half of the inputs that others wait for."""

    name: ClassVar[str] = "hasty"
    title: ClassVar[str] = "Half-width, sooner"
    least: int = 20
    batch: int = 10
