"""What a model is run on: items that are read when they are needed, never all at once."""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

import numpy.typing as npt

Kind = Literal["image", "text", "row"]


@runtime_checkable
class Inputs(Protocol):
    """Items in a fixed order.

    name
        The stem of the file, or the name of the folder.
    kind
        ``image``: arrays of height x width (x channels). ``text``: strings. ``row``: numbers, one per feature.
    ids
        One per item: relative paths with forward slashes, a column of ids, or 0, 1, ...
    labels
        One per item where the source knows them, else None: class names or codes, or numbers (regression).
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def ids(self) -> Any: ...

    @property
    def labels(self) -> npt.NDArray[Any] | None: ...

    def __len__(self) -> int: ...

    def batch(self, start: int, stop: int) -> Any:
        """Items from ``start`` up to ``stop``: one array with one row per item, or a list of texts."""
        ...
