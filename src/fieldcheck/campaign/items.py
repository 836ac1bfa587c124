"""What a person sees of an item: its picture, its text, or its row of the table."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy import auxiliary
from fieldcheck.core import words
from fieldcheck.core.errors import InputsError
from fieldcheck.core.pool.column import Column, is_numeric, is_text, value_at
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files import npz
from fieldcheck.files.damage import decoding
from fieldcheck.sources.inputs.images import DEEP, MEDIA, decode
from fieldcheck.sources.roles import RECOGNISED

FILE_COLUMNS = ("image", "image_path", "img", "path", "filepath", "file", "file_name", "filename")


TEXT_COLUMNS = (
    *("text", "sentence", "review", "document", "content", "comment", "message", "body"),
    *("question", "tweet", "post", "abstract", "utterance"),
)


SUSPICIONS = frozenset({*auxiliary.registry, auxiliary.Combined.name, auxiliary.Combined.published})


HIDDEN = SUSPICIONS.union(*(RECOGNISED[role] for role in ("prediction", "confidence", "target", "outcome")))
"""Columns, in small letters, that would give away the model's answer, its doubts, or the truth of some items."""


MADE_BY_MODELS = re.compile(
    r"p_.+|(y_?)?(prob|proba|probs|probability|probabilities|pred|preds|pred_probs?|predicted|prediction|hat|scores?|"
    r"logits?|softmax|conf|confidence)([ _.:-].*)?"
)
"""Likewise, whatever a model's outputs are usually called: ``p_cat``, ``score``, ``logit_3``, ``Predicted Label``."""


LONGEST_TEXT = 200_000
"""Bytes of a text file that are read."""


ARRAY_FILES = (".npy", ".npz")


CHANNELS = (1, 3, 4)
"""Of a picture: grey, colour, colour with transparency."""


LOOKED_AT = 256
"""Images from which the largest value is taken."""


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
        Of a row: names of columns and values as text.
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
        return MEDIA[self.path.suffix.lower()] if self.path is not None else "image/png"

    @property
    def data(self) -> bytes:
        """An image that comes from an array, as a PNG; empty for others."""
        return b"" if self.pixels is None else _png(self.pixels)

    def read(self) -> bytes:
        """The bytes of an image."""
        return self.data if self.path is None else self.path.read_bytes()


def content_of(items: str | Path, pool: Pool, position: int, *, hidden: Collection[str] = ()) -> Content:
    """What to show of the item at a position of the pool.

    items
        A folder with the items' files; or an .npy or .npz file with one image per item, in the order of the pool.
        Empty: there are none.
    hidden
        Further columns that are left out, in small letters.

    A file that is named by the id, or by a column such as ``path`` or ``image``, is shown where it lies inside the
    folder; else the one column that is named as texts are; else the other columns. The truth, the prediction, the
    confidence and auxiliary variables are left out: they would bias whoever labels.
    """
    return _content(str(items), pool, position, hidden=HIDDEN.union(hidden))


def _content(place: str, pool: Pool, position: int, *, hidden: frozenset[str]) -> Content:
    name = pool.id_of(position)
    if place.lower().endswith(ARRAY_FILES):
        return Content("image", name, pixels=_pixels(place, len(pool), position))
    found, note = _file(Path(place), pool, position) if place else (None, "")
    if found is not None and found.suffix.lower() in MEDIA:
        shown = MEDIA[found.suffix.lower()]
        return Content("image", name, path=found) if shown else Content("image", name, pixels=_decoded(found, name))
    if found is not None:
        return Content("text", name, text=_read_text(found))
    return replace(_of_the_table(pool, position, hidden), note=note)


def _of_the_table(pool: Pool, position: int, hidden: frozenset[str]) -> Content:
    columns = {name: column for name, column in pool.columns.items() if not _is_hidden(name, pool, hidden)}
    texts = [name for name, column in columns.items() if _plain(name) in TEXT_COLUMNS and is_text(column)]
    if len(texts) == 1:
        return Content("text", pool.id_of(position), text=_text(value_at(columns[texts[0]], position)))
    pairs = tuple((name, _text(value_at(column, position))) for name, column in columns.items())
    return Content("row", pool.id_of(position), pairs=pairs)


def _is_hidden(name: str, pool: Pool, hidden: frozenset[str]) -> bool:
    """Whether a column would give away something; numbers under the name of a class are its probabilities."""
    plain = _plain(name)
    if plain in hidden or MADE_BY_MODELS.fullmatch(plain):
        return True
    return name in pool.classes and not is_text(pool.columns[name])


COPIED = 0.999
"""Share of the values that a column has in common with what a model made, from which on it is a copy of it."""


def copies(pools: Sequence[Pool]) -> frozenset[str]:
    """Columns of the first pool, in small letters, that repeat a prediction, a confidence or a probability.

    Whatever such a column is called, it would bias whoever labels. Classes that few items are not of are not told
    apart from a column that says the same of nearly all items: both are hidden.
    """
    made = [values for pool in pools for values in _made(pool)]
    columns = pools[0].columns.items()
    return frozenset(_plain(name) for name, column in columns if any(_repeats(column, values) for values in made))


