"""Arrays of pixels as PNG files, without an imaging library."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

COLOUR_TYPES = {1: 0, 3: 2, 4: 6}
"""By number of channels, the colour type of PNG: grey, colour, colour with transparency."""


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A picture of shape (height, width, channels) with 1, 3 or 4 channels, as a file (PNG, ISO/IEC 15948)."""
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPES[channels], 0, 0, 0)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows, 6)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def upright(image: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One image as (height, width, channels), also from (height, width) and from torch's (channels, height, width)."""
    if image.ndim == 2:
        return image[:, :, None]
    if image.shape[2] not in COLOUR_TYPES and image.shape[0] in COLOUR_TYPES:
        return np.moveaxis(image, 0, 2)
    return image


def shades(image: npt.NDArray[Any], largest: float) -> npt.NDArray[np.uint8]:
    """Values as 0 to 255: those of bytes as they are, others relative to ``largest``."""
    if image.dtype == np.uint8:
        return image
    filled = np.nan_to_num(image.astype(np.float64), nan=0.0, posinf=largest, neginf=0.0)
    return np.rint(np.clip(filled / largest, 0.0, 1.0) * 255).astype(np.uint8)
