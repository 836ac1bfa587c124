"""BLEU: how many n-grams of a text are also in another."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.inputs import Kind
from fieldcheck.tomography.quality.base import Needs, QualityScore

ORDERS = 4
"""N-grams of one word up to so many count."""


EPSILON = 0.1


Smoothing = Literal["none", "epsilon", "add-one", "halving"]


Counts = Sequence[tuple[int, int]]
"""Per order of n-grams: how many of the candidate's match, of how many."""


_TOKEN = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Words and punctuation marks, case kept."""
    return _TOKEN.findall(text)


def sentence_bleu(candidate: str, reference: str, *, smoothing: Smoothing = "halving") -> float:
    """BLEU of one text against one other, in [0, 1]; 1 for the same words in the same order.

    A single sentence often shares no n-gram of four words, which would make the score 0. Chen and Cherry, A systematic
    comparison of smoothing techniques for sentence-level BLEU, WMT 2014: ``epsilon`` counts 0 matches as 0.1 (their
    technique 1), ``add-one`` adds one to matches and total from two words on (2), ``halving`` counts the first order
    without a match as 1/2, the next one as 1/4, ... (3). Orders for which the candidate is too short are left out.
    """
    return corpus_bleu([candidate], [reference], smoothing=smoothing)


def corpus_bleu(candidates: Sequence[str], references: Sequence[str], *, smoothing: Smoothing = "none") -> float:
    """BLEU of many texts, each against its own reference: matches are added up before they are divided.

    Papineni et al., BLEU: a method for automatic evaluation of machine translation, ACL 2002.
    """
    pairs = [(words(one), words(other)) for one, other in zip(candidates, references, strict=True)]
    length, expected = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    if not length or not expected:
        return float(length == expected)
    counts = [_matches(pairs, order) for order in range(1, ORDERS + 1)]
    precisions = _SMOOTHINGS[smoothing]([count for count in counts if count[1]])
    if not all(precisions):
        return 0.0
    brevity = min(0.0, 1 - expected / length)
    return math.exp(brevity + sum(map(math.log, precisions)) / len(precisions))


def _matches(pairs: Sequence[tuple[list[str], list[str]]], order: int) -> tuple[int, int]:
    """N-grams of the candidates that are in their references, at most as often as there; and all of them."""
    found = total = 0
    for candidate, reference in pairs:
        grams = _grams(candidate, order)
        found += (grams & _grams(reference, order)).total()
        total += grams.total()
    return found, total


def _grams(tokens: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[at:] for at in range(order)), strict=False))


def _none(counts: Counts) -> list[float]:
    return [found / total for found, total in counts]


def _epsilon(counts: Counts) -> list[float]:
    return [(found or EPSILON) / total for found, total in counts]


def _add_one(counts: Counts) -> list[float]:
    return [(found + (at > 0)) / (total + (at > 0)) for at, (found, total) in enumerate(counts)]


def _halving(counts: Counts) -> list[float]:
    precisions, value = [], 1.0
    for found, total in counts:
        value = value if found else value / 2
        precisions.append((found or value) / total)
    return precisions


_SMOOTHINGS: dict[Smoothing, Callable[[Counts], list[float]]] = {
    "none": _none,
    "epsilon": _epsilon,
    "add-one": _add_one,
    "halving": _halving,
}


class Bleu(QualityScore):
    """BLEU of all texts together, against themselves clean."""

    name: ClassVar[str] = "bleu"
    title: ClassVar[str] = "BLEU of all texts"
    paper: ClassVar[str] = "Papineni et al., ACL 2002"
    needs: ClassVar[Needs] = "inputs"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"text"})

    def score(self, clean: list[str], perturbed: list[str]) -> float:
        return corpus_bleu(perturbed, clean)


class SentenceBleu(QualityScore):
    """Mean BLEU of texts one by one, against themselves clean."""

    name: ClassVar[str] = "sentence-bleu"
    title: ClassVar[str] = "BLEU text by text"
    paper: ClassVar[str] = "Papineni et al., ACL 2002"
    needs: ClassVar[Needs] = "inputs"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"text"})

    def score(self, clean: list[str], perturbed: list[str]) -> float:
        return float(np.mean([sentence_bleu(one, other) for one, other in zip(perturbed, clean, strict=True)]))
