"""What the page may send: checked in shape here, in meaning by the campaign."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("control characters are not taken")
    return text


Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F-]{16,64}$")]
"""Made by the page, once for each thing that it wants done: a second delivery is recognised by it."""


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80), AfterValidator(_printable)]


Item = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]


class PageRequest(BaseModel):
    """Whatever the page sends says for which campaign and by whom.

    campaign
        A page that was left open may find another campaign at the same address: its labels must not end up there.
    by
        Where people sign in, it must be the one who did: a page may have been opened by another person before.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    campaign: str
    by: Name | None = None


class Next(PageRequest):
    """Ask for items."""

    n: Annotated[int, Field(ge=1, le=50)] = 1


class Act(PageRequest):
    """Something about one item."""

    key: Key
    item: Item


class Label(Act):
    label: (
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
        | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    )


class Skip(Act):
    reason: Words = ""


class Flag(Act):
    note: Words = ""


class Undo(Act):
    """Take back one's own label or skip."""


class Reopen(PageRequest):
    """Look again at an item that one has answered."""

    item: Item


class Settle(Act):
    """The lead's word about an item."""

    label: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


class Extend(PageRequest):
    """Go on with so many labels more."""

    key: Key
    more: Annotated[int, Field(ge=1, le=1_000_000)]


class Close(PageRequest):
    """Take no more labels."""

    key: Key


class Release(PageRequest):
    """Give back items that were not looked at."""

    items: Annotated[list[Item], Field(max_length=50)]
