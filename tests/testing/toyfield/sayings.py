"""A source of inputs: a text a line, its class before a colon."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.sources.inputs.base import BySuffix
from fieldcheck.sources.inputs.objects import from_texts


@dataclass(frozen=True)
class Sayings(BySuffix):
    """Texts with their classes."""

    name: ClassVar[str] = "sayings"
    suffixes: ClassVar[tuple] = (".say",)

    def open(self, path, wanted):
        rows = [line.partition(": ") for line in path.read_text("utf-8").splitlines()]
        texts = from_texts([text for _, _, text in rows], wanted, name=path.stem)
        return replace(texts, labels=np.array([kind for kind, _, _ in rows]), classes=("bad", "good"))
