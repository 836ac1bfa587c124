"""How well the words of two texts match in meaning, whatever the features of words are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.core.inputs import Kind
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.quality.base import Needs, QualityScore


def token_f1(candidate: FloatArray, reference: FloatArray) -> float:
    """F1 of greedy matching: each token is compared with the most similar one of the other text.

    Zhang et al., BERTScore: evaluating text generation with BERT, ICLR 2020, without weights of rarity and without
    rescaling. The scale depends on the features: only scores with the same features can be compared.

    candidate, reference
        Features of the tokens of a text, one row each, of length 1. A text without tokens matches only another one.
    """
    if not len(candidate) or not len(reference):
        return float(len(candidate) == len(reference))
    similarity = candidate @ reference.T
    precision, recall = float(similarity.max(axis=1).mean()), float(similarity.max(axis=0).mean())
    if precision <= 0 or recall <= 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def unit(rows: FloatArray) -> FloatArray:
    """Rows scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float64)


class TokenF1(QualityScore):
    """Mean ``token_f1`` of texts and themselves, perturbed."""

    name: ClassVar[str] = "token-f1"
    title: ClassVar[str] = "F1 of matched tokens"
    paper: ClassVar[str] = "Zhang et al., BERTScore, ICLR 2020"
    needs: ClassVar[Needs] = "tokens"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"text"})
    usual: ClassVar[frozenset[Kind]] = frozenset({"text"})

    def score(self, clean: list[FloatArray], perturbed: list[FloatArray]) -> float:
        return float(np.mean([token_f1(one, other) for one, other in zip(perturbed, clean, strict=True)]))
