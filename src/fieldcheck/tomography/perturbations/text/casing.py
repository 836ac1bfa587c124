"""Capitals where there were none, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.perturbations.text.base import Span, TextPerturbation, pick, words


@dataclass(frozen=True)
class Casing(TextPerturbation):
    """A word in capitals, in small letters, or with its first letter the other way round: one change a word."""

    name: ClassVar[str] = "casing"
    title: ClassVar[str] = "Capital and small letters changed"
    paper: ClassVar[str] = "Wang et al., TextFlint, ACL 2021"

    def places(self, text: str) -> list[Span]:
        return [span for span in words(text) if _others(text[span.start : span.stop])]

    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        return pick(chances[0], _others(piece))


def _others(word: str) -> list[str]:
    """The word in every other case, each once."""
    cases = (word.upper(), word.lower(), word[0].swapcase() + word[1:])
    return [case for case in dict.fromkeys(cases) if case != word]
