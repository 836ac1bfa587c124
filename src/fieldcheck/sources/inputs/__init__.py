"""What a model is run on: files, folders and objects as items that are read when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.core.registry import Registry
from fieldcheck.sources.inputs import objects
from fieldcheck.sources.inputs.arrays import NpyFile, NpzFile
from fieldcheck.sources.inputs.base import InputSource
from fieldcheck.sources.inputs.files import ImageFolder, ListFile
from fieldcheck.sources.inputs.huggingface import SavedDataset
from fieldcheck.sources.inputs.images import SUFFIXES
from fieldcheck.sources.inputs.options import Colour, Wanted
from fieldcheck.sources.inputs.tables import CsvFile, ParquetFile

__all__ = ["open_inputs", "registry"]


registry: Registry[InputSource] = Registry(
    "source of inputs",
    "fieldcheck.inputs",
    NpyFile,
    NpzFile,
    CsvFile,
    ParquetFile,
    ListFile,
    SavedDataset,
    ImageFolder,
    error=InputsError,
    hint="",
)
"""In the order in which they are asked, but for those that are always last."""


def open_inputs(  # noqa: PLR0913 -- every kind of source has its own choices, all optional
    source: Any,
    *,
    kind: Kind | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,
    columns: Sequence[str] = (),
    size: str | None = None,
    colour: Colour = "auto",
    skip_broken: bool = False,
    label_required: bool = True,
    encoding: str | None = None,
    boxes: str = "x0,y0,x1,y1,class",
    where: str | None = None,
) -> Inputs:
    """The items behind a path or an object; whatever already is ``Inputs`` is given back.

    source
        A folder of images (sub-folders name the classes), a ``.txt`` list of image files, ``.npy``, ``.npz``, CSV,
        Parquet, a folder written by ``save_to_disk`` of Hugging Face datasets; in Python also arrays, lists of texts,
        data frames, Hugging Face datasets, and whatever has ``len`` and items, such as a torch Dataset. A part of a
        file is named after a ``#``: an array of an npz (``mnist.npz#x_test``), a split of saved datasets.
    kind
        ``image``, ``text`` or ``row``, where it is not what the source looks like.
    text, label, id
        The column (or array) of the texts, of the labels and of the ids; recognised by usual names where not given.
        Several columns of texts in a table make items of several texts: each is a tuple of them.
    label_required
        Whether a ``label`` that is not there is an error: a field need not have what its reference has.
    columns
        Of a table, the features in their order; of an npz, the array of inputs.
    size, colour
        Images: ``WIDTHxHEIGHT`` to resize to; ``rgb`` or ``grey``. By default the first image decides, and one that
        does not fit is an error.
    skip_broken
        Images: decode every file once beforehand and leave out those that cannot be read. They are not items then:
        whatever is estimated is about the others.
    encoding
        Of a text file that is not UTF-8.
    boxes
        Of an npz with true boxes (``boxes``, and ``box_offsets`` where those of an image begin): their columns.
    where
        Of an npz: ``NAME=VALUE``, only items for which the array of that name has that value.
    """
    path, part = _split(source)
    wanted = Wanted(
        kind=kind,
        text=(text,) if isinstance(text, str) else tuple(text or ()),
        label=label,
        id=id,
        columns=tuple(columns),
        size=size,
        colour="grey" if str(colour) == "gray" else colour,
        skip_broken=skip_broken,
        encoding=encoding,
        part=part,
        label_required=label_required,
        boxes=boxes,
        where=where,
    )
    return objects.from_object(source, wanted) if path is None else _from_path(path, wanted)


def _split(source: Any) -> tuple[Path | None, str | None]:
    """The path and the part of it after a ``#``; None for objects. A file may have a ``#`` in its name."""
    if not isinstance(source, (str, Path)):
        return None, None
    if Path(source).exists() or "#" not in str(source):
        return Path(source), None
    path, _, part = str(source).rpartition("#")
    return Path(path), part


def _from_path(path: Path, wanted: Wanted) -> Inputs:
    if not path.exists():
        raise InputsError(f"{path}: not found", rule="the inputs are a file or a folder that can be read")
    for source in sorted((source for _, source in registry.items()), key=attrgetter("last")):
        if source.accepts(path):
            return source().open(path, wanted)
    raise InputsError(
        f"{path}: inputs cannot be read from '{path.suffix or 'a file without suffix'}'",
        rule="a folder of images, or by suffix: "
        + ", ".join(suffix for _, source in registry.items() for suffix in source.suffixes),
        hint=f"the folder: {path.parent}" if path.suffix.lower() in SUFFIXES else "export it as one of these",
    )
