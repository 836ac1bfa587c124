"""How the items of a sample were drawn: what an estimator weighs their labels by, and what may be claimed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, Self, get_type_hints

import numpy as np

from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.types import BoolArray, FloatArray, IntArray


def _no_items() -> IntArray:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Draws:
    """One of the ways below, with what its estimators need to know. A further way is a subclass.

    columns
        Fields with one value per draw, in draw order.
    prefix_valid
        The first k draws are themselves a sample that was drawn in this way.
    needs_all
        Without the label of every draw there is no estimate: each is weighed by those before it, or by its group.
    lost_stay
        A draw whose label will never come is not left out: it counts as a failure, and is named in ``lost``.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    prefix_valid: ClassVar[bool] = True
    needs_all: ClassVar[bool] = False
    lost_stay: ClassVar[bool] = False
    kinds: ClassVar[dict[str, type[Draws]]] = {}

    def __init_subclass__(cls, *, recorded: bool = True) -> None:
        if recorded:
            Draws.kinds[cls.__name__] = cls

    @property
    def anytime(self) -> bool:
        """Whether what is exact after all labels can be made exact at every single one of them, too."""
        return False

    @property
    def reusable(self) -> bool:
        """Whether the chance of every item to be drawn is known, so that the labels serve another model as well."""
        return False

    def part(self, which: slice | BoolArray) -> Self:
        """Of some of the draws."""
        return replace(self, **{name: getattr(self, name)[which] for name in self.columns})

    def without(self, lost: BoolArray, items: IntArray) -> Self:
        """Without the draws whose labels will never come.

        items
            One per draw: what was drawn.
        """
        return self.part(~lost)

    def as_record(self) -> dict[str, Any]:
        """Plain values, for a JSON file."""
        return {"kind": type(self).__name__, **{one.name: _plain(getattr(self, one.name)) for one in fields(self)}}


@dataclass(frozen=True, eq=False)
class EqualDraws(Draws):
    """Every item with the same chance, whatever it is: simple random sampling."""

    replacement: bool

    @property
    def anytime(self) -> bool:
        return not self.replacement

    @property
    def reusable(self) -> bool:
        return not self.replacement


@dataclass(frozen=True, eq=False)
class PurposiveDraws(Draws):
    """Chosen for what they are: not a probability sample."""


@dataclass(frozen=True, eq=False)
class WeightedDraws(Draws):
    """One by one with replacement, each item with a chance of its own.

    probability
        One per draw: that of the drawn item, at each draw.
    least
        That of the item of the pool that is hardest to draw; 0 where one cannot be drawn.
    out_of_reach
        Share of the pool that this many draws are likely to miss altogether; None where that is not known.
    """

    columns: ClassVar[tuple[str, ...]] = ("probability",)

    probability: FloatArray
    least: float
    out_of_reach: float | None = None


@dataclass(frozen=True, eq=False)
class StratifiedDraws(Draws):
    """At random within strata.

    stratum
        One per draw, counted from 0.
    sizes
        Items, one per stratum.
    replacement
        Whether an item may be drawn twice within its stratum.
    adaptive
        Whether labels decided how many draws a stratum got.
    """

    columns: ClassVar[tuple[str, ...]] = ("stratum",)

    stratum: IntArray
    sizes: IntArray
    replacement: bool = False
    adaptive: bool = False


@dataclass(frozen=True, eq=False)
class GroupDraws(Draws):
    """One from each of as many random groups as there are draws (Rao, Hartley and Cochran).

    share
        One per draw: size of the drawn item in units of its group's; 1 where the group has none.
    group
        One per draw: size of the group in units of the pool's.
    group_items
        One per draw: items of the group.
    least, out_of_reach
        As those of ``WeightedDraws``.
    """

    columns: ClassVar[tuple[str, ...]] = ("share", "group", "group_items")
    prefix_valid: ClassVar[bool] = False
    needs_all: ClassVar[bool] = True

    share: FloatArray
    group: FloatArray
    group_items: IntArray
    least: float
    out_of_reach: float | None = None


@dataclass(frozen=True, eq=False)
class StepDraws(Draws):
    """One by one without replacement, with chances that depend on the draws before.

    probability
        One per draw: that of the drawn item, among those that were left.
    weighted
        Share of the steps that go by weight; at the others, all items that are left have the same chance.
    """

    columns: ClassVar[tuple[str, ...]] = ("probability",)
    needs_all: ClassVar[bool] = True

    probability: FloatArray
    weighted: float


