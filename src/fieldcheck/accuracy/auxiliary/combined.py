"""Confidence and surprise in one: not computed item by item, but from two columns of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.pool.trait import Trait
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
    trait: ClassVar[Trait] = Trait(threshold=0.3)
    parts: ClassVar[tuple[str, ...]] = ("confidence", "dsa")
    published: ClassVar[str] = "conf*(1-norm_dsa)"
    """Column of the subjects published with DeepEST (ICSE'21): the combined probability of being *right*."""

    @staticmethod
    def column(confidence: FloatArray, dsa: FloatArray) -> FloatArray:
        """One value per item of the pool; ``confidence`` is that of the model, not what is missing to 1."""
        largest = float(dsa.max())
        return 1 - confidence * (1 - dsa / largest) if largest > 0 else 1 - confidence

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        """The column of that name, the published column, or the definition; None where the pool has none of them."""
        if (own := pool.numeric(cls.name)) is not None:
            return own
        if (published := pool.numeric(cls.published)) is not None:
            return 1 - published
        dsa = pool.numeric("dsa")
        return None if dsa is None or pool.confidence is None else cls.column(pool.confidence, dsa)


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
