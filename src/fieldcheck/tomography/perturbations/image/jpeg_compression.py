"""Artefacts of JPEG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, check_choice

Scale = Literal["cifar", "imagenet"]


_QUALITIES: dict[str, tuple[int, ...]] = {"cifar": (80, 65, 58, 50, 40), "imagenet": (25, 18, 15, 10, 7)}


_BRIGHTNESS = [
    *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56),
    *(14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92),
    *(49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
]


_COLOUR = [
    *(17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99),
    *(47, 66, *[99] * 38),
]


_TABLES = np.array([_BRIGHTNESS, _COLOUR], dtype=np.float64)


_STEPS = 2.0**16


@dataclass(frozen=True)
class JpegCompression(ImagePerturbation):
    """What JPEG loses: colours at half the resolution, and 8 x 8 blocks whose frequencies are rounded coarsely.

    The loss is computed, no file is made: the standard's tables (ITU-T T.81, annex K) scaled by quality as libjpeg
    does, colour by averages of 2 x 2 pixels and libjpeg's smooth enlarging. The result is that of an encoder and a
    decoder to within rounding, for a batch at a time, and does not depend on the library that is installed.

    scale
        Qualities: ``cifar`` 80, 65, 58, 50, 40; ``imagenet`` 25, 18, 15, 10, 7.

    amounts
        Qualities, 1 to 100, one per level, instead of these.
    """

    name: ClassVar[str] = "jpeg-compression"
    title: ClassVar[str] = "JPEG artefacts"
    paper: ClassVar[str] = "Hendrycks and Dietterich, ICLR 2019; ITU-T T.81"

    scale: Scale = "cifar"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_QUALITIES))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        bright, colour = _tables(np.array((100, *(self.amounts or _QUALITIES[self.scale])))[severity])
        whole = np.rint(pixels).astype(np.float64)
        if pixels.shape[3] == 1:
            return _coarse(whole[..., 0], bright)[..., None].astype(np.float32)
        luma, blue, red = _to_ycc(whole)
        height, width = luma.shape[1:]
        chroma = (_enlarged(_coarse(_halved(part), colour), height, width) for part in (blue, red))
        return _to_rgb(_coarse(luma, bright), *chroma).astype(np.float32)


def _tables(quality: IntArray) -> FloatArray:
    """Divisors by kind (brightness, colour), item and frequency, as libjpeg scales them."""
    percent = np.where(quality < 50, 5000 // quality, 200 - 2 * quality)[:, None]
    return np.asarray(np.clip((_TABLES[:, None, :] * percent + 50) // 100, 1, 255))


def _coarse(plane: FloatArray, divisors: FloatArray) -> FloatArray:
    """One plane with its frequencies rounded to multiples of ``divisors`` (one row per item); whole numbers 0..255."""
    items, height, width = plane.shape
    blocks = _blocks(plane - 128)
    frequencies = blocks @ _DCT.T
    divisors = divisors[:, None, None, :]
    kept = (np.rint(frequencies / divisors) * divisors) @ _DCT
    joined = kept.reshape(*kept.shape[:3], 8, 8).swapaxes(2, 3).reshape(items, kept.shape[1] * 8, kept.shape[2] * 8)
    return np.asarray(np.clip(np.rint(joined[:, :height, :width]) + 128, 0, 255))


def _blocks(plane: FloatArray) -> FloatArray:
    """Items x rows of blocks x blocks x 64; the border is repeated to fill the last blocks."""
    _, height, width = plane.shape
    padded = np.pad(plane, ((0, 0), (0, -height % 8), (0, -width % 8)), mode="edge")
    rows, columns = padded.shape[1] // 8, padded.shape[2] // 8
    return padded.reshape(-1, rows, 8, columns, 8).swapaxes(2, 3).reshape(-1, rows, columns, 64)


def _dct() -> FloatArray:
    """The cosine transform of a block, 64 x 64, in steps of 2**-16: sums with bytes are then exact."""
    at, frequency = np.arange(8), np.arange(8)[:, None]
    line = np.cos((2 * at + 1) * frequency * np.pi / 16) * np.where(frequency == 0, np.sqrt(1 / 8), 0.5)
    return np.asarray(np.rint(np.kron(line, line) * _STEPS) / _STEPS)


_DCT = _dct()


def _to_ycc(rgb: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Brightness and two differences of colour (ITU-R BT.601, full range), whole numbers."""
    red, green, blue = np.moveaxis(rgb, 3, 0)
    luma = np.rint(0.299 * red + 0.587 * green + 0.114 * blue)
    cb = np.rint(128 - 0.168735892 * red - 0.331264108 * green + 0.5 * blue)
    cr = np.rint(128 + 0.5 * red - 0.418687589 * green - 0.081312411 * blue)
    return luma, np.minimum(cb, 255), np.minimum(cr, 255)


def _to_rgb(luma: FloatArray, cb: FloatArray, cr: FloatArray) -> FloatArray:
    cb, cr = cb - 128, cr - 128
    return np.stack([luma + 1.402 * cr, luma - 0.344136286 * cb - 0.714136286 * cr, luma + 1.772 * cb], axis=3)


def _halved(plane: FloatArray) -> FloatArray:
    """Averages of 2 x 2 pixels."""
    _, height, width = plane.shape
    padded = np.pad(plane, ((0, 0), (0, height % 2), (0, width % 2)), mode="edge")
    return np.rint((padded[:, ::2, ::2] + padded[:, 1::2, ::2] + padded[:, ::2, 1::2] + padded[:, 1::2, 1::2]) / 4)


def _enlarged(plane: FloatArray, height: int, width: int) -> FloatArray:
    """Twice as large each way: three parts of the nearest pixel, one of the next, along each axis."""
    return np.rint(_doubled(_doubled(plane, 1), 2)[:, :height, :width])


def _doubled(plane: FloatArray, axis: int) -> FloatArray:
    before = np.take(plane, [0, *range(plane.shape[axis] - 1)], axis=axis)
    after = np.take(plane, [*range(1, plane.shape[axis]), plane.shape[axis] - 1], axis=axis)
    both = np.stack([3 * plane + before, 3 * plane + after], axis=axis + 1) / 4
    shape = list(plane.shape)
    shape[axis] *= 2
    return both.reshape(shape)
