"""The quality scores by name. A new one is a file here and a line in the registry below."""

from __future__ import annotations

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.registry import Registry
from fieldcheck.tomography.quality.base import QualityScore
from fieldcheck.tomography.quality.bleu import Bleu, SentenceBleu
from fieldcheck.tomography.quality.fid import Fid
from fieldcheck.tomography.quality.kid import Kid
from fieldcheck.tomography.quality.ssim import Ssim
from fieldcheck.tomography.quality.token_f1 import TokenF1

registry: Registry[QualityScore] = Registry(
    "quality score",
    "fieldcheck.quality",
    Kid,
    Fid,
    Ssim,
    TokenF1,
    Bleu,
    SentenceBleu,
    error=SpaceError,
    hint="fieldcheck tomography list scores",
)


def score_for(name: str, *, kind: Kind) -> QualityScore:
    """The score of that name, if it is for data of that kind; ``auto`` is the usual one."""
    fitting = {word: score for word, score in registry.items() if kind in score.kinds}
    word = next((word for word, score in fitting.items() if kind in score.usual), "") if name == "auto" else name
    if word not in fitting:
        raise SpaceError(f"no quality score '{word}' for {kind}s", rule="there are: " + ", ".join(fitting))
    return fitting[word]()
