"""The measures of quality by name. A new one is a function of two views and a line below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.quality.bleu import corpus_bleu, sentence_bleu
from fieldcheck.tomography.quality.fid import frechet
from fieldcheck.tomography.quality.kid import kid
from fieldcheck.tomography.quality.ssim import ssim
from fieldcheck.tomography.quality.token_f1 import token_f1

Needs = Literal["features", "tokens", "inputs"]


@dataclass(frozen=True)
class QualityScore:
    """A score of perturbed inputs against the same inputs clean.

    needs
        What it looks at: features of whole inputs, features of tokens, or the inputs themselves.
    score
        From two views of equally many inputs, clean and perturbed, to the score.
    kinds
        Of data that it is for.
    better
        Which values mean that inputs are still plausible.
    low, high
        No score is outside, but for noise around ``low``.
    squared
        Whether it is the square of a distance; then the distance is what grows smoothly with severities.
    caution
        What must be said with every score.
    """

    name: str
    needs: Needs
    score: Callable[[Any, Any], float]
    kinds: frozenset[Kind]
    better: Literal["low", "high"] = "high"
    low: float = 0.0
    high: float = 1.0
    squared: bool = False
    caution: str = ""

    def smoothed(self, scores: FloatArray) -> FloatArray:
        """On the scale on which scores are predicted."""
        return np.asarray(np.sign(scores) * np.sqrt(np.abs(scores))) if self.squared else scores

    def back(self, values: FloatArray) -> FloatArray:
        """The inverse of ``smoothed``, within the bounds."""
        return np.clip(values * np.abs(values) if self.squared else values, self.low, self.high)


def _kid(clean: FloatArray, perturbed: FloatArray) -> float:
    return kid(clean, perturbed, paired=True)


def _ssim(clean: Any, perturbed: Any) -> float:
    return float(ssim(clean, perturbed).mean())


def _token_f1(clean: list[FloatArray], perturbed: list[FloatArray]) -> float:
    return float(np.mean([token_f1(one, other) for one, other in zip(perturbed, clean, strict=True)]))


def _corpus_bleu(clean: list[str], perturbed: list[str]) -> float:
    return corpus_bleu(perturbed, clean)


def _sentence_bleu(clean: list[str], perturbed: list[str]) -> float:
    return float(np.mean([sentence_bleu(one, other) for one, other in zip(perturbed, clean, strict=True)]))


FEW = "biased where there are few inputs: compare only scores of equally many"


ANY: frozenset[Kind] = frozenset({"image", "text", "row"})


IMAGES: frozenset[Kind] = frozenset({"image"})


TEXTS: frozenset[Kind] = frozenset({"text"})


MEASURES = {
    measure.name: measure
    for measure in (
        QualityScore("kid", "features", _kid, ANY, better="low", high=np.inf, squared=True),
        QualityScore("fid", "features", frechet, ANY, better="low", high=np.inf, squared=True, caution=FEW),
        QualityScore("ssim", "inputs", _ssim, IMAGES, low=-1.0),
        QualityScore("token-f1", "tokens", _token_f1, TEXTS),
        QualityScore("bleu", "inputs", _corpus_bleu, TEXTS),
        QualityScore("sentence-bleu", "inputs", _sentence_bleu, TEXTS),
    )
}


def measure_named(name: str, *, kind: Kind) -> QualityScore:
    """The measure of that name, if it is for data of that kind; ``auto`` is KID, for texts the F1 of tokens."""
    word = ("token-f1" if kind == "text" else "kid") if name == "auto" else name
    fitting = [one.name for one in MEASURES.values() if kind in one.kinds]
    if word not in fitting:
        raise SpaceError(f"no measure of quality '{word}' for {kind}s", rule="there are: " + ", ".join(fitting))
    return MEASURES[word]
