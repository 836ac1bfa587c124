"""What the text perturbations share: places where an edit can be made, some of them chosen, each rewritten."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.base import check_severity

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""Letters of any script, with apostrophes inside."""


_USED = 4
"""Random numbers that an edit may use: the first chooses the place, the rest are for the rewriting."""


class Span(NamedTuple):
    """A place in a text: characters from ``start`` up to ``stop``."""

    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Edited:
    """Perturbed texts.

    texts
        One per item.
    edits
        One per item: how many edits were made. Less than the severity where the text has fewer places for them.
    """

    texts: list[str]
    edits: IntArray


class TextPerturbation(ABC):
    """A text perturbation whose severity is the number of edits, each at its own place.

    A text with fewer places than the severity asks for gets one edit at each place; ``edit`` says how many were made.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[Kind] = "text"
    random: ClassVar[bool] = True
    still: ClassVar[bool] = True
    levels: ClassVar[int] = 20

    @abstractmethod
    def places(self, text: str) -> list[Span]:
        """Where an edit can be made, from left to right, none over another."""

    @abstractmethod
    def rewrite(self, piece: str, chances: Sequence[float]) -> str:
        """What is written at a place instead of ``piece``, never the same; ``chances``: three numbers in [0, 1)."""

    def apply(self, batch: Sequence[str], severity: IntArray, draws: ItemStreams) -> list[str]:
        """Perturb a batch of texts; see ``core.perturbation.Perturbation``."""
        return self.edit(batch, severity, draws).texts

    def edit(self, batch: Sequence[str], severity: IntArray, draws: ItemStreams) -> Edited:
        """The perturbed texts and how many edits each of them got."""
        levels = check_severity(self, severity, len(batch))
        most = int(levels.max(initial=0))
        chances = draws.uniforms(_USED * most).reshape(len(batch), most, _USED).tolist()
        done = [
            self._edit_one(_as_text(text), chances[at][:level])
            for at, (text, level) in enumerate(zip(batch, levels.tolist(), strict=True))
        ]
        return Edited([text for text, _ in done], np.array([count for _, count in done], dtype=np.int64))

    def choose(self, text: str, firsts: Sequence[float]) -> list[Span]:
        """At most as many of the places as there are numbers in ``firsts``, equally likely, no place twice."""
        left = self.places(text)
        return [left.pop(int(first * len(left))) for first in firsts[: len(left)]]

    def _edit_one(self, text: str, chances: list[list[float]]) -> tuple[str, int]:
        chosen = self.choose(text, [edit[0] for edit in chances])
        for span, edit in sorted(zip(chosen, chances, strict=False), reverse=True):
            text = text[: span.start] + self.rewrite(text[span.start : span.stop], edit[1:]) + text[span.stop :]
        return text, len(chosen)


def words(text: str) -> list[Span]:
    """The words of a text."""
    return [Span(*found.span()) for found in WORD.finditer(text)]


def pick(chance: float, among: Sequence[str]) -> str:
    """One of ``among``, equally likely when ``chance`` is uniform in [0, 1)."""
    return among[int(chance * len(among))]


def like(model: str, text: str) -> str:
    """``text`` in the case of ``model``: all capitals, a capital first, or as it is."""
    if len(model) > 1 and model.isupper():
        return text.upper()
    return text[:1].upper() + text[1:] if model[:1].isupper() else text


def _as_text(text: str) -> str:
    if not isinstance(text, str):
        raise InputsError(f"a text of type {type(text).__name__}", rule="texts are strings")
    return text
