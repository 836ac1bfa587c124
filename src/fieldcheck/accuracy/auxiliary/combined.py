"""Confidence and surprise in one: not computed item by item, but from two columns of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from fieldcheck.core.pool import formulas
from fieldcheck.core.types import FloatArray, Task


class Combined:
    """``1 - P_c (1 - DSA / max DSA)``, P_c the confidence (Guerriero et al., DeepEST, ICSE 2021).

    The largest DSA is that of the whole pool, so it has no value for a batch. A pool that has a confidence and a
    column ``dsa`` gives ``combined`` by itself: whoever asks for it needs those two.
    """

    name: ClassVar[str] = "combined"
    title: ClassVar[str] = "Confidence and surprise combined"
    paper: ClassVar[str] = "Guerriero et al., DeepEST, ICSE 2021"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    parts: ClassVar[tuple[str, ...]] = ("confidence", "dsa")

    @staticmethod
    def column(confidence: FloatArray, dsa: FloatArray) -> FloatArray:
        """One value per item of the pool; ``confidence`` is that of the model, not what is missing to 1."""
        return formulas.combined(confidence, dsa)


def expand(specs: Sequence[str]) -> list[str]:
    """What has to be computed for these variables: ``combined`` gives way to its parts; each is named once.

    A variable that is asked for with parameters stands for the same one without.
    """
    asked = [spec.strip() for spec in specs]
    names = [_name(spec) for spec in asked]
    result: list[str] = []
    for spec, name in zip(asked, names, strict=True):
        wanted = [part for part in Combined.parts if part not in names] if name == Combined.name else [spec]
        result += [one for one in wanted if one not in result]
    return result


def _name(spec: str) -> str:
    return spec.partition(":")[0].strip().lower()
