"""Pictures from arrays and from files that browsers do not show."""

from __future__ import annotations

import io
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core import words
from fieldcheck.core.errors import InputsError
from fieldcheck.files import npz
from fieldcheck.files.damage import decoding
from fieldcheck.sources.inputs import images as encoded

ARRAY_FILES = (".npy", ".npz")

CHANNELS = (1, 3, 4)
"""Of a picture: grey, colour, colour with transparency."""

LOOKED_AT = 256
"""Images from which the largest value is taken."""


def pixels_of(place: str, size: int, position: int) -> npt.NDArray[np.uint8]:
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


def decoded(path: Path, name: str) -> npt.NDArray[np.uint8]:
    """A file that browsers do not show."""
    image = encoded.decode(path, name)
    array = np.asarray(image if image.mode.startswith(encoded.DEEP) else image.convert("RGB"))
    return shades(upright(array), max(float(array.max()), 1.0))


def as_png(pixels: npt.NDArray[np.uint8]) -> bytes:
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
