"""Short forms written out, and full forms shortened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

from fieldcheck.core.errors import SpaceError
from fieldcheck.tomography.perturbations.text.base import Span, TextPerturbation, like

Direction = Literal["both", "expand", "contract"]


_NOT = (
    *("is", "are", "was", "were", "do", "does", "did", "has", "have", "had"),
    *("could", "should", "would", "must", "need", "might"),
)


_PRONOUNS: dict[str, tuple[str, ...]] = {
    "am": ("i",),
    "is": ("he", "she", "it", "that", "there", "here", "what", "who", "where", "how"),
    "are": ("you", "we", "they"),
    "have": ("i", "you", "we", "they"),
    "will": ("i", "you", "he", "she", "it", "we", "they", "that", "there"),
    "would": ("i", "you", "he", "she", "we", "they"),
}


_ENDINGS = {"am": "'m", "is": "'s", "are": "'re", "have": "'ve", "will": "'ll", "would": "'d"}


@dataclass(frozen=True)
class Contraction(TextPerturbation):
    """``do not`` becomes ``don't``, ``it's`` becomes ``it is``, and so on: each form found is a place.

    ``'s`` is written out as ``is``, which is right after most pronouns and wrong before a participle (it's been);
    ``'d`` is only made, never written out, since it may be ``had``. A pronoun and its verb are only shortened when a
    word follows.

    direction
        ``both``, or only ``expand`` (don't to do not), or only ``contract``.
    """

    name: ClassVar[str] = "contraction"
    title: ClassVar[str] = "Short forms written out, full forms shortened"
    paper: ClassVar[str] = "Ribeiro et al., CheckList, ACL 2020; Morris et al., TextAttack, EMNLP 2020"

    direction: Direction = "both"

    def __post_init__(self) -> None:
        if self.direction not in ("both", "expand", "contract"):
            raise SpaceError(f"contraction: direction is '{self.direction}'", rule="both, expand or contract")

    def places(self, text: str) -> list[Span]:
        return [Span(*found.span()) for found in _pattern(self.direction).finditer(text)]

    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        plain = " ".join(piece.lower().replace("’", "'").split())
        full = _contractions().get(plain)
        return _cased(piece, full if full is not None else _expansions()[plain])


@cache
def _contractions() -> dict[str, str]:
    """Short forms by full forms, in small letters."""
    negated = {f"{verb} not": f"{verb}n't" for verb in _NOT}
    irregular = {"cannot": "can't", "can not": "can't", "will not": "won't", "let us": "let's"}
    return negated | irregular | _with_pronouns()


def _with_pronouns() -> dict[str, str]:
    return {f"{who} {verb}": who + _ENDINGS[verb] for verb, pronouns in _PRONOUNS.items() for who in pronouns}


@cache
def _expansions() -> dict[str, str]:
    """Full forms by short forms; ``can't`` becomes ``cannot``, forms with 'd are left out."""
    pairs = {short: full for full, short in _contractions().items() if not short.endswith("'d")}
    return {**pairs, "can't": "cannot"}


@cache
def _pattern(direction: Direction) -> re.Pattern[str]:
    """What can be rewritten; longer forms are tried first."""
    forms = list[str]()
    if direction != "contract":
        forms += [re.escape(short).replace("'", "['’]") for short in _expansions()]
    if direction != "expand":
        pronouns = _with_pronouns()
        forms += [full.replace(" ", r"\s+") + (r"(?=\s+\w)" if full in pronouns else "") for full in _contractions()]
    forms.sort(key=len, reverse=True)
    # a: without it, i would also find the dotless and the dotted capital one of Turkish
    return re.compile(rf"(?<![\w'’])(?ai:{'|'.join(forms)})(?![\w'’])")


def _cased(piece: str, text: str) -> str:
    """In the case of what it replaces; the pronoun I stays a capital."""
    return re.sub(r"\bi\b", "I", text.upper() if piece.isupper() else like(piece[0], text))
