"""Slips of the pen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import ClassVar

from fieldcheck.tomography.perturbations.text.base import Span, TextPerturbation, like, pick, words


@dataclass(frozen=True)
class Typos(TextPerturbation):
    """One character of a word inserted, left out, replaced, or exchanged with the next: one typo a word.

    Words of three letters and more; the first letter stays. New characters are Latin letters in words of plain Latin
    letters, and letters of the word itself in others.
    """

    name: ClassVar[str] = "typos"
    title: ClassVar[str] = "Letters inserted, left out, replaced, exchanged"
    paper: ClassVar[str] = "Pruthi, Dhingra and Lipton, ACL 2019; Morris et al., TextAttack, EMNLP 2020"

    def places(self, text: str) -> list[Span]:
        return [span for span in words(text) if span.stop - span.start >= 3]

    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        kind, place, letter = chances
        at = 1 + int(place * (len(piece) - 1))
        edits = (_insert, _delete, _replace, _exchange)
        return edits[int(kind * len(edits))](piece, at, letter)


def _insert(word: str, at: int, chance: float) -> str:
    return word[:at] + like(word[at], pick(chance, _letters(word))) + word[at:]


def _delete(word: str, at: int, chance: float) -> str:
    return word[:at] + word[at + 1 :]


def _replace(word: str, at: int, chance: float) -> str:
    others = [letter for letter in _letters(word) if letter.lower() != word[at].lower()]
    if not others:
        return _delete(word, at, chance)
    return word[:at] + like(word[at], pick(chance, others)) + word[at + 1 :]


def _exchange(word: str, at: int, chance: float) -> str:
    unequal = [place for place in range(1, len(word) - 1) if word[place] != word[place + 1]]
    if not unequal:
        return _delete(word, at, chance)
    first = unequal[int(chance * len(unequal))]
    return word[:first] + word[first + 1] + word[first] + word[first + 2 :]


def _letters(word: str) -> Sequence[str]:
    return ascii_lowercase if word.isascii() else [letter for letter in word if letter.isalpha()]