def _made(pool: Pool) -> list[npt.NDArray[Any]]:
    said = pool.predictions
    if said is not None and pool.task == "classification":
        said = np.array(pool.classes, dtype=object)[said]
    chances = [] if pool.probabilities is None else list(np.asarray(pool.probabilities).T)
    return [values for values in (said, pool.confidence, *chances) if values is not None]


def _repeats(column: Column, values: npt.NDArray[Any]) -> bool:
    """Whether a column says the same, up to a change of unit (percent), or of sign (one minus it)."""
    if values.dtype.kind == "O" or is_text(column):
        words = np.array([_text(value_at(column, at)) for at in range(min(len(values), LOOKED_AT))], dtype=object)
        return values.dtype.kind == "O" and bool(np.mean(words == values[: len(words)]) >= COPIED)
    if not is_numeric(column):
        return False
    mine, theirs = np.asarray(column, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if not np.isfinite(mine).all() or mine.std() == 0 or theirs.std() == 0:
        return False
    return bool(abs(np.corrcoef(mine, theirs)[0, 1]) >= COPIED)


def _plain(name: str) -> str:
    return name.strip().lower()


def _text(value: Any) -> str:
    if value is None or value != value:  # noqa: PLR0124 -- only nan differs from itself
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _file(folder: Path, pool: Pool, position: int) -> tuple[Path | None, str]:
    """The item's file, and why there is none where a column names one."""
    own = pool.id_of(position)
    for name in (own, *(own + suffix for suffix in MEDIA)):
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
    return path.suffix.lower() in {*MEDIA, ".txt"}


def _why_not(named: str, found: Path | None) -> str:
    if found is None:
        return f"'{named}' is no file in the folder of the items"
    return f"'{named}' is not shown: only pictures ({', '.join(s[1:] for s in MEDIA)}) and .txt are"


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


def _pixels(place: str, size: int, position: int) -> npt.NDArray[np.uint8]:
    images, largest = _images(place, _changed(place))
    if len(images) != size:
        raise InputsError(
            f"{place} holds {words.counted(len(images), 'image')} for {words.counted(size, 'item')}",
            rule="one image per item, in the pool's order",
        )
    return shades(upright(images[position]), largest)


def _changed(place: str) -> int:
    try:
        return os.stat(place).st_mtime_ns
    except OSError as error:
        raise InputsError(f"{place} cannot be read: {error.strerror}", rule="a folder, or an array of images") from None


@lru_cache(maxsize=4)
def _images(place: str, changed: int) -> tuple[npt.NDArray[Any], float]:
    """The images of a file, and the value that is shown as white; ``changed`` makes a new file be read anew."""
    with decoding(place, InputsError, rule="arrays of numbers, not pickled"):
        images = next((array for array in _arrays(place) if _are_images(array)), None)
    if images is None:
        raise InputsError(
            f"{place} holds no images", rule="an array of shape (items, height, width), with or without channels"
        )
    few = images[:LOOKED_AT]
    return images, 1.0 if images.dtype.kind == "b" or float(np.nanmax(few)) <= 1.0 else 255.0


def _arrays(place: str) -> list[npt.NDArray[Any]]:
    """The array of a file, left on disk, or those of an archive."""
    if place.lower().endswith(".npy"):
        return [np.load(place, mmap_mode="r", allow_pickle=False)]
    return list(npz.read_npz(place, InputsError).values())


def upright(image: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One image as (height, width, channels), also from (height, width) and from torch's (channels, height, width)."""
    if image.ndim == 2:
        return image[:, :, None]
    if image.shape[2] not in CHANNELS and image.shape[0] in CHANNELS:
        return np.moveaxis(image, 0, 2)
    return image


def shades(image: npt.NDArray[Any], largest: float) -> npt.NDArray[np.uint8]:
    """Values as 0 to 255: those of bytes as they are, others relative to ``largest``."""
    if image.dtype == np.uint8:
        return image
    filled = np.nan_to_num(image.astype(np.float64), nan=0.0, posinf=largest, neginf=0.0)
    return np.rint(np.clip(filled / largest, 0.0, 1.0) * 255).astype(np.uint8)


def _decoded(path: Path, name: str) -> npt.NDArray[np.uint8]:
    """A file that browsers do not show."""
    image = decode(path, name)
    array = np.asarray(image if image.mode.startswith(DEEP) else image.convert("RGB"))
    return shades(upright(array), max(float(array.max()), 1.0))


def _png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A picture of shape (height, width, channels) as a file."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else np.ascontiguousarray(pixels)).save(out, "PNG")
    return out.getvalue()


def _are_images(array: npt.NDArray[Any]) -> bool:
    numeric = array.dtype.kind in "iufb" and array.size > 0
    if not numeric or array.ndim not in (3, 4):
        return False
    return array.ndim == 3 or array.shape[3] in CHANNELS or array.shape[1] in CHANNELS
