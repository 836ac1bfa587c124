"""BLEU: how many n-grams of a text are also in another."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.core.inputs import Kind
from fieldcheck.core.measures import likeness
from fieldcheck.tomography.quality.base import Needs, QualityScore


class Bleu(QualityScore):
    """BLEU of all texts together, against themselves clean."""

    name: ClassVar[str] = "bleu"
    title: ClassVar[str] = "BLEU of all texts"
    paper: ClassVar[str] = "Papineni et al., ACL 2002"
    needs: ClassVar[Needs] = "inputs"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"text"})

    def score(self, clean: list[str], perturbed: list[str]) -> float:
        return likeness.corpus_bleu(perturbed, clean)


class SentenceBleu(QualityScore):
    """Mean BLEU of texts one by one, against themselves clean."""

    name: ClassVar[str] = "sentence-bleu"
    title: ClassVar[str] = "BLEU text by text"
    paper: ClassVar[str] = "Papineni et al., ACL 2002"
    needs: ClassVar[Needs] = "inputs"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"text"})

    def score(self, clean: list[str], perturbed: list[str]) -> float:
        return float(np.mean([likeness.sentence_bleu(one, other) for one, other in zip(perturbed, clean, strict=True)]))
