"""Pictures small enough to be carried in a page."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

SIDE = 320
"""Pixels of the longer side of a thumbnail."""


TINY = 64
"""Pixels of the longer side up to which a picture is enlarged pixel by pixel."""


@dataclass(frozen=True)
class Thumbnail:
    """A small picture; without content where it cannot be shown."""

    content: bytes = b""
    tiny: bool = False


def thumbnail(content: bytes) -> Thumbnail:
    """The picture made small.

    What is no picture, or an absurdly large one, gives none: a report does not fail on a broken file.
    """
    from PIL import Image

    with warnings.catch_warnings():
        # Pillow warns of pictures that unpack to gigabytes; they are left out.
        warnings.simplefilter("error")
        try:
            with Image.open(io.BytesIO(content)) as picture:
                picture.thumbnail((SIDE, SIDE))
                return Thumbnail(_saved(picture), tiny=max(picture.size) <= TINY)
        except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError):
            return Thumbnail()


def _saved(picture: Any) -> bytes:
    """Small and transparent pictures without loss, photographs as JPEG."""
    lossless = max(picture.size) <= TINY or picture.mode not in ("RGB", "L", "CMYK", "YCbCr")
    out = io.BytesIO()
    if lossless:
        modes = ("RGB", "RGBA", "L", "LA", "P", "1")
        (picture if picture.mode in modes else picture.convert("RGB")).save(out, "PNG")
    else:
        picture.convert("RGB").save(out, "JPEG", quality=82)
    return out.getvalue()
