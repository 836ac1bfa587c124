"""What a person sees of an item: its picture, its text, or its row of the table."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy import auxiliary
from fieldcheck.campaign.items.joined import is_table, row_of
from fieldcheck.campaign.items.pictures import ARRAY_FILES, as_png, decoded, pixels_of
from fieldcheck.core.pool.column import is_text, value_at
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources import guessing
from fieldcheck.sources.inputs import images as encoded
from fieldcheck.sources.roles import RECOGNISED

FILE_COLUMNS = ("image", "image_path", "img", "path", "filepath", "file", "file_name", "filename")

TEXT_COLUMNS = (
    *("text", "sentence", "review", "document", "content", "comment", "message", "body"),
    *("question", "tweet", "post", "abstract", "utterance"),
)

VARIABLES = frozenset({*auxiliary.registry, auxiliary.Combined.name, auxiliary.Combined.published})

HIDDEN = VARIABLES.union(*(RECOGNISED[role] for role in ("prediction", "confidence", "target", "outcome")))
"""Columns, in small letters, that would give away the model's answer, its doubts, or the truth of some items."""

MADE_BY_MODELS = re.compile(
    r"p_.+|(y_?)?(prob|proba|probs|probability|probabilities|pred|preds|pred_probs?|predicted|prediction|hat|scores?|"
    r"logits?|softmax|conf|confidence)([ _.:-].*)?"
)
"""Likewise, whatever a model's outputs are usually called: ``p_cat``, ``score``, ``logit_3``, ``Predicted Label``."""

LONGEST_TEXT = 200_000
"""Bytes of a text file that are read."""


@dataclass(frozen=True)
class Content:
    """One item, ready to be shown.

    name
        Its id.
    path, pixels
        Of an image: its file; or, from an array, its values of shape (height, width, channels).
    text
        Of a text, with its line breaks.
    pairs
        Of a row: names of columns and values as text; of an image or a text, the other columns that people may see.
    note
        Why something that was expected is not shown.
    """

    kind: Literal["image", "text", "row"]
    name: str
    path: Path | None = None
    pixels: npt.NDArray[np.uint8] | None = field(default=None, compare=False, repr=False)
    text: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    note: str = ""

    @property
    def media(self) -> str:
        """The media type of an image."""
        return encoded.MEDIA[self.path.suffix.lower()] if self.path is not None else "image/png"

    @property
    def data(self) -> bytes:
        """An image that comes from an array, as a PNG; empty for others."""
        return b"" if self.pixels is None else as_png(self.pixels)

    def read(self) -> bytes:
        """The bytes of an image."""
        return self.data if self.path is None else self.path.read_bytes()


def content_of(items: str | Path, pool: Pool, position: int, *, hidden: Collection[str] = ()) -> Content:
    """What to show of the item at a position of the pool.

    items
        A folder with the items' files; an .npy or .npz file with one image per item, in the order of the pool; or a
        table with what people should see, joined by id. Empty: there are none.
    hidden
        Further columns that are left out, in small letters.

    A file that is named by the id, or by a column such as ``path`` or ``image``, is shown where it lies inside the
    folder; else the one column that is named as texts are; else the other columns. The truth, the prediction, the
    confidence and auxiliary variables are left out: they would bias whoever labels.
    """
    return _content(str(items), pool, position, hidden=HIDDEN.union(hidden))


def _content(place: str, pool: Pool, position: int, *, hidden: frozenset[str]) -> Content:
    name, seen = pool.id_of(position), _row(place, pool, position, hidden)
    if place.lower().endswith(ARRAY_FILES):
        return Content("image", name, pixels=pixels_of(place, len(pool), position), pairs=_without_files(seen))
    found, note = _file(Path(place), pool, position) if place and not is_table(place) else (None, "")
    if found is not None and found.suffix.lower() in encoded.MEDIA:
        shown = encoded.MEDIA[found.suffix.lower()]
        picture = Content("image", name, path=found) if shown else Content("image", name, pixels=decoded(found, name))
        return replace(picture, pairs=_without_files(seen))
    if found is not None:
        return Content("text", name, text=_read_text(found), pairs=_without_files(seen))
    return replace(_of_the_table(name, seen), note=note)


def _row(place: str, pool: Pool, position: int, hidden: frozenset[str]) -> dict[str, Any]:
    """What the tables say about an item and people may see: the second one first, then the pool."""
    joined = row_of(place, pool, position) if is_table(place) else {}
    seen = {name: value for name, value in joined.items() if not _is_hidden(name, value, pool, hidden)}
    own = {name: value_at(pool.columns[name], position) for name in _visible(pool, hidden) if name not in seen}
    return {**seen, **own}


