"""Quality of perturbed inputs: chosen, scored, predicted, kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from fieldcheck.core.errors import ModelError, SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.measures.likeness import sentence_bleu
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import IntArray
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.plans.base import count_of_order
from fieldcheck.tomography.quality.features import OnnxFeatures, hashed_tokens, of_model, pixels
from fieldcheck.tomography.quality.kid import kid
from fieldcheck.tomography.quality.map import Quality, measure_quality, over_orders
from fieldcheck.tomography.quality.scores import registry, score_for
from fieldcheck.tomography.quality.token_f1 import token_f1
from fieldcheck.tomography.quality.token_models import TokenModel
from fieldcheck.tomography.setup.executor import Executor


@dataclass
class Items:
    """Images, rows or texts as data."""

    items: Any
    kind: Kind
    name: str = "items"
    labels: None = None
    ids: Any = None

    def __len__(self) -> int:
        return len(self.items)

    def batch(self, start: int, stop: int) -> Any:
        return self.items[start:stop]


@dataclass
class Push:
    """Adds a tenth of the severity to one column of a row."""

    column: int
    levels: int = 5
    name: ClassVar[str] = "push"
    title: ClassVar[str] = ""
    kind: ClassVar[Kind] = "row"
    random: ClassVar[bool] = False

    def apply(self, batch: Any, severity: IntArray, draws: ItemStreams) -> Any:
        moved = batch.copy()
        moved[:, self.column] += severity / 10
        return moved


TEXTS = [
    "the film was not good, and I didn't like it",
    "a happy man walks his big dog in the park",
    "she doesn't know what the answer is",
    "we are going to see a small house",
] * 2


def rows_executor(space: Space, **changes: Any) -> Executor:
    data = np.random.default_rng(0).random((30, len(space.axes)))
    return Executor(
        space=space,
        perturbations=[Push(column) for column in range(len(space.axes))],
        inputs=Items(data, "row"),
        respond=lambda batch: batch,
        check=lambda said, at: np.ones(len(at)),
        **changes,
    )


def built(names: str, data: Any, kind: Kind, levels: int = 3) -> Executor:
    space = Space(tuple(Axis(name, levels) for name in names.split()))
    return Executor(
        space=space,
        perturbations=[perturbations.registry.build(name) for name in space.names],
        inputs=Items(data, kind),
        respond=lambda batch: np.zeros((len(batch), 2)),
        check=lambda said, at: np.ones(len(at)),
    )


def images(count: int = 12, shape: tuple[int, ...] = (12, 12)) -> Any:
    return np.random.default_rng(0).integers(0, 256, (count, *shape), dtype=np.uint8)


SPACE = Space((Axis("a", 5), Axis("b", 5), Axis("c", 5)))


def test_every_order_gets_as_many_tests_as_far_as_it_has_them() -> None:
    # Orders 0 to 3 have 1, 15, 75 and 125 tests: 1, 15, and half of the rest each.
    chosen = over_orders(SPACE, 100, seed=0)
    assert np.bincount(SPACE.orders(chosen)).tolist() == [1, 15, 42, 42]
    assert np.array_equal(chosen, np.unique(chosen))
    assert np.array_equal(over_orders(SPACE, 216, seed=0), np.arange(216))


def test_tests_of_a_large_space_are_chosen_from_all_orders() -> None:
    space = Space(tuple(Axis(name, 5) for name in "abcdefgh"))
    orders = np.bincount(space.orders(over_orders(space, 150, seed=0)))
    assert orders[0] == count_of_order(space, 0)
    assert orders[1:].min() >= 17
    assert orders.sum() == 150


def test_measured_scores_are_those_of_the_perturbed_inputs() -> None:
    executor = rows_executor(SPACE)
    found = measure_quality(executor, score="kid", features="pixels", tests=60, inputs=1000)
    clean = executor.inputs.batch(0, 30)
    for test, score in zip(found.tests, found.measured, strict=True):
        assert score == pytest.approx(kid(clean, clean + SPACE.severities(test) / 10, paired=True), abs=1e-12)
    assert found.measured[0] == pytest.approx(0, abs=1e-12)


def test_other_tests_are_predicted_as_well_as_it_says() -> None:
    executor = rows_executor(SPACE)
    truth = measure_quality(executor, score="kid", features="pixels", tests=SPACE.size)
    found = measure_quality(executor, score="kid", features="pixels", tests=80)
    assert np.array_equal(truth.predicted, truth.measured)
    assert np.isnan(truth.error)
    # The distance is nearly linear in the severities: far better than the spread of the scores.
    assert np.abs(found.predicted - truth.predicted).mean() < 0.02 * truth.predicted.std()
    assert found.error < 0.05 * truth.predicted.std()
    assert found.predicted.min() >= 0


def test_the_same_seed_gives_the_same_quality_whatever_the_batch() -> None:
    one, other = (
        measure_quality(rows_executor(SPACE, batch=batch), score="fid", tests=20, inputs=7, seed=4)
        for batch in (3, 512)
    )
    assert np.array_equal(one.predicted, other.predicted)
    third = measure_quality(rows_executor(SPACE), score="fid", tests=20, inputs=7, seed=5)
    assert not np.array_equal(one.measured, third.measured)
    assert any("few inputs" in note for note in third.notes)


def test_a_run_finds_its_quality(tmp_path: Path) -> None:
    found = measure_quality(rows_executor(SPACE), tests=20)
    found.save(tmp_path)
    again = Quality.open(tmp_path)
    assert (again.score, again.notes, again.error) == (found.score, found.notes, found.error)
    assert np.array_equal(again.tests, found.tests)
    assert again.predicted == pytest.approx(found.predicted, rel=1e-6)
    none = np.zeros(0, dtype=np.int64)
    run = Run(SPACE, Outcomes(none, none, np.zeros(0)), folder=tmp_path)
    assert run.quality == pytest.approx(again.predicted)
    assert [path.name for path in tmp_path.iterdir()] == ["quality.npz"]


def test_features_of_the_model_are_its_hidden_layer_or_its_outputs() -> None:
    plain, said = of_model(rows_executor(SPACE))
    assert "outputs" in said
    assert plain(np.ones((4, 3))).shape == (4, 3)
    shown, said = of_model(rows_executor(SPACE, hidden=lambda batch: np.ones((len(batch), 2, 5)), batch=3))
    assert "hidden layer" in said
    assert shown(np.ones((4, 3))).shape == (4, 10)


def test_features_of_your_own() -> None:
    found = measure_quality(rows_executor(SPACE), features=lambda batch: batch[:, :1], tests=40)
    clean = found.predicted.reshape(SPACE.shape)
    # Only the first perturbation moves the only feature.
    assert clean[:, 0, 0] == pytest.approx(clean[:, 5, 5], abs=0.02 * np.ptp(clean))


def test_pixels_are_fractions() -> None:
    assert pixels(np.array([[[0, 255]]], dtype=np.uint8)).tolist() == [[0.0, 1.0]]
    assert pixels([[0.5, 2.0]]).tolist() == [[0.5, 2.0]]


@pytest.mark.parametrize("shape", [(8, 8), (12, 12, 3)])
def test_ssim_falls_with_the_severity(shape: tuple[int, ...]) -> None:
    executor = built("gaussian-noise brightness", images(shape=shape), "image")
    found = measure_quality(executor, score="ssim", tests=16)
    by_noise = found.measured[executor.space.numbers([[0, 0], [1, 0], [2, 0], [3, 0]])]
    assert by_noise[0] == pytest.approx(1)
    assert np.all(np.diff(by_noise) < 0)


def test_scores_of_texts() -> None:
    executor = built("typos casing", TEXTS, "text")
    batch, which = executor.perturbed(np.full(8, 7), np.arange(8))
    changed = [batch[at] for at in which]
    scores = {
        name: measure_quality(executor, score=name, tests=16).measured for name in ("token-f1", "bleu", "sentence-bleu")
    }
    tokens = zip(hashed_tokens(changed), hashed_tokens(TEXTS), strict=True)
    assert scores["token-f1"][7] == pytest.approx(np.mean([token_f1(one, other) for one, other in tokens]))
    assert scores["sentence-bleu"][7] == pytest.approx(
        np.mean([sentence_bleu(one, other) for one, other in zip(changed, TEXTS, strict=True)])
    )
    for found in scores.values():
        assert found[0] == pytest.approx(1)
        assert np.all(found[1:] < 1)


def test_a_typo_changes_letters_less_than_another_word() -> None:
    word, typo, other = hashed_tokens(["question qustion elephant"])[0]
    assert word @ typo > 0.4
    assert word @ other < 0.2
    assert word @ word == pytest.approx(1)
    assert hashed_tokens(["", " "])[0].shape == (0, 512)


def test_what_is_measured_by_default() -> None:
    assert score_for("auto", kind="image").name == "kid"
    assert score_for("auto", kind="text").name == "token-f1"
    assert {name for name, score in registry.items() if score.better == "low"} == {"kid", "fid"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"score": "bleu"},
        {"score": "beauty"},
        {"features": "nowhere.onnx"},
        {"tests": 3},
        {"inputs": 1},
        {"features": lambda batch: np.full((len(batch), 1), np.nan)},
    ],
)
def test_what_cannot_be_measured_is_said(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpaceError):
        measure_quality(rows_executor(SPACE), **wrong)


def test_a_space_with_too_many_tests_is_refused() -> None:
    space = Space(tuple(Axis(name, 5) for name in "abcdefghi"))
    with pytest.raises(SpaceError, match="5,000,000"):
        measure_quality(rows_executor(space))


def test_texts_have_no_pixels() -> None:
    with pytest.raises(SpaceError):
        measure_quality(built("typos casing", TEXTS, "text"), score="kid", features="pixels")


def channel_means(path: Path, shape: list[Any], axes: list[int]) -> Path:
    """An ONNX file: the mean of each channel."""
    import onnx
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["images"], ["features"], axes=axes, keepdims=0)],
        "means",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 3])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


@pytest.mark.parametrize(("shape", "axes"), [(["n", 3, 12, 12], [2, 3]), (["n", 12, 12, 3], [1, 2])])
def test_an_extractor_in_a_file(tmp_path: Path, shape: list[Any], axes: list[int]) -> None:
    extractor = OnnxFeatures.open(channel_means(tmp_path / "means.onnx", shape, axes))
    coloured, grey = images(shape=(12, 12, 3)), images()
    assert extractor(coloured) == pytest.approx(coloured.mean(axis=(1, 2)) / 255, abs=1e-6)
    assert extractor(grey) == pytest.approx(grey.mean(axis=(1, 2))[:, None].repeat(3, axis=1) / 255, abs=1e-6)
    with pytest.raises(SpaceError):
        extractor(images(shape=(14, 12, 3)))


def test_an_extractor_is_used(tmp_path: Path) -> None:
    path = channel_means(tmp_path / "means.onnx", ["n", 3, 12, 12], [2, 3])
    executor = built("brightness contrast", images(shape=(12, 12, 3)), "image")
    found = measure_quality(executor, features=path, tests=16)
    assert found.measured[executor.space.numbers([[3, 0]])[0]] > found.measured[0]


def tokenizer_file(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "good": 4, "bad": 5, "film": 6}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.save(str(folder / "tokenizer.json"))


def test_a_language_model_in_onnx(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    tokenizer_file(tmp_path)
    table = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["states"])],
        "embeddings",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "places"])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", "places", 4])],
        [numpy_helper.from_array(table, "table")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(made, tmp_path / "model.onnx")
    rows = table / np.linalg.norm(table, axis=1, keepdims=True)
    first, second, third = TokenModel.open(tmp_path)(["good film film", "", "bad"])
    assert first == pytest.approx(rows[[4, 6, 6]], abs=1e-6)
    assert second.shape[0] == 0
    assert third == pytest.approx(rows[[5]], abs=1e-6)


def test_a_language_model_of_transformers(tmp_path: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    tokenizer_file(tmp_path)
    torch.manual_seed(0)
    sizes = {"vocab_size": 7, "hidden_size": 8, "intermediate_size": 8, "max_position_embeddings": 12}
    network = BertModel(BertConfig(num_hidden_layers=1, num_attention_heads=2, **sizes)).eval()
    network.save_pretrained(tmp_path)
    with torch.inference_mode():
        states = network(input_ids=torch.tensor([[2, 4, 6, 3]])).last_hidden_state[0, 1:3].numpy()
    found = TokenModel.open(tmp_path)(["good film", "bad good good film"])
    assert found[0] == pytest.approx(states / np.linalg.norm(states, axis=1, keepdims=True), abs=1e-5)
    executor = built("typos casing", ["good film", "bad film", "film good"], "text", levels=2)
    quality = measure_quality(executor, features=tmp_path, tests=10)
    assert quality.measured[0] == pytest.approx(1, abs=1e-6)


def test_a_folder_without_a_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        TokenModel.open(tmp_path)
    tokenizer_file(tmp_path)
    with pytest.raises(ModelError):
        TokenModel.open(tmp_path)


def test_a_language_model_that_reads_outside_its_folder_is_refused(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    folder = tmp_path / "inside"
    folder.mkdir()
    tokenizer_file(folder)
    np.zeros((7, 4), dtype=np.float32).tofile(tmp_path / "w.data")
    table = TensorProto(name="table", data_type=TensorProto.FLOAT, dims=[7, 4], data_location=TensorProto.EXTERNAL)
    table.external_data.add(key="location", value="../w.data")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["states"])],
        "embeddings",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "places"])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", "places", 4])],
        [table],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(ModelError, match="outside its folder"):
        TokenModel.open(folder)
    (folder / "model.onnx").write_bytes(b"junk")
    with pytest.raises(ModelError, match="ONNX"):
        TokenModel.open(folder)


def smooth_images(count: int) -> Any:
    """Slopes of light, far from noise."""
    steps = np.arange(12) * 10
    return (np.arange(count)[:, None, None] % 50 + steps[:, None] + steps).astype(np.uint8)


def test_distances_of_images_are_shares_of_the_distance_to_noise() -> None:
    executor = built("gaussian-noise brightness", smooth_images(40), "image", levels=5)
    plain = measure_quality(executor, score="kid", features="pixels", tests=36, scale="plain")
    found = measure_quality(executor, score="kid", features="pixels", tests=36)
    units = plain.measured[1:] / found.measured[1:]
    assert units == pytest.approx(np.full(35, units[0]))
    clean = smooth_images(40)
    noise = np.random.default_rng(1).integers(0, 256, clean.shape, dtype=np.uint8)
    # Another noise of 40 images: within a few percent of the one that is the unit.
    assert units[0] == pytest.approx(kid(pixels(clean), pixels(noise), paired=True), rel=0.1)
    assert "share of the distance to pure noise" in found.notes[0]
    assert measure_quality(executor, score="ssim", tests=36).notes[0].count("noise") == 0


def test_the_published_way_is_a_forest_over_pairs() -> None:
    executor = rows_executor(SPACE)
    found = measure_quality(executor, score="kid", features="pixels", surrogate="forest")
    assert np.array_equal(np.bincount(SPACE.orders(found.tests)), [1, 15, 75])
    assert found.predicted[found.tests] == pytest.approx(found.measured)
    # A tree without bootstrap says the value of one of the tests that it saw.
    assert np.isin(found.predicted.round(9), found.measured.round(9)).mean() > 0.9


def test_quality_stops_early_where_batches_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brightness of slopes is the same in every batch; with noise in the score, no two batches agree."""
    executor = built("brightness contrast", smooth_images(1000), "image")
    seen = 0
    plain = Executor.perturbed

    def counting(self: Executor, tests: Any, inputs: Any, arrangements: Any = None) -> Any:
        nonlocal seen
        seen += len(tests)
        return plain(self, tests, inputs, arrangements)

    monkeypatch.setattr(Executor, "perturbed", counting)
    asked: dict[str, Any] = {"score": "ssim", "tests": 16, "inputs": 1000}
    whole = measure_quality(executor, **asked)
    assert seen == 16 * 1000
    seen = 0
    found = measure_quality(executor, **asked, stop=0.2)
    assert seen == 16 * 400
    assert found.measured == pytest.approx(whole.measured, abs=0.05)
    seen = 0
    assert measure_quality(executor, **asked, stop=1e-12).measured == pytest.approx(whole.measured, abs=1e-9)
    assert 16 * 400 < seen <= 16 * 1000


def test_with_too_few_inputs_to_stop_early_all_are_looked_at() -> None:
    """Inputs in the order of batches are the same inputs: the score is that of all at once."""
    executor = built("brightness contrast", smooth_images(40), "image")
    asked: dict[str, Any] = {"score": "ssim", "tests": 16, "inputs": 20}
    np.testing.assert_allclose(
        measure_quality(executor, **asked, stop=0.01).measured, measure_quality(executor, **asked).measured
    )


@pytest.mark.parametrize("wrong", [{"surrogate": "tree"}, {"scale": "inch"}, {"stop": -1}, {"stop": 2.0}])
def test_ways_that_do_not_exist_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpaceError):
        measure_quality(rows_executor(SPACE), **wrong)
