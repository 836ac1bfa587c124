"""The auxiliary variables by name, which of them a pool has (columns, and what follows from them), and the Frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import Auxiliary
from fieldcheck.accuracy.auxiliary.combined import Combined
from fieldcheck.accuracy.auxiliary.confidence import Confidence
from fieldcheck.accuracy.auxiliary.dsa import Dsa
from fieldcheck.accuracy.auxiliary.entropy import Entropy
from fieldcheck.accuracy.auxiliary.gini import Gini
from fieldcheck.accuracy.auxiliary.knn import Knn
from fieldcheck.accuracy.auxiliary.knn_disagreement import KnnDisagreement
from fieldcheck.accuracy.auxiliary.lsa import Lsa
from fieldcheck.accuracy.auxiliary.margin import Margin
from fieldcheck.accuracy.auxiliary.mdsa import Mdsa
from fieldcheck.accuracy.auxiliary.member import Member
from fieldcheck.accuracy.auxiliary.sae import Sae
from fieldcheck.accuracy.auxiliary.symmetry import Symmetry
from fieldcheck.accuracy.auxiliary.vae import Vae
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.registry import Registry
from fieldcheck.core.types import BoolArray, FloatArray

registry: Registry[Auxiliary] = Registry(
    "auxiliary variable",
    "fieldcheck.auxiliary",
    Confidence,
    Symmetry,
    Member,
    Dsa,
    Lsa,
    KnnDisagreement,
    Vae,
    Sae,
    Margin,
    Entropy,
    Gini,
    Mdsa,
    Knn,
    hint="",
)
"""Those first that ``auto`` takes, in its order."""

BLOCK = 4_096
"""Rows of activations looked at in one go, so that the check needs little memory."""


def names(pool: Pool, among: Collection[str] | None = None) -> tuple[str, ...]:
    """The auxiliary variables worth trying, in small letters: finite, not negative, not constant.

    among
        Look at these only: in a large pool that is quicker.
    """
    columns = [name.strip().lower() for name in pool.columns]
    derived = [name for name in (*registry, Combined.name) if name not in columns]
    known = [name for name in dict.fromkeys(derived + columns) if among is None or name in among]
    return tuple(name for name in known if name != Combined.published and _useful(pool, name))


def values(pool: Pool, name: str) -> FloatArray:
    """An auxiliary variable, one value per item: finite, zero or more, larger where failing is more likely.

    A column of that name; else what the variable says that it derives from a pool (``confidence`` from the model's
    confidence, ``margin`` from its probabilities, ...).
    """
    found = _raw(pool, name)
    if found is None:
        have = ", ".join(names(pool))
        several = len(pool.alike(name.strip().lower())) > 1
        raise pool.origin.error(
            f"no auxiliary variable '{name}'" + (": several columns differ only in case" if several else ""),
            rule=f"this pool has: {have or 'none'}",
            hint="one of these" if have else "--design srs, which needs none",
        )
    pool.refuse(
        name,
        _unusable(found),
        problem="is negative or not finite",
        value=found.__getitem__,
        rule="an auxiliary variable is finite and not negative",
        hint=f"--shift {name}, which subtracts the minimum, or drop these items",
    )
    return found


def frame(pool: Pool, auxiliary: Sequence[str], activations: npt.NDArray[Any] | None = None) -> Frame:
    """What a design may look at: the named auxiliary variables, in small letters; no truth."""
    chosen = {name.strip().lower(): values(pool, name) for name in auxiliary}
    if activations is not None:
        activations = _checked(pool, np.asarray(activations))
    return Frame(
        size=len(pool),
        task=pool.task,
        auxiliary=chosen,
        activations=activations,
        predictions=pool.predictions,
        traits=traits(),
        worthwhile=helpful(chosen),
    )


def traits() -> dict[str, Trait]:
    """What is known of each variable, by name."""
    return {Combined.name: Combined.trait} | {name: variable.trait for name, variable in registry.items()}


def helpful(have: Collection[str]) -> tuple[str, ...]:
    """Those of some variables that ``auto`` takes, in its order."""
    return tuple(name for name, variable in registry.items() if variable.helpful and name in have)


def automatic(pool: Pool) -> Iterator[str]:
    """What ``auto`` takes of a pool, in its order."""
    return (name for name, variable in registry.items() if variable.helpful and _useful(pool, name))


def digest(pool: Pool, auxiliary: Sequence[str]) -> str:
    """A short fingerprint of the pool and the named auxiliary variables, whatever the truth."""
    return pool.digest({name.lower(): _source(pool, name) for name in auxiliary})


def _raw(pool: Pool, name: str) -> FloatArray | None:
    key = name.strip().lower()
    if key in (Combined.name, Combined.published):
        return Combined.of_pool(pool)
    return registry[key].of_pool(pool) if key in registry else pool.numeric(key)


def _source(pool: Pool, name: str) -> npt.NDArray[Any]:
    """What a fingerprint is made of: logarithms may differ in the last bit between machines, probabilities do not."""
    key = name.strip().lower()
    derived = key in registry and registry[key].from_probabilities and pool.numeric(key) is None
    return pool.probabilities if derived and pool.probabilities is not None else values(pool, name)


def _checked(pool: Pool, activations: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if activations.ndim != 2 or len(activations) != len(pool) or activations.dtype.kind not in "iufb":
        raise pool.origin.error(
            f"{activations.dtype} activations of shape {activations.shape} for {len(pool):,} items",
            rule="one row of numbers per item, one column per neuron",
        )
    for start in range(0, len(pool), BLOCK):
        bad = ~np.isfinite(activations[start : start + BLOCK])
        if np.any(bad):
            row, neuron = np.argwhere(bad)[0]
            at = int(start + row)
            raise pool.origin.error(
                f"activation of '{pool.id_of(at)}' (row {at + 1:,}), neuron {neuron + 1:,}, "
                f"is {activations[at, neuron]}",
                rule="activations are finite",
            )
    return activations


def _useful(pool: Pool, name: str) -> bool:
    found = _raw(pool, name)
    return found is not None and not np.any(_unusable(found)) and float(found.min()) < float(found.max())


def _unusable(found: FloatArray) -> BoolArray:
    return ~(np.isfinite(found) & (found >= 0))
