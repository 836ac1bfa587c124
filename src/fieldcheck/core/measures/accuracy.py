"""Whether the true class is what the model said, or among what it said first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.label import plain
from fieldcheck.core.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Accuracy:
    """Loss 1 where the true class is not the one that was said, or not among the ``top`` most probable."""

    name: ClassVar[str] = "accuracy"
    raw: ClassVar[bool] = False

    top: int = 1

    def __post_init__(self) -> None:
        if self.top < 1:
            raise FieldcheckError(f"the {self.top} most probable classes", rule="1 or more")

    scales = ("accuracy",)
    range = (0.0, 1.0)

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        """From classes (names or codes) or, one column per class, probabilities; truths are named alike, or codes."""
        said, true = np.asarray(outputs), np.asarray(truths)
        if said.ndim == 2:
            return 1.0 - self._among_first(said, true)
        if said.dtype.kind in "USO" or true.dtype.kind in "USO":
            return np.array([float(plain(str(a)) != plain(str(b))) for a, b in zip(said, true, strict=True)])
        return np.asarray(said != true, dtype=np.float64)

    def _among_first(self, probabilities: FloatArray, codes: Any) -> FloatArray:
        if self.top == 1:
            return np.asarray(probabilities.argmax(axis=1) == codes, dtype=np.float64)
        first = np.argsort(-probabilities, axis=1, kind="stable")[:, : self.top]
        return np.asarray((first == codes[:, None]).any(axis=1), dtype=np.float64)

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 0.5
