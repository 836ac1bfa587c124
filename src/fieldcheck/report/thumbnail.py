"""Pictures small enough to be carried in a page."""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass
from typing import Any

SIDE = 320
"""Pixels of the longer side of a thumbnail."""


TINY = 64
"""Pixels of the longer side up to which a picture is enlarged pixel by pixel."""


LARGEST = 200_000
"""Bytes of a picture that is taken as it is, where there is no imaging library to make it smaller."""


_SHOWN = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF")


@dataclass(frozen=True)
class Thumbnail:
    """A small picture; without content where it cannot be shown."""

    content: bytes = b""
    tiny: bool = False


def thumbnail(content: bytes) -> Thumbnail:
    """The picture made small with Pillow; without Pillow as it is, if it is small already.

    What is no picture, or an absurdly large one, gives none: a report does not fail on a broken file.
    """
    try:
        from PIL import Image
    except ImportError:
        return _as_it_is(content)
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


def _as_it_is(content: bytes) -> Thumbnail:
    if len(content) > LARGEST or not content.startswith(_SHOWN):
        return Thumbnail()
    return Thumbnail(content, tiny=max(_png_size(content)) <= TINY)


def _png_size(content: bytes) -> tuple[int, int]:
    """Width and height, from the header; of other kinds they are not known and taken to be large."""
    if not content.startswith(_SHOWN[0]) or len(content) < 24:
        return TINY + 1, TINY + 1
    width, height = struct.unpack(">II", content[16:24])
    return width, height
