"""The auxiliary variables by name, which of them a pool has (columns, and what follows from them), and the Frame."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

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
from fieldcheck.core.pool.fingerprint import Fingerprint
from fieldcheck.core.pool.frame import FEW, Frame, KeptColumns
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.registry import Registry
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics import exact

C = TypeVar("C")


R = TypeVar("R")


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
    whole = (Combined.name, Combined.published)
    found = {*_worth(pool, tuple(name for name in known if name not in whole))}
    if Combined.name in known and pool.held and _worth_whole(pool, Combined.name):
        found.add(Combined.name)
    return tuple(name for name in known if name in found)


def _worth_whole(pool: Pool, name: str) -> bool:
    """For a variable that is made of whole columns."""
    found = _raw(pool, name)
    return found is not None and not np.any(_unusable(found)) and float(found.min()) < float(found.max())


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
    chosen = tuple(name.strip().lower() for name in auxiliary)
    if activations is not None:
        activations = _checked(pool, np.asarray(activations))
    known: dict[str, Any] = {"size": len(pool), "task": pool.task, "traits": traits(), "worthwhile": helpful(chosen)}
    large = len(pool) > FEW or not pool.held
    if large and Combined.name not in chosen and activations is None:
        _check_usable(pool, chosen)
        return PoolFrame(**known, auxiliary=PoolColumns(pool, chosen), predictions=pool.predictions, pool=pool)
    arrays = {name: values(pool, name) for name in chosen}
    return Frame(**known, auxiliary=arrays, activations=activations, predictions=pool.in_memory().predictions)


@dataclass(frozen=True, eq=False)
class PoolColumns(Mapping[str, FloatArray]):
    """Auxiliary variables of a large pool: parts of it have theirs; of all items each is made when it is asked for."""

    pool: Pool
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self.names:
            raise KeyError(name)
        return values(self.pool.in_memory(), name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class PoolFrame(Frame):
    """The frame of a large pool, whose columns are not held twice; the pool says where its parts are looked at."""

    pool: Pool = None  # type: ignore[assignment]

    def map(self, step: Callable[[Frame, C], R], given: C) -> Iterator[R]:
        return self._map(step, given, needs=(), beside=False)

    def map_beside(
        self, step: Callable[[tuple[Frame, Pool], C], R], given: C, *, needs: Collection[str]
    ) -> Iterator[R]:
        """A step that looks at rows of the pool, too, as far as it ``needs`` them."""
        return self._map(step, given, needs=needs, beside=True)

    def _map(self, step: Callable[[Any, C], R], given: C, *, needs: Collection[str], beside: bool) -> Iterator[R]:
        kept = self._kept if self.pool.held else self.pool.scratch
        asked = (tuple(self.auxiliary), self.traits, step, given)
        needs = tuple(dict.fromkeys((*self.auxiliary, "prediction", *needs)))
        return self.pool.map(_KeptStep(kept, self.predictions is not None, beside), asked, needs=needs)

    def reader(self) -> Callable[[int, int], Frame]:
        known = tuple(self.auxiliary), self.traits, self.predictions is not None
        return partial(_between, self.pool.reader().between, known)

    def take(self, items: IntArray) -> Frame:
        some = self.pool.fetched(items, needs=(*self.auxiliary, "prediction"))
        predicted = self.predictions is not None
        found = _part_frame(some, tuple(self.auxiliary), self.traits, None, predicted=predicted)
        return replace(found, worthwhile=self.worthwhile, constant=self.constant)

    def part(self, items: IntArray) -> Frame:
        return self.take(items)._own()

    def only(self, names: Sequence[str]) -> Frame:
        if list(names) == list(self.auxiliary):
            return self
        wanted = tuple(names)
        for name in wanted:
            if name not in self.auxiliary:
                self.values(name)
        return self.memo(("only", *wanted), lambda: self._own(auxiliary=PoolColumns(self.pool, wanted)))


def _between(
    rows: Callable[..., Any], known: tuple[tuple[str, ...], Mapping[str, Trait], bool], first: int, last: int
) -> Frame:
    """Items of the frame of a pool, read where they are looked at."""
    names, traits, predicted = known
    return _part_frame(rows(first, last, needs=(*names, "prediction")), names, traits, None, predicted=predicted)


def map_beside(
    frame: Frame, pool: Pool, step: Callable[[tuple[Frame, Pool], C], R], given: C, *, needs: Collection[str]
) -> Iterator[R]:
    """A step of a frame that looks at the same rows of a pool beside the items: ``step((items, rows), given)``.

    needs
        What it looks at there, as ``Pool.map`` has it.
    """
    if isinstance(frame, PoolFrame) and frame.pool is pool:
        return frame.map_beside(step, given, needs=needs)
    return frame.map(_beside, (pool.reader().between, tuple(needs), step, given))


def _beside(
    part: Frame, given: tuple[Callable[..., Any], tuple[str, ...], Callable[[tuple[Frame, Pool], C], R], C]
) -> R:
    rows, needs, step, own = given
    return step((part, rows(part.start, part.start + part.size, needs=needs)), own)


@dataclass(frozen=True, eq=False)
class _KeptStep:
    """A step of a frame as one of the pool.

    predicted
        Whether there are predictions.
    beside
        Whether it looks at the rows of the pool, too.
    """

    kept: KeptColumns | None
    predicted: bool
    beside: bool

    def __call__(self, pool: Pool, asked: tuple[tuple[str, ...], Mapping[str, Trait], Callable[..., R], Any]) -> R:
        names, known, step, given = asked
        part = _part_frame(pool, names, known, self.kept, predicted=self.predicted)
        return step((part, pool) if self.beside else part, given)


def _part_frame(
    pool: Pool, names: tuple[str, ...], known: Mapping[str, Trait], kept: KeptColumns | None, *, predicted: bool
) -> Frame:
    own = PartColumns(pool, names, kept)
    said = own.predictions if predicted else None
    return Frame(len(pool), pool.task, own, None, said, known, start=pool.start, _kept=kept)


@dataclass(frozen=True, eq=False)
class PartColumns(Mapping[str, FloatArray]):
    """Auxiliary variables of a part, made when they are asked for; of one that lies in a file they are kept."""

    pool: Pool
    names: tuple[str, ...]
    kept: KeptColumns | None

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self.names:
            raise KeyError(name)
        found: FloatArray = self._kept(f"variable {name}", lambda: _raw(self.pool, name))
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def predictions(self) -> npt.NDArray[Any]:
        """What the model said."""
        found: npt.NDArray[Any] = self._kept("predictions", lambda: self.pool.predictions)
        return found

    def _kept(self, slot: str, make: Callable[[], Any]) -> Any:
        return make() if self.kept is None or self.pool.held else self.kept.get(slot, "", self.pool.start, make)


def _look_at(pool: Pool, names: tuple[str, ...]) -> tuple[tuple[exact.Range, int, int], ...]:
    """A step: of each variable the range, how many values there are, and how many cannot be used."""
    found = ((name, _raw(pool, name)) for name in names)
    return tuple(
        (exact.Range(), 0, 0) if own is None else (exact.Range.of(own), len(own), int(np.count_nonzero(_unusable(own))))
        for _, own in found
    )


def _check_usable(pool: Pool, names: tuple[str, ...]) -> None:
    for name, (_, count, bad) in zip(names, scan_pool(pool, names), strict=True):
        if bad or count < len(pool):
            values(pool.in_memory(), name)  # says what is wrong


def scan_pool(pool: Pool, names: tuple[str, ...]) -> tuple[tuple[exact.Range, int, int], ...]:
    """Of each variable: range, how many values there are, how many cannot be used."""
    known: dict[str, tuple[exact.Range, int, int]] = pool.memo("looked at", dict)
    if missing := tuple(name for name in names if name not in known):
        known.update(zip(missing, exact.merged(pool.map(_look_at, missing, needs=missing)), strict=True))
    return tuple(known[name] for name in names)


def traits() -> dict[str, Trait]:
    """What is known of each variable, by name."""
    return {Combined.name: Combined.trait} | {name: variable.trait for name, variable in registry.items()}


def helpful(have: Collection[str]) -> tuple[str, ...]:
    """Those of some variables that ``auto`` takes, in its order."""
    return tuple(name for name, variable in registry.items() if variable.helpful and name in have)


def automatic(pool: Pool) -> Iterator[str]:
    """What ``auto`` takes of a pool, in its order."""
    wanted = tuple(name for name, variable in registry.items() if variable.helpful)
    return iter(_worth(pool, wanted))


def _worth(pool: Pool, wanted: tuple[str, ...]) -> tuple[str, ...]:
    found = zip(wanted, scan_pool(pool, wanted), strict=True)
    return tuple(name for name, (seen, count, bad) in found if count and not bad and seen.low < seen.high)


def constant(pool: Pool) -> tuple[str, ...]:
    """What ``auto`` would take, were it not the same for all items."""
    wanted = tuple(name for name, variable in registry.items() if variable.helpful)
    found = zip(wanted, scan_pool(pool, wanted), strict=True)
    return tuple(name for name, (seen, count, bad) in found if count and not bad and seen.low == seen.high)


def digest(pool: Pool, auxiliary: Sequence[str]) -> str:
    """A short fingerprint of the pool and the named auxiliary variables, whatever the truth."""
    names = tuple(name.lower() for name in auxiliary)
    if Combined.name in names or Combined.published in names:
        whole = pool.in_memory()
        return whole.digest({name: _source(whole, name) for name in names})
    needs = (*names, "id", "prediction")
    made = pool.memo(("fingerprint", names), lambda: exact.merged(pool.whole_parts(_fingerprint, names, needs=needs)))
    return made.short(names)


def _fingerprint(pool: Pool, names: tuple[str, ...]) -> Fingerprint:
    return pool.fingerprint([_source(pool, name) for name in names])


def _raw(pool: Pool, name: str) -> FloatArray | None:
    key, whole = name.strip().lower(), pool.in_memory()
    if key in (Combined.name, Combined.published):
        return Combined.of_pool(whole)
    return registry[key].of_pool(whole) if key in registry else whole.numeric(key)


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


def _unusable(found: FloatArray) -> BoolArray:
    return ~(np.isfinite(found) & (found >= 0))
