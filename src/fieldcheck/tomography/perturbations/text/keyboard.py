"""Fingers on the neighbouring key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.perturbations.text.base import Span, TextPerturbation, like, pick, words

_NEIGHBOURS = {
    "q": "wa", "w": "qeas", "e": "wrsd", "r": "etdf", "t": "ryfg", "y": "tugh", "u": "yihj", "i": "uojk", "o": "ipkl",
    "p": "ol", "a": "qwsz", "s": "awedzx", "d": "serfxc", "f": "drtgcv", "g": "ftyhvb", "h": "gyujbn", "j": "huiknm",
    "k": "jiolm", "l": "kop", "z": "asx", "x": "zsdc", "c": "xdfv", "v": "cfgb", "b": "vghn", "n": "bhjm", "m": "njk",
}  # fmt: skip


@dataclass(frozen=True)
class Keyboard(TextPerturbation):
    """One letter of a word replaced by one that lies next to it on an English (QWERTY) keyboard: one a word.

    Words of three characters and more with a Latin letter after the first character, which stays.
    """

    name: ClassVar[str] = "keyboard"
    title: ClassVar[str] = "Letters replaced by neighbours on the keyboard"
    paper: ClassVar[str] = "Belinkov and Bisk, ICLR 2018"

    def places(self, text: str) -> list[Span]:
        return [span for span in words(text) if span.stop - span.start >= 3 and _keys(text[span.start : span.stop])]

    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        keys = _keys(piece)
        at = keys[int(chances[0] * len(keys))]
        return piece[:at] + like(piece[at], pick(chances[1], _NEIGHBOURS[piece[at].lower()])) + piece[at + 1 :]


def _keys(word: str) -> list[int]:
    """Places after the first whose letter is on the keyboard."""
    return [at for at, letter in enumerate(word) if at and letter.lower() in _NEIGHBOURS]
