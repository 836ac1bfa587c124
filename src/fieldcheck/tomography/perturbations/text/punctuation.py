"""Marks too many and too few."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.perturbations.text.base import Span, TextPerturbation, pick

_MARKS = ",.;:!?"


_PLACE = re.compile(rf"[^\s{_MARKS}][{_MARKS}]?(?=[{_MARKS}]*(?:\s|\Z))")


@dataclass(frozen=True)
class Punctuation(TextPerturbation):
    """A mark after a word left out or doubled where there is one, inserted where there is none: one edit a word.

    Marks are , . ; : ! ?; a place is the end of anything between two spaces that does not consist of marks alone.
    """

    name: ClassVar[str] = "punctuation"
    title: ClassVar[str] = "Marks inserted, left out, doubled"
    paper: ClassVar[str] = "Ribeiro et al., CheckList, ACL 2020; Wang et al., TextFlint, ACL 2021"

    def places(self, text: str) -> list[Span]:
        return [Span(*found.span()) for found in _PLACE.finditer(text)]

    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        if len(piece) == 1:
            return piece + pick(chances[0], _MARKS)
        return piece[0] if chances[0] < 0.5 else piece + piece[1]
