"""A model adapter: a file of words that are good."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from fieldcheck.models.shared.adapter import Adapter


@dataclass(eq=False, kw_only=True)
class WordList(Adapter):
    """A text is as good as the share of its words in the list."""

    name: ClassVar[str] = "words"
    opens: ClassVar[tuple] = (".words (a list of words)",)
    good: frozenset

    @classmethod
    def accepts(cls, model):
        return isinstance(model, Path) and model.suffix == ".words"

    @classmethod
    def open(cls, model, asked):
        words = frozenset(model.read_text("utf-8").split())
        return cls(good=words, classes=("bad", "good")).settled(asked)

    def run(self, batch, layers):
        shares = np.array([np.mean([word in self.good for word in text.split()] or [0.5]) for text in batch])
        shares = 0.05 + 0.9 * shares
        return np.column_stack([1 - shares, shares]), {}
