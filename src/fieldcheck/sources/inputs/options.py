"""What the user said about the inputs, and names that are understood where nothing was said."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fieldcheck.core.errors import InputsError, PoolError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.pool.column import closest
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources.roles import RECOGNISED, ROWS

Colour = Literal["auto", "rgb", "grey"]


LABELS = ("y", *RECOGNISED["target"], "class", "category")


IDS = (*RECOGNISED["id"], *ROWS)


TEXTS = ("text", "texts", "sentence", "review", "content", "document", "comment", "tweet", "question", "body")
"""Names of columns and arrays in order of preference, in small letters."""


@dataclass(frozen=True)
class Wanted:
    """The options of ``open_inputs``; ``part`` is what stood after the ``#``.

    text
        Columns of texts; of a table, several make an item of several texts.
    boxes
        Of an npz file with true boxes: what their columns are.
    where
        Of an npz file: ``NAME=VALUE``, only items for which that array has that value.
    """

    kind: Kind | None = None
    text: tuple[str, ...] = ()
    label: str | None = None
    id: str | None = None
    columns: tuple[str, ...] = ()
    size: str | None = None
    colour: Colour = "auto"
    skip_broken: bool = False
    encoding: str | None = None
    part: str | None = None
    label_required: bool = True
    boxes: str = "x0,y0,x1,y1,class"
    where: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in (None, "image", "text", "row"):
            raise InputsError(f"no kind of inputs '{self.kind}'", rule="image, text or row")
        if self.colour not in ("auto", "rgb", "grey"):
            raise InputsError(f"no colour '{self.colour}'", rule="auto, rgb or grey", hint="--colour rgb")
        if self.size is not None and not re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", self.size):
            raise InputsError(f"no size '{self.size}'", rule="WIDTHxHEIGHT in pixels", hint="--size 28x28")

    def one_text(self) -> str | None:
        """The only column of texts that was asked for, where a source has one text per item."""
        if len(self.text) > 1:
            raise InputsError(
                f"texts in {' and '.join(self.text)}", rule="items of several texts are in a table: CSV or Parquet"
            )
        return self.text[0] if self.text else None

    def resize(self) -> tuple[int, int] | None:
        """Width and height that images are brought to."""
        if self.size is None:
            return None
        width, _, height = self.size.partition("x")
        return int(width), int(height)


def label_in(wanted: Wanted, usual: Iterable[str], have: Iterable[str], *, where: str) -> str | None:
    """The column of labels; None where the one asked for is not there and need not be."""
    names = list(have)
    there = {name.strip().lower() for name in names}
    if wanted.label is not None and not wanted.label_required and wanted.label.strip().lower() not in there:
        return None
    return named(wanted.label, usual, names, where=where)


def named(given: str | None, usual: Iterable[str], have: Iterable[str], *, where: str) -> str | None:
    """The column that was asked for (an error where there is none), else the first usual name that is there."""
    names = list(have)
    if given is not None:
        return pick(given, names, where=where)
    lowered = {name.strip().lower(): name for name in reversed(names)}
    return next((lowered[name] for name in usual if name in lowered), None)


def pick(given: str, have: Iterable[str], *, where: str) -> str:
    """The column of that name, in any case."""
    try:
        return closest(given, have, origin=Origin(file=where))
    except PoolError as error:
        raise InputsError(error.problem, rule=error.rule, hint=error.hint) from None
