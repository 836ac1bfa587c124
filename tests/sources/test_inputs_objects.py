"""Objects from Python as inputs: sequences, torch Datasets, Hugging Face datasets."""

from __future__ import annotations

from pathlib import Path

import datasets
import numpy as np
import pytest
import torch
from PIL import Image

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs
from fieldcheck.sources import open_inputs


class Pairs(torch.utils.data.Dataset):
    """Images with channels first, and labels; counts how often an item is asked for."""

    def __init__(self) -> None:
        self.images = torch.arange(4 * 3 * 6 * 5, dtype=torch.float32).reshape(4, 3, 6, 5)
        self.asked = 0

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, int]:
        self.asked += 1
        return self.images[at], at % 2


def test_torch_dataset() -> None:
    source = Pairs()
    inputs = open_inputs(source)
    assert isinstance(inputs, Inputs)
    assert (inputs.kind, len(inputs)) == ("image", 4)
    np.testing.assert_array_equal(inputs.batch(1, 3), source.images[1:3].permute(0, 2, 3, 1).numpy())


def test_labels_are_remembered_while_items_go_by() -> None:
    source = Pairs()
    inputs = open_inputs(source)
    inputs.batch(0, 4)
    asked = source.asked
    assert inputs.labels.tolist() == [0, 1, 0, 1]
    assert source.asked == asked
    assert open_inputs(source).labels.tolist() == [0, 1, 0, 1]


def test_targets_need_no_reading() -> None:
    source = Pairs()
    source.targets = [7, 8, 9, 7]
    inputs = open_inputs(source)
    asked = source.asked
    assert inputs.labels.tolist() == [7, 8, 9, 7]
    assert source.asked == asked


def test_inputs_are_given_back_without_reading_labels() -> None:
    source = Pairs()
    inputs = open_inputs(source)
    asked = source.asked
    assert open_inputs(inputs) is inputs
    assert source.asked == asked


def test_tensors_and_rows() -> None:
    assert open_inputs(torch.zeros(3, 1, 8, 8)).batch(0, 3).shape == (3, 8, 8, 1)
    rows = open_inputs(torch.utils.data.TensorDataset(torch.ones(3, 2), torch.tensor([1.5, 2.5, 3.5])))
    assert (rows.kind, rows.batch(0, 3).shape, rows.labels.tolist()) == ("row", (3, 2), [1.5, 2.5, 3.5])


def test_sequence_without_labels() -> None:
    inputs = open_inputs([np.zeros((4, 4)), np.ones((4, 4))])
    assert inputs.labels is None
    assert inputs.batch(0, 2).shape == (2, 4, 4)


def test_texts_pillow_and_dictionaries() -> None:
    assert open_inputs(["a", "b"]).batch(0, 2) == ["a", "b"]
    pairs = open_inputs([("a", "pos"), ("b", "neg")])
    assert (pairs.kind, pairs.batch(0, 2), pairs.labels.tolist()) == ("text", ["a", "b"], ["pos", "neg"])
    images = open_inputs([Image.new("RGB", (5, 3)), Image.new("L", (5, 3))])
    assert images.batch(0, 2).shape == (2, 3, 5, 3)
    items = open_inputs([{"text": "a", "label": 1}, {"text": "b", "label": 0}])
    assert (items.batch(0, 2), items.labels.tolist()) == (["a", "b"], [1, 0])
    with pytest.raises(InputsError, match="which key"):
        open_inputs([{"u": 1}])


@pytest.mark.parametrize("source", [[], iter([1]), 7])
def test_what_is_no_source(source: object) -> None:
    with pytest.raises(InputsError):
        open_inputs(source)


@pytest.fixture
def dataset() -> datasets.Dataset:
    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=["dog", "cat"]), "id": datasets.Value("string")}
    )
    images = [Image.fromarray(np.full((4, 4), grey, np.uint8)) for grey in (10, 20, 30)]
    return datasets.Dataset.from_dict({"image": images, "label": [1, 0, 1], "id": ["a", "b", "c"]}, features=features)


def test_hugging_face_object_and_folder(dataset: datasets.Dataset, tmp_path: Path) -> None:
    dataset.save_to_disk(tmp_path / "saved")
    for source in (dataset, tmp_path / "saved"):
        inputs = open_inputs(source)
        assert (inputs.kind, list(inputs.ids), inputs.classes) == ("image", ["a", "b", "c"], ("dog", "cat"))
        assert inputs.labels.tolist() == ["cat", "dog", "cat"]
        np.testing.assert_array_equal(inputs.batch(1, 3)[:, 0, 0], [20, 30])


def test_hugging_face_splits(dataset: datasets.Dataset, tmp_path: Path) -> None:
    datasets.DatasetDict({"train": dataset, "test": dataset.select([1])}).save_to_disk(tmp_path / "saved")
    assert len(open_inputs(f"{tmp_path}/saved#test")) == 1
    with pytest.raises(InputsError, match="several splits"):
        open_inputs(tmp_path / "saved")


def test_hugging_face_texts() -> None:
    source = datasets.Dataset.from_dict({"text": ["x", "y"], "label": [0.5, 1.5]})
    inputs = open_inputs(source)
    assert (inputs.kind, inputs.batch(0, 2), inputs.labels.tolist()) == ("text", ["x", "y"], [0.5, 1.5])
