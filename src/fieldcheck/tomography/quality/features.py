"""What scores of quality look at: features of whole inputs, and features of the tokens of texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck import models
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.measures import likeness
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.quality.token_f1 import unit
from fieldcheck.tomography.setup.executor import Executor

View = Callable[[Any], Any]
"""From a batch of inputs to what a score looks at: an array with one row, or a list with one entry per input."""


HASHED = 512


GRAMS = (2, 3, 4)


def pixels(batch: Any) -> FloatArray:
    """The numbers of the inputs themselves, one row per input; bytes become 0 to 1."""
    rows = np.asarray(batch)
    scale = 255.0 if rows.dtype == np.uint8 else 1.0
    return np.asarray(rows.reshape(len(rows), -1) / scale, dtype=np.float64)


def of_model(executor: Executor) -> tuple[View, str]:
    """The last hidden layer of the model under test, or its outputs where it shows none; and which, in words."""
    source = executor.hidden or executor.respond
    said = "the model's last hidden layer" if executor.hidden else "the model's outputs: it shows no hidden layer"

    def view(batch: Any) -> FloatArray:
        parts = [np.asarray(source(batch[at : at + executor.batch])) for at in range(0, len(batch), executor.batch)]
        return np.concatenate([part.reshape(len(part), -1) for part in parts]).astype(np.float64)

    return view, said


@dataclass(frozen=True, eq=False)
class OnnxFeatures:
    """Features of images by a network in an ONNX file: its first output, flattened.

    Images are given as the network's input says: channels first or last, one channel repeated where three are wanted.
    Bytes become 0 to 1 for networks that take floating-point numbers; a network with other wishes (mean and deviation)
    has them as its first operators.
    """

    model: Any
    batch: int = 256

    @classmethod
    def open(cls, path: Path) -> OnnxFeatures:
        return cls(models.OnnxModel.open(path, models.ModelRequest(task="regression", outputs="values")))

    def __call__(self, images: Any) -> FloatArray:
        parts = (self._run(images[at : at + self.batch]) for at in range(0, len(images), self.batch))
        return np.concatenate([part.reshape(len(part), -1) for part in parts]).astype(np.float64)

    def _run(self, images: Any) -> Any:
        given = self._arranged(np.asarray(images))
        if self.model.shape and not _fits(given.shape[1:], self.model.shape[1:]):
            raise SpaceError(
                f"inputs of shape {given.shape[1:]} for the extractor",
                rule=f"it expects {self.model.expects()}",
                hint="an export for images of this size",
            )
        return self.model.run(given, ())[0]

    def _arranged(self, images: Any) -> Any:
        whole = images.dtype == np.uint8 and self.model.dtype.startswith("float")
        scaled = (images / 255.0 if whole else images).astype(self.model.dtype)
        if len(self.model.shape) != 4:
            return scaled
        coloured = scaled[..., None] if scaled.ndim == 3 else scaled
        first = self.model.shape[1] in (1, 3)
        wanted = self.model.shape[1 if first else 3]
        if coloured.shape[3] == 1 and wanted == 3:
            coloured = coloured.repeat(3, axis=3)
        return np.ascontiguousarray(np.moveaxis(coloured, 3, 1)) if first else coloured


def _fits(given: Sequence[int], wanted: Sequence[Any]) -> bool:
    return len(given) == len(wanted) and all(
        not isinstance(length, int) or length == have for have, length in zip(given, wanted, strict=True)
    )


def hashed_tokens(texts: Sequence[str]) -> list[FloatArray]:
    """Features of the words of each text that need no language model: their letters.

    A word is the sum of its n-grams of 2 to 4 letters with marks for begin and end, as in fastText (Bojanowski et al.,
    Enriching word vectors with subword information, TACL 2017), each hashed to one of 512 columns and a sign
    (Weinberger et al., Feature hashing for large scale multitask learning, ICML 2009). A typo changes a word a little;
    a synonym is another word: for meaning, take a language model.
    """
    return [np.array([_hashed(word) for word in likeness.words(text)]).reshape(-1, HASHED) for text in texts]


@lru_cache(maxsize=100_000)
def _hashed(word: str) -> FloatArray:
    marked = f"<{word}>"
    row = np.zeros(HASHED)
    for size in GRAMS:
        for at in range(len(marked) - size + 1):
            code = int.from_bytes(hashlib.blake2b(marked[at : at + size].encode(), digest_size=4).digest(), "little")
            row[code % HASHED] += 1.0 if code >> 31 else -1.0
    return np.asarray(unit(row[None])[0])
