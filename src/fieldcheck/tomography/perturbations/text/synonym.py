"""Other words for the same thing."""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import ClassVar

from fieldcheck.tomography.perturbations.text.base import Span, TextPerturbation, like, pick, words


@dataclass(frozen=True)
class Synonym(TextPerturbation):
    """A word replaced by another of the same meaning, from WordNet: one replacement a word.

    The table holds single English words that are nearly always one part of speech and mostly one meaning, with words
    of which that meaning is the first, in the same form (plural, -s, -ed, -ing), and which take the same article.
    Function words and names are left alone. Which sense a word has in the sentence is not looked at.
    """

    name: ClassVar[str] = "synonym"
    title: ClassVar[str] = "Words replaced by synonyms"
    paper: ClassVar[str] = "Miller, WordNet, 1995; Ren et al., ACL 2019"

    def places(self, text: str) -> list[Span]:
        table = synonyms()
        return [span for span in words(text) if text[span.start : span.stop].lower() in table]

    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        return like(piece, pick(chances[0], synonyms()[piece.lower()]))


@cache
def synonyms() -> dict[str, list[str]]:
    """Words of the same meaning by word, in small letters; made by ``benchmarks/synonym_table.py``."""
    packed = files("fieldcheck.tomography.perturbations.text").joinpath("synonyms.txt.xz").read_bytes()
    lines = (line.split() for line in lzma.decompress(packed).decode("ascii").splitlines())
    return {word: others for word, *others in lines}
