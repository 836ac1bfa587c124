"""Arrays: ``.npy`` and ``.npz`` files, memory-mapped where that is possible, and arrays from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs, Kind, Subset
from fieldcheck.files import npz
from fieldcheck.files.damage import decoding
from fieldcheck.sources.inputs.base import BySuffix
from fieldcheck.sources.inputs.encoded import PLACES, encoded_images, encoded_in
from fieldcheck.sources.inputs.options import IDS, LABELS, Wanted, label_in, named, pick

Array = npt.NDArray[Any]


INPUTS = ("images", "x", "inputs", "data", "features", "texts", "text", "arr_0")
"""Usual names of the array of inputs, in small letters."""


PAIRS = {"x": "y", "images": "labels", "inputs": "targets", "data": "target"}
"""Beginnings and endings of names of inputs, and what stands there in the name of their labels: x_test, y_test."""


BOXES, BOX_PLACES = "boxes", "box_offsets"
"""True boxes of all images one after the other, and where those of each image begin."""


CORNERS = {"x0", "y0", "x1", "y1"}


@dataclass(frozen=True, eq=False)
class ArrayInputs:
    """One array with one row per item, or an array of texts; possibly still on disk."""

    name: str
    kind: Kind
    given: Any
    array: Array
    labels: Array | None = None
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.array)

    @property
    def ids(self) -> Any:
        """One per item: those given, else 0, 1, ..."""
        return np.arange(len(self)) if self.given is None else self.given

    def known(self, start: int, stop: int) -> tuple[Any, Array | None]:
        """Ids and labels of some items."""
        ids = np.arange(start, stop) if self.given is None else self.given[start:stop]
        return ids, None if self.labels is None else self.labels[start:stop]

    def batch(self, start: int, stop: int) -> Any:
        rows = np.asarray(self.array[start:stop])
        if self.kind != "text":
            return rows
        with decoding(self.name, InputsError, rule="texts"):  # numbers beyond Unicode are no letters
            return rows.tolist()


def from_npy(path: Path, wanted: Wanted) -> ArrayInputs:
    """The array in a file, memory-mapped; nothing is unpickled."""
    with decoding(path, InputsError, rule="a complete file as numpy.save writes it, without Python objects"):
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    return from_array(array, wanted, name=path.stem)


def from_npz(path: Path, wanted: Wanted) -> Inputs:
    """An array of the file as inputs, beside it their labels and ids where they are there."""
    with npz.open_npz(path, InputsError) as file:
        shapes = {name: header.shape for name, header in file.headers.items()}
        encoded = encoded_in(shapes, {name: header.dtype for name, header in file.headers.items()})
        chosen = encoded if encoded and wanted.part in (None, encoded) else _chosen(path, shapes, wanted)
        boxed = {BOXES, BOX_PLACES} <= set(shapes) and wanted.label in (None, BOXES)
        label = BOXES if boxed else label_in(wanted, _label_names(chosen), file.headers, where=str(path))
        id_name = named(wanted.id, IDS, file.headers, where=str(path))
        names = next((name for name in ("classes", "class_names") if name in file.headers), None)
        only = None if wanted.where is None else pick(wanted.where.partition("=")[0].strip(), shapes, where=str(path))
        beside = (PLACES if chosen == encoded else None, BOX_PLACES if boxed else None)
        found = file.read({name for name in (chosen, label, id_name, names, only, *beside) if name}, mapped=True)
        mapped = npz.is_plain(file.headers[chosen])
    notes = [f"inputs: the array '{chosen}'" + (f", labels '{label}'" if label else "")]
    if not mapped:
        notes.append(f"'{chosen}' is compressed and was read whole: np.savez without compression is read as needed")
    labels = None if label is None else found[label]
    if boxed:
        labels = boxes_by_image(found[BOXES], found[BOX_PLACES], wanted.boxes, where=str(path))
    rest: dict[str, Any] = {
        "name": path.stem,
        "labels": labels,
        "ids": None if id_name is None else found[id_name],
        "classes": () if names is None or found[names].ndim != 1 else tuple(map(str, found[names])),
        "notes": tuple(notes),
    }
    opened: Inputs
    if chosen == encoded:
        opened = encoded_images(found[chosen], found[PLACES], wanted, **rest)
    else:
        opened = from_array(found[chosen], wanted, **rest)
    return opened if only is None else _those(opened, found[only], str(wanted.where))


def _those(inputs: Inputs, values: Array, where: str) -> Inputs:
    """Items for which an array has the value that was asked for."""
    value = where.partition("=")[2].strip(" =\"'")
    fits = [str(one) == value for one in values.tolist()]
    if len(fits) != len(inputs) or not any(fits):
        raise InputsError(f"{inputs.name}: no item with {where}", rule="NAME=VALUE, an array with one value per item")
    return Subset(inputs, np.flatnonzero(fits).astype(np.int64))


def boxes_by_image(boxes: Array, places: Array, columns: str, *, where: str) -> Array:
    """True boxes of each image, ``x0, y0, x1, y1, class``; a class of nan where there is none."""
    names = [name.strip() for name in columns.split(",")]
    wide = {"w", "h"} <= set(names)
    needed = {"x", "y", "w", "h"} if wide and "x" in names else {"cx", "cy", "w", "h"} if wide else CORNERS
    ends = places.astype(np.int64)
    if not needed <= set(names) or boxes.ndim != 2 or boxes.shape[1] != len(names):
        raise InputsError(
            f"{where}: boxes of shape {boxes.shape}, columns '{columns}'",
            rule="one name per column: x0,y0,x1,y1 or x,y,w,h or cx,cy,w,h, and class",
            hint='boxes = "class,x0,y0,x1,y1" in [data]',
        )
    if len(ends) < 2 or np.any(np.diff(ends) < 0) or ends[-1] != len(boxes):
        raise InputsError(f"{where}: box_offsets do not fit", rule="where the boxes of each image begin, and the end")
    by_name = {name: boxes[:, at].astype(np.float64) for at, name in enumerate(names)}
    rows = np.column_stack([*_corners(by_name, needed), by_name.get("class", np.full(len(boxes), np.nan))])
    found = np.empty(len(ends) - 1, dtype=object)
    for at in range(len(found)):
        found[at] = rows[ends[at] : ends[at + 1]]
    return found


def _corners(columns: Mapping[str, Array], needed: set[str]) -> list[Array]:
    if needed == CORNERS:
        return [columns[name] for name in ("x0", "y0", "x1", "y1")]
    width, height = columns["w"], columns["h"]
    left = columns["x"] if "x" in needed else columns["cx"] - width / 2
    top = columns["y"] if "y" in needed else columns["cy"] - height / 2
    return [left, top, left + width, top + height]


def from_array(
    array: Array,
    wanted: Wanted,
    *,
    name: str = "inputs",
    labels: Array | None = None,
    ids: Any = None,
    classes: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> ArrayInputs:
    """Items along the first axis. Channels-first images are turned: inputs are height x width x channels."""
    kind = wanted.kind or _kind(array)
    _check(array, kind, name=name, lengths={"labels": labels, "ids": ids})
    if kind == "image" and _channels_first(array.shape):
        array = np.moveaxis(array, 1, -1)
        notes += (f"images of shape {array.shape[-1]} x ... were read as channels first",)
    return ArrayInputs(
        name=name,
        kind=kind,
        given=ids,
        array=array,
        labels=None if labels is None else np.asarray(labels).reshape(len(labels)),
        classes=classes,
        notes=notes,
    )


def _kind(array: Array) -> Kind:
    if array.dtype.kind in "UT" and array.ndim == 1:
        return "text"
    return "image" if array.ndim in (3, 4) else "row"


def _channels_first(shape: tuple[int, ...]) -> bool:
    return len(shape) == 4 and shape[1] in (1, 3) and shape[3] not in (1, 3, 4)


def _check(array: Array, kind: Kind, *, name: str, lengths: Mapping[str, Any]) -> None:
    good = {"text": "UT", "image": "iufb", "row": "iufb"}[kind]
    if array.ndim < (1 if kind == "text" else 2) or array.dtype.kind not in good:
        raise InputsError(
            f"{name}: {array.dtype} of shape {array.shape} for inputs of kind '{kind}'",
            rule="one row per item: images n x height x width (x channels), rows n x features, or n texts",
        )
    if not len(array):
        raise InputsError(f"{name}: there is no item", rule="at least one item")
    for what, values in lengths.items():
        if values is not None and len(values) != len(array):
            raise InputsError(f"{name}: {len(values):,} {what} for {len(array):,} items", rule="one per item")


def _chosen(path: Path, shapes: Mapping[str, tuple[int, ...]], wanted: Wanted) -> str:
    """The array of inputs: the one asked for, else the only usual name, else the only one that is not flat."""
    asked = wanted.part or (wanted.columns[0] if wanted.columns else None) or wanted.one_text()
    if asked:
        return pick(asked, shapes, where=str(path))
    usual = [name for name in shapes if name.lower() in INPUTS]
    wide = [name for name, shape in shapes.items() if len(shape) > 1]
    for found in (usual, wide):
        if len(found) == 1:
            return found[0]
    raise InputsError(
        f"{path}: which array holds the inputs?" if shapes else f"{path}: there is no array",
        rule="arrays: " + ", ".join(f"{name} {shape}" for name, shape in shapes.items()),
        hint=f"{path}#{wide[-1] if wide else next(iter(shapes), 'images')}",
    )


def _label_names(chosen: str) -> tuple[str, ...]:
    """Where the labels of an array may be: x_test has y_test, images has labels."""
    lowered = chosen.lower()
    paired = [
        lowered.replace(own, other, 1) if lowered.startswith(own) else lowered[: -len(own)] + other
        for own, other in PAIRS.items()
        if lowered.startswith(own) or lowered.endswith(own)
    ]
    return (*paired, *LABELS)


@dataclass(frozen=True)
class NpyFile(BySuffix):
    """One array."""

    name: ClassVar[str] = "npy"
    suffixes: ClassVar[tuple[str, ...]] = (".npy",)

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        return from_npy(path, wanted)


@dataclass(frozen=True)
class NpzFile(BySuffix):
    """One array of several, beside it labels and ids."""

    name: ClassVar[str] = "npz"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        return from_npz(path, wanted)
