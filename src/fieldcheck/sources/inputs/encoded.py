"""Images that lie in an npz file as JPEG or PNG, one after the other: bytes, and where each begins."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Kind
from fieldcheck.sources.inputs.images import Form, decode
from fieldcheck.sources.inputs.options import Wanted

BYTES, PLACES = ("data", "jpeg", "png", "bytes"), "offsets"


def encoded_in(shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, Any]) -> str | None:
    """The name of the array of encoded images, where a file has one."""
    flat = (name for name in shapes if name.lower() in BYTES and len(shapes[name]) == 1)
    return next((name for name in flat if PLACES in shapes and types[name] == np.uint8), None)


@dataclass(frozen=True, eq=False)
class EncodedImages:
    """Image i is ``data[offsets[i]:offsets[i + 1]]``, decoded when it is asked for."""

    name: str
    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    form: Form
    ids: Any
    labels: npt.NDArray[Any] | None = None
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: Kind = "image"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def batch(self, start: int, stop: int) -> npt.NDArray[Any]:
        return np.stack([self._pixels(at) for at in range(start, min(stop, len(self)))])

    def _pixels(self, at: int) -> npt.NDArray[Any]:
        name = f"{self.name}: image {at}"
        return self.form.pixels(_image(self.data, self.offsets, at, name), name)


def encoded_images(
    data: npt.NDArray[Any],
    offsets: npt.NDArray[Any],
    wanted: Wanted,
    *,
    name: str,
    labels: npt.NDArray[Any] | None,
    ids: Any,
    classes: tuple[str, ...],
    notes: tuple[str, ...],
) -> EncodedImages:
    """The images of one file; the first one settles their form."""
    places = offsets.astype(np.int64)
    if len(places) < 2 or places[0] < 0 or np.any(np.diff(places) < 0) or places[-1] > len(data):
        raise InputsError(f"{name}: offsets that do not fit the bytes", rule="where each image begins, and the end")
    for what, given in (("labels", labels), ("ids", ids)):
        if given is not None and len(given) != len(places) - 1:
            raise InputsError(f"{name}: {len(given):,} {what} for {len(places) - 1:,} images", rule="one per item")
    form = Form.of(wanted, _image(data, places, 0, name), "the first image")
    known = np.arange(len(places) - 1) if ids is None else ids
    return EncodedImages(name, data, places, form, known, labels, classes, (*notes, *form.notes()))


def _image(data: npt.NDArray[Any], offsets: npt.NDArray[np.int64], at: int, name: str) -> Any:
    return decode(io.BytesIO(data[offsets[at] : offsets[at + 1]].tobytes()), name)