@dataclass(frozen=True, eq=False)
class WaveDraws(Draws):
    """In waves, each with chances by what was believed before it. The chances follow from the beliefs and the frame.

    wave
        One per draw, counted from 0.
    sizes
        One per wave: items drawn.
    beliefs
        One per wave: the coefficients that it was drawn with.
    floors
        One per wave: the share of the chances that was the same for all items.
    objective, certain
        How beliefs became chances (``numerics.sampling.wave.WaveRule``).
    scales
        One per wave: level, factor and cut of its chances (``numerics.sampling.inclusion.Inclusion``), where a
        question does not work them out itself.
    lost, lost_wave
        Items that were drawn and will never be labelled, and the wave of each.
    before
        Items that an earlier campaign had labelled, and no wave drew again.
    facts
        What the prior says of all items together (``numerics.regression.priors.facts_of``): beside the draws, nobody
        need look for it again. Empty: it has to be found out.
    """

    columns: ClassVar[tuple[str, ...]] = ("wave",)

    wave: IntArray
    sizes: tuple[int, ...]
    beliefs: tuple[FloatArray, ...]
    floors: tuple[float, ...]
    objective: str
    certain: float
    scales: tuple[FloatArray, ...] = ()
    lost: IntArray = field(default_factory=_no_items)
    lost_wave: IntArray = field(default_factory=_no_items)
    before: IntArray = field(default_factory=_no_items)
    facts: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def reusable(self) -> bool:
        return not len(self.before)  # else the chances of the earlier campaign belong to it

    def without(self, lost: BoolArray, items: IntArray) -> Self:
        gone = np.concatenate([self.lost, items[lost]])
        return replace(self.part(~lost), lost=gone, lost_wave=np.concatenate([self.lost_wave, self.wave[lost]]))


@dataclass(frozen=True, eq=False)
class BetDraws(Draws):
    """One at a time without replacement, each with a stake on its label; kinds of like risk change only between waves.

    of_kind, wave
        One per draw, counted from 0: what the item was taken for, and when that was settled.
    risk, size, count
        One array per wave, one value per kind: believed chance to fail, what the chance to be drawn is proportional
        to, and items left before the wave.
    sizes
        One per wave: items drawn.
    threshold
        The accuracy that is to be certified.
    lost
        Which draws cannot be labelled, counted from 0: they count against either claim.
    """

    columns: ClassVar[tuple[str, ...]] = ("of_kind", "wave")
    lost_stay: ClassVar[bool] = True

    of_kind: IntArray
    wave: IntArray
    risk: tuple[FloatArray, ...]
    size: tuple[FloatArray, ...]
    count: tuple[FloatArray, ...]
    sizes: tuple[int, ...]
    threshold: float
    lost: IntArray = field(default_factory=_no_items)

    def without(self, lost: BoolArray, items: IntArray) -> Self:
        """All draws stay in their order."""
        return replace(self, lost=np.flatnonzero(lost))


class PoolChances(Protocol):
    """The probability of every item of a pool to be drawn, and labelled. It need not be in memory."""

    def at(self, items: IntArray) -> FloatArray:
        """Of some items."""
        ...

    def sent(self, frame: Frame) -> Callable[[Any], FloatArray]:
        """What is sent to where a frame of these items is: from a part of it to one per item."""
        ...


@dataclass(frozen=True, eq=False)
class PooledDraws(Draws, recorded=False):
    """Of several campaigns, put together; each of them has a record of its own.

    chance
        That any of them drew an item, and that it was labelled.
    """

    chance: PoolChances

    @property
    def reusable(self) -> bool:
        return True


def joined(parts: Sequence[Draws]) -> Draws:
    """Draws that were added bit by bit, in order; what is true of the whole is what the last part says."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in parts[-1].columns}
    return replace(parts[-1], **columns)


def draws_from(record: Mapping[str, Any]) -> Draws:
    """The inverse of ``Draws.as_record``; what the record leaves out is as by default."""
    kind = Draws.kinds[record["kind"]]
    types, given = get_type_hints(kind), [one.name for one in fields(kind) if one.name in record]
    return kind(**{name: _READERS[types[name]](record[name]) for name in given})


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _floats(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _integers(values: Any) -> IntArray:
    return np.asarray(values, dtype=np.int64)


_READERS: dict[Any, Any] = {
    bool: bool,
    float: float,
    str: str,
    float | None: lambda value: None if value is None else float(value),
    tuple[int, ...]: lambda values: tuple(int(value) for value in values),
    tuple[float, ...]: lambda values: tuple(float(value) for value in values),
    tuple[FloatArray, ...]: lambda rows: tuple(_floats(row) for row in rows),
    FloatArray: _floats,
    IntArray: _integers,
}
"""From plain values to those of a field, by its type."""
