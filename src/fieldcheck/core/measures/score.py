"""How good outputs are, as people or a judge score them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import LabelError
from fieldcheck.core.types import BoolArray, FloatArray


@dataclass(frozen=True)
class MeanScore:
    """Scores from 0 to 1; what is missing to 1 is the loss.

    enough
        Outputs with a lower score are failures.
    """

    name: ClassVar[str] = "score"
    raw: ClassVar[bool] = False

    enough: float = 0.5

    scales = ("score",)
    range = (0.0, 1.0)

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        """Of the scores; what the outputs were does not matter."""
        scores = np.asarray(truths, dtype=np.float64)
        if outside := scores[(scores < 0) | (scores > 1)].tolist():
            raise LabelError(f"a score of {outside[0]:g}", rule="scores lie between 0 and 1", hint="divide by the best")
        return 1.0 - scores

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 1.0 - self.enough
