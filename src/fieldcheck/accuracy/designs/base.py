"""What every technique is: a pure function of the frame, the labels so far, and a seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, ClassVar, Protocol, runtime_checkable

from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray


@runtime_checkable
class Design(Protocol):
    """A way to choose items to label.

    name
        The word on the command line.
    title, paper
        For people: what it is called, and where it comes from.
    needs
        ``"nothing"``, ``"auxiliary"`` or ``"activations"``.

    A design may also have a ``caveat``: one sentence that ``fieldcheck designs`` puts after its first line;
    ``partitions``: True if it cuts the pool into strata; ``replace``: True if it may draw an item twice.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    needs: ClassVar[str]
    estimator: ClassVar[str]

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        """The sample as far as the labels allow.

        losses
            One per item of the pool, nan where the label is not known yet; None when there are no labels. Only
            adaptive designs look at it, and only at items that they have drawn: the same labels give the same sample,
            however often and in however many steps it is asked for.
        frame
            May hold more auxiliary variables than this design names (``auxiliaries_of``): it does not look at those.
        """
        ...


@runtime_checkable
class OpenEnded(Design, Protocol):
    """A design whose campaign may stop on what its labels say.

    endless
        Whether what it draws first does not depend on the budget: it can go on until it is stopped.
    """

    endless: ClassVar[bool]

    def open_ended(self, *, careful: bool) -> OpenEnded | None:
        """The design as a campaign that may stop early; None where these parameters do not allow it.

        careful
            Stopping will rest on the protected interval.
        """
        ...

    def ends(self, most: int) -> list[int]:
        """Numbers of labels up to which a campaign of at most ``most`` draws alike, whatever comes later."""
        ...


@runtime_checkable
class Recalling(Design, Protocol):
    """A design that need not draw again what it drew in another process."""

    def recall(self, frame: Frame, sample: Sample, losses: FloatArray, *, budget: int, seed: int) -> None:
        """Take a sample that it drew of this frame, with these losses, as the start of the next ``draw``."""
        ...


@runtime_checkable
class Extendable(Design, Protocol):
    """A design that goes on from what it drew when its budget is extended."""

    def extended(self, earlier: tuple[int, ...]) -> Design:
        """The same design; ``earlier``: the budgets that it had before, in order."""
        ...


def extended(design: Design, earlier: tuple[int, ...]) -> Design:
    """The design of a campaign whose budget was extended; those that are laid out for one budget are refused."""
    if not earlier:
        return design
    if not isinstance(design, Extendable):
        raise DesignError(
            f"{design.name} cannot go on from here",
            rule="it is laid out for its budget: with another one it would have drawn other items",
            hint="a new campaign with a larger --budget; or --design waves, which can be extended",
        )
    return design.extended(earlier)


@runtime_checkable
class KnownChances(Design, Protocol):
    """A design whose chances do not follow from its draws alone, and that knows them all the same."""

    def chances(self, frame: Frame, draws: int) -> FloatArray | None:
        """One per item: the probability to be among so many draws; None where these parameters do not allow it."""
        ...


def open_ended(design: Design, *, careful: bool) -> OpenEnded:
    """The design as a campaign that may stop early; others are refused."""
    found = design.open_ended(careful=careful) if isinstance(design, OpenEnded) else None
    if found is None:
        raise no_looks(f"'{spec(design)}'")
    return found


def no_looks(what: str) -> DesignError:
    """What to say where labels must not decide when to stop."""
    return DesignError(
        f"{what} cannot stop on what it sees",
        rule="a stop rule needs waves, or srs without replacement",
        hint="--design waves",
    )


def auxiliary_of(design: Design) -> str:
    """The auxiliary variable that a design uses, or ``none``."""
    return str(getattr(design, "auxiliary", "none"))


def auxiliaries_of(design: Design, helpful: Iterable[str]) -> list[str]:
    """The variables behind it: ``a+b`` are two, ``auto`` all that are known to help, ``none`` none.

    helpful
        What ``auto`` stands for here, in its order.
    """
    name = auxiliary_of(design)
    if design.needs != "auxiliary" or name == "none":
        return []
    if name == "auto":
        return list(helpful)
    return [one.strip().lower() for one in name.split("+")]


def spec(design: Design) -> str:
    """The design as it is written on the command line, with the parameters that are not at their default."""
    given = [(f.name, getattr(design, f.name), f.default) for f in fields(design) if f.name != "auxiliary"]  # type: ignore[arg-type]
    changed = ",".join(f"{name}={_word(value)}" for name, value, default in given if value != default)
    return f"{design.name}:{changed}" if changed else design.name


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def unreachable_warning(items: int, population: int) -> tuple[str, ...]:
    """What to say when some items can never be drawn, so that failures among them are never seen."""
    if not items:
        return ()
    return (
        f"{items:,} of {population:,} items can never be drawn because their auxiliary variable is zero: "
        "the estimate leaves out what fails among them (a floor above 0 mends it)",
    )
