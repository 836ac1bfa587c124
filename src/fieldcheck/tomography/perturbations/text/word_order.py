"""Neighbouring words exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from fieldcheck.tomography.perturbations.text.base import WORD, Span, TextPerturbation, words


@dataclass(frozen=True)
class WordOrder(TextPerturbation):
    """Two neighbouring, different words exchanged; no word moves twice. Marks and spaces between them stay."""

    name: ClassVar[str] = "word-order"
    title: ClassVar[str] = "Neighbouring words exchanged"
    paper: ClassVar[str] = "Wang et al., TextFlint, ACL 2021"

    def places(self, text: str) -> list[Span]:
        """As many pairs as possible that do not overlap, from the left."""
        return _apart(_pairs(text))

    def choose(self, text: str, firsts: Sequence[float]) -> list[Span]:
        """Any pair first, then any that is apart from those chosen; if that leaves too few, some of ``places``."""
        left, chosen = _pairs(text), list[Span]()
        for first in firsts:
            if left:
                chosen.append(left[int(first * len(left))])
                left = [pair for pair in left if not _overlap(pair, chosen[-1])]
        most = super().choose(text, firsts)
        return chosen if len(chosen) == len(most) else most

    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        first, second = (found.span() for found in WORD.finditer(piece))
        return piece[slice(*second)] + piece[first[1] : second[0]] + piece[slice(*first)]


def _pairs(text: str) -> list[Span]:
    """Every two neighbouring words that differ, overlapping."""
    pairs = pairwise(words(text))
    return [Span(a.start, b.stop) for a, b in pairs if text[a.start : a.stop] != text[b.start : b.stop]]


def _apart(pairs: list[Span]) -> list[Span]:
    """The largest choice of pairs that do not overlap: on a line, taking the first possible one is best."""
    chosen = list[Span]()
    for pair in pairs:
        if not chosen or pair.start >= chosen[-1].stop:
            chosen.append(pair)
    return chosen


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.stop and other.start < one.stop
