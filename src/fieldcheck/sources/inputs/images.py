"""Image files to arrays of 8 bits, all of one size and with the same channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Kind
from fieldcheck.files import limits
from fieldcheck.files.damage import decoding
from fieldcheck.sources.inputs.options import Wanted

MEDIA = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
    ".tif": "",
    ".tiff": "",
    ".ppm": "",
    ".pgm": "",
}
"""What an image is, by suffix, and its media type; empty where browsers do not show it. SVG can carry scripts."""


SUFFIXES = frozenset(MEDIA)


FORMATS = ("PNG", "JPEG", "BMP", "WEBP", "GIF", "TIFF", "PPM", "AVIF")
"""What Pillow may try, where it knows it: none of these starts another program."""


GREY = frozenset({"1", "L", "LA"})


DEEP = ("I", "F")
"""Beginnings of Pillow's names for more than 8 bits a channel."""


DECODERS = 4
"""Threads that decode; Pillow lets go of the interpreter while it does."""


Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Form:
    """What every image is brought to.

    colour
        ``auto``: the first image decides; where it is grey, one in colour is refused.
    resize
        Width and height; None leaves images as they are.
    shape
        Of every array; None until the first image is known.
    first
        The name of the first image, for messages.
    strict
        Whether the first image chose the colour, and nobody asked to turn the others.
    """

    colour: Literal["auto", "rgb", "grey"] = "auto"
    resize: tuple[int, int] | None = None
    shape: tuple[int, ...] | None = None
    first: str = ""
    strict: bool = False

    @classmethod
    def of(cls, wanted: Wanted, image: Any, name: str) -> Form:
        """The form that the first image settles."""
        asked = cls(wanted.colour, wanted.resize())
        if asked.colour == "auto":
            asked = replace(asked, colour="grey" if image.mode in GREY else "rgb", strict=True)
        return replace(asked, shape=asked.pixels(image, name).shape, first=name)

    def pixels(self, image: Any, name: str) -> Pixels:
        """An image of Pillow as height x width, or height x width x 3."""
        from PIL import Image

        if image.mode.startswith(DEEP):
            raise InputsError(
                f"{name} has more than 8 bits a channel ({image.mode})",
                rule="image files have 8 bits a channel",
                hint="an array in a .npy or .npz file, which may hold any numbers",
            )
        self._check_colour(image, name)
        brought = image.convert("L" if self.colour == "grey" else "RGB")
        if self.resize is not None and brought.size != self.resize:
            brought = brought.resize(self.resize, Image.Resampling.BILINEAR)
        array = np.asarray(brought)
        self._check_shape(array, name)
        return array

    def _check_colour(self, image: Any, name: str) -> None:
        if self.strict and self.colour == "grey" and image.mode not in GREY:
            raise InputsError(
                f"{name} is in colour, {self.first} is grey",
                rule="all images have the same channels",
                hint="--colour rgb, or --colour grey to turn all of them",
            )

    def _check_shape(self, array: Pixels, name: str) -> None:
        if self.shape is not None and array.shape != self.shape:
            raise InputsError(
                f"{name} has {_size(array.shape)} pixels, {self.first} has {_size(self.shape)}",
                rule="a model gets images of one size",
                hint=f"--size {_size(self.shape)}",
            )

    def notes(self) -> tuple[str, ...]:
        """What was decided."""
        said = f"images: {_size(self.shape or (0, 0))} pixels, {self.colour}"
        return (said + (", resized (bilinear)" if self.resize else ""),)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}x{shape[0]}"


def decode(path: Path | BinaryIO, name: str) -> Any:
    """The image in a file, decoded in full; an error names the file."""
    from PIL import Image

    Image.init()
    held = _held(path)
    if not isinstance(path, Path):
        path.seek(0)
    with (
        decoding(
            name,
            InputsError,
            rule="complete image files: " + ", ".join(FORMATS),
            hint="--skip-broken to leave out what cannot be read",
        ),
        Image.open(path, formats=[one for one in FORMATS if one in Image.OPEN]) as image,
    ):
        limits.check_size(name, image.width * image.height * len(image.getbands()), InputsError, held=held)
        image.load()
        return image


def _held(source: Path | BinaryIO) -> int:
    """Bytes on disk, or in memory."""
    return source.stat().st_size if isinstance(source, Path) else source.seek(0, 2)


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Files that are decoded when they are asked for; the ids are the paths as the user knows them."""

    name: str
    ids: list[str]
    paths: Sequence[Path]
    form: Form
    labels: npt.NDArray[Any] | None = None
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: Kind = "image"

    def __len__(self) -> int:
        return len(self.paths)

    def batch(self, start: int, stop: int) -> Pixels:
        return np.stack(_in_threads(self._pixels, range(start, min(stop, len(self)))))

    def _pixels(self, position: int) -> Pixels:
        name = self.ids[position]
        return self.form.pixels(decode(self.paths[position], name), name)


def broken(paths: Sequence[Path], names: Sequence[str]) -> list[str]:
    """One per file: why it cannot be decoded, or nothing."""

    def problem(position: int) -> str:
        try:
            decode(paths[position], names[position])
        except InputsError as error:
            return error.problem
        return ""

    return _in_threads(problem, range(len(paths)))


def _in_threads(work: Callable[[int], Any], positions: range) -> list[Any]:
    with ThreadPoolExecutor(DECODERS) as pool:
        return list(pool.map(work, positions))
