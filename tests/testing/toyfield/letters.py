"""A quality score."""

from typing import ClassVar

import numpy as np

from fieldcheck.tomography.quality.base import QualityScore


class Letters(QualityScore):
    """How many letters of a text are where they were."""

    name: ClassVar[str] = "letters"
    title: ClassVar[str] = "Letters in their place"
    paper: ClassVar[str] = "a toy"
    needs: ClassVar[str] = "inputs"
    kinds: ClassVar[frozenset] = frozenset({"text"})

    def score(self, clean, perturbed):
        pairs = (zip(one, other, strict=False) for one, other in zip(clean, perturbed, strict=True))
        kept = [np.mean([before == after for before, after in letters] or [True]) for letters in pairs]
        return float(np.mean(kept))
