"""Small grey pictures as PNG files."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt


def grey_png(image: npt.NDArray[np.float64], *, scale: int = 8) -> bytes:
    """A grey image, values from 0 (white) to 1 (black), each cell ``scale`` pixels wide."""
    shades = np.rint((1.0 - np.clip(image, 0.0, 1.0)) * 255).astype(np.uint8)
    pixels = np.kron(shades, np.ones((scale, scale), dtype=np.uint8))
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