@lru_cache(maxsize=16)
def _visible(pool: Pool, hidden: frozenset[str]) -> tuple[str, ...]:
    """The columns of a pool that give nothing away."""
    return tuple(
        name
        for name, column in pool.columns.items()
        if not _is_hidden(name, "" if is_text(column) else 0, pool, hidden)
        and not guessing.is_answer(name, column, pool.classes)
    )


def _without_files(seen: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _text(value)) for name, value in seen.items() if _plain(name) not in FILE_COLUMNS)


def _of_the_table(name: str, seen: Mapping[str, Any]) -> Content:
    """The one column that is a text, with the others beside it; or all of them."""
    texts = [one for one, value in seen.items() if _plain(one) in TEXT_COLUMNS and isinstance(value, str | None)]
    if len(texts) != 1:
        return Content("row", name, pairs=tuple((one, _text(value)) for one, value in seen.items()))
    rest = tuple((one, _text(value)) for one, value in seen.items() if one != texts[0])
    return Content("text", name, text=_text(seen[texts[0]]), pairs=rest)


def _is_hidden(name: str, value: Any, pool: Pool, hidden: frozenset[str]) -> bool:
    """Whether a column would give away something; numbers under the name of a class are its probabilities."""
    plain = _plain(name)
    if plain in hidden or MADE_BY_MODELS.fullmatch(plain) or guessing.names_prediction(name):
        return True
    return name in pool.classes and not isinstance(value, str)


def _plain(name: str) -> str:
    return name.strip().lower()


def _text(value: Any) -> str:
    if value is None or value != value:  # noqa: PLR0124 -- only nan differs from itself
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _file(folder: Path, pool: Pool, position: int) -> tuple[Path | None, str]:
    """The item's file, and why there is none where a column names one."""
    own = pool.id_of(position)
    for name in (own, *(own + suffix for suffix in encoded.MEDIA)):
        found = inside(folder, name)
        if found is not None and _can_be_shown(found):
            return found, ""
    for column in (name for name in pool.columns if _plain(name) in FILE_COLUMNS):
        named = _text(value_at(pool.columns[column], position))
        found = inside(folder, named)
        if found is not None and _can_be_shown(found):
            return found, ""
        if named:
            return None, _why_not(named, found)
    return None, ""


def _can_be_shown(path: Path) -> bool:
    return path.suffix.lower() in {*encoded.MEDIA, ".txt"}


def _why_not(named: str, found: Path | None) -> str:
    if found is None:
        return f"'{named}' is no file in the folder of the items"
    return f"'{named}' is not shown: only pictures ({', '.join(s[1:] for s in encoded.MEDIA)}) and .txt are"


def inside(folder: Path, name: str) -> Path | None:
    """The file of that name below a folder; None where there is none, or where it is elsewhere, also by a link."""
    try:
        root = folder.resolve(strict=True)
        path = (root / name).resolve(strict=True)
        return path if path.is_relative_to(root) and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _read_text(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.read(LONGEST_TEXT).decode("utf-8", "replace")


def blind(items: str | Path, pool: Pool, positions: Sequence[int]) -> str:
    """Why people would label these items without seeing them; empty where they would not.

    Items whose id or column names a picture, and items that a folder or table was named for, are expected to be shown.
    """
    place = str(items)
    if place and not Path(place).exists():
        return f"{place} is not found"
    shown = [_content(place, pool, at, hidden=HIDDEN) for at in positions]
    named = [_picture_name(pool, at) for at in positions]
    without = [name for one, name in zip(shown, named, strict=True) if name and one.kind != "image"]
    if without and not is_table(place):
        where = f"in {place}" if place else "beside the pool"
        count = "" if len(without) == 1 else f", nor {len(without) - 1:,} more"
        return f"the picture '{without[0]}' is not found {where}{count}"
    if shown and place and not is_table(place) and all(one.kind == "row" for one in shown):
        return f"no file in {place} belongs to one of these items, '{shown[0].name}' for one"
    return ""


def _picture_name(pool: Pool, position: int) -> str:
    """The file that an item is a picture in, by its id or by a column; empty where it is none."""
    columns = [name for name in pool.columns if _plain(name) in FILE_COLUMNS]
    names = [_text(value_at(pool.columns[name], position)) for name in columns] + [pool.id_of(position)]
    return next((name for name in names if name.lower().endswith(tuple(encoded.MEDIA))), "")
