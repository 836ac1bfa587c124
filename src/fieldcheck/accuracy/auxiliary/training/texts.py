"""A second model for texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fieldcheck.accuracy.auxiliary.training.lesson import Lesson, taken
from fieldcheck.core.types import FloatArray

USUAL = 20

LEFT_OUT = 0.2
"""Share of the words that occlusion leaves out."""


def train_texts(
    inputs: Sequence[str], lesson: Lesson, augmentations: tuple[str, ...]
) -> tuple[Callable[[Any], FloatArray], tuple[str, ...]]:
    """A linear model of hashed words and pairs of words (Weinberger et al., ICML 2009), by stochastic gradients."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    words = HashingVectorizer(n_features=2**18, ngram_range=(1, 2), alternate_sign=False)
    texts, labels = [str(text) for text in taken(inputs, lesson.learn)], lesson.labels[lesson.learn]
    used = tuple(name for name in augmentations if name == "occlusion")
    rng = lesson.rng("texts")
    model = SGDClassifier(loss="log_loss", alpha=1e-6, random_state=int(rng.integers(2**31)))
    epochs = lesson.passes(USUAL)
    for epoch in epochs:
        order = rng.permutation(len(texts))
        given = [_shortened(texts[at], rng) if used else texts[at] for at in order]
        model.partial_fit(words.transform(given), labels[order], classes=np.arange(lesson.classes))
        lesson.told(epoch, epochs)

    def predict(batch: Any) -> FloatArray:
        known = model.predict_proba(words.transform([str(text) for text in batch]))
        return np.asarray(known, dtype=np.float64)

    return predict, used


def _shortened(text: str, rng: np.random.Generator) -> str:
    """The text without some of its words."""
    parts = text.split()
    return " ".join(part for part, chance in zip(parts, rng.random(len(parts)), strict=True) if chance >= LEFT_OUT)
