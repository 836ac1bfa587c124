"""A measure."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.measures import Accuracy


@dataclass(frozen=True)
class Half(Accuracy):
    """A wrong class costs a half."""

    name: ClassVar[str] = "half"
    scales = ("cost",)

    def losses(self, outputs, truths):
        return super().losses(outputs, truths) / 2

    def failed(self, losses):
        return losses > 0
