"""Whether a text that a model wrote is near enough to another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.measures.likeness import SCORES
from fieldcheck.core.types import BoolArray, FloatArray

Score = Literal["word-f1", "bleu", "code-bleu"]


@dataclass(frozen=True)
class Generation:
    """The loss is what a score of likeness lacks to 1; a text with less than ``least`` is a failure.

    score
        ``word-f1``: words in common, in any order; ``bleu``: n-grams in common; ``code-bleu``: the same for programs,
        with key words and, for Python, the syntax tree.
    """

    name: ClassVar[str] = "generation"
    raw: ClassVar[bool] = True

    score: Score = "word-f1"
    least: float = 0.8

    def __post_init__(self) -> None:
        if self.score not in SCORES:
            raise FieldcheckError(f"no score '{self.score}'", rule=", ".join(SCORES))
        if not 0 < self.least <= 1:
            raise FieldcheckError(f"a score of {self.least}", rule="above 0, up to 1")

    scales = ("accuracy",)
    range = (0.0, 1.0)

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        like = SCORES[self.score]
        return np.array([1.0 - like(str(said), str(true)) for said, true in zip(outputs, truths, strict=True)])

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 1.0 - self.least + 1e-9
