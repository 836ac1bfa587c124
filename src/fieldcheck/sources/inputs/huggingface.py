"""Hugging Face datasets: the object, or a folder written by ``save_to_disk``. Nothing is downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.sources.inputs.images import Form
from fieldcheck.sources.inputs.options import IDS, LABELS, Wanted, label_in, named, pick
from fieldcheck.sources.inputs.sequences import ITEM_KEYS, item_kind, pixels

ONE, SEVERAL = "state.json", "dataset_dict.json"
"""Files that ``save_to_disk`` leaves in the folder of a dataset, and of several splits."""


@dataclass(frozen=True, eq=False)
class DatasetInputs:
    """A column of a dataset, decoded when it is asked for."""

    name: str
    kind: Kind
    ids: Any
    dataset: Any
    column: str
    form: Form | None = None
    labels: npt.NDArray[Any] | None = None
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.dataset)

    def batch(self, start: int, stop: int) -> Any:
        items = self.dataset[start : min(stop, len(self))][self.column]
        if self.kind == "text":
            return list(items)
        return np.stack([pixels(one, self.form, f"item {start + at}") for at, one in enumerate(items)])


def from_folder(folder: Path, wanted: Wanted) -> Inputs:
    """A saved dataset; of several splits the one after the ``#``."""
    try:
        import datasets
    except ImportError:
        raise InputsError(
            f"{folder} was written by Hugging Face datasets, which is missing",
            rule="this folder needs the package datasets",
            hint='pip install "fieldcheck[datasets]"',
        ) from None
    return from_dataset(datasets.load_from_disk(str(folder)), wanted, name=folder.resolve().name)


def from_dataset(dataset: Any, wanted: Wanted, *, name: str = "dataset") -> DatasetInputs:
    """A dataset, or one split of several."""
    dataset = _split(dataset, wanted.part, name=name)
    if not len(dataset):
        raise InputsError(f"{name}: there is no item", rule="at least one item")
    have = dataset.column_names
    asked = wanted.one_text() or (wanted.columns[0] if wanted.columns else None)
    column = named(asked, ITEM_KEYS, have, where=name)
    if column is None:
        raise InputsError(f"{name}: which column is the input?", rule="columns: " + ", ".join(have), hint="--text NAME")
    label = label_in(wanted, LABELS, have, where=name)
    id_name = named(wanted.id, IDS, have, where=name)
    first = dataset[0][column]
    form = Form.of(wanted, first, "item 0") if hasattr(first, "convert") else None
    labels, classes = _labels(dataset, label)
    return DatasetInputs(
        name=name,
        kind=wanted.kind or item_kind(first),
        ids=np.arange(len(dataset)) if id_name is None else list(dataset[id_name]),
        dataset=dataset,
        column=column,
        form=form,
        labels=labels,
        classes=classes,
        notes=(f"inputs: '{column}'" + (f", labels '{label}'" if label else ""), *(form.notes() if form else ())),
    )


def _split(dataset: Any, part: str | None, *, name: str) -> Any:
    if not hasattr(dataset, "keys"):
        return dataset
    if part is None:
        raise InputsError(
            f"{name} has several splits",
            rule="splits: " + ", ".join(dataset.keys()),
            hint=f"{name}#{next(iter(dataset.keys()))}",
        )
    return dataset[pick(part, dataset.keys(), where=name)]


def _labels(dataset: Any, label: str | None) -> tuple[npt.NDArray[Any] | None, tuple[str, ...]]:
    """Labels, by name where the dataset names its classes, and these names in their order."""
    if label is None:
        return None, ()
    values, names = np.array(dataset[label][:]), tuple(getattr(dataset.features[label], "names", None) or ())
    if not names:
        return values, ()
    if values.min() < 0:
        raise InputsError("some labels are missing (-1)", rule="every item has its label", hint="drop these items")
    return np.array(names)[values], names


@dataclass(frozen=True)
class SavedDataset:
    """A folder that ``save_to_disk`` of Hugging Face datasets wrote."""

    name: ClassVar[str] = "huggingface"
    suffixes: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[bool] = False

    @classmethod
    def accepts(cls, path: Path) -> bool:
        return (path / ONE).is_file() or (path / SEVERAL).is_file()

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        return from_folder(path, wanted)
