"""Text classifiers of transformers: folders, cutting, tokens, names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import BertModel, pipeline

from fieldcheck.core.errors import ModelError
from fieldcheck.models import open_model

from . import texts


def test_names_of_classes_come_from_the_configuration(tmp_path: Path) -> None:
    named = texts.bert(num_labels=2, id2label={0: "bad", 1: "good"}, label2id={"bad": 0, "good": 1})
    assert open_model(texts.saved(named, tmp_path / "named")).classes == ("bad", "good")
    assert open_model(texts.saved(texts.bert(num_labels=3), tmp_path / "plain")).classes == ()


def test_long_texts_are_cut_and_it_is_said(tmp_path: Path) -> None:
    long = "good " * 40
    model = open_model(texts.saved(texts.bert(), tmp_path / "bert"), batch=["bad", long])
    assert any("cut to 12 tokens: 1 of the first 2" in note for note in model.notes)
    np.testing.assert_allclose(model.respond([long]).outputs, model.respond(["good " * 10]).outputs, atol=1e-6)


def test_layers_with_a_row_per_token_give_that_of_the_first(tmp_path: Path) -> None:
    net = texts.bert().eval()
    model = open_model(texts.saved(net, tmp_path / "bert"))
    name = "bert.encoder.layer.0"
    found = model.respond(texts.TEXTS, layers=[name]).activations[name]
    expected = np.stack([texts.reference(net, text)[1][0] for text in texts.TEXTS])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert any("first token" in note for note in model.notes)


def test_pipelines_and_pairs_are_accepted() -> None:
    net, words = texts.bert().eval(), texts.tokenizer()
    pair = open_model((net, words))
    other = open_model(pipeline("text-classification", model=net, tokenizer=words, device="cpu"))
    assert pair.name == other.name == "transformers"
    np.testing.assert_array_equal(pair.respond(texts.TEXTS).outputs, other.respond(texts.TEXTS).outputs)


def test_training_mode_is_left_and_said() -> None:
    net = texts.bert().train()
    model = open_model((net, texts.tokenizer()))
    assert not net.training
    assert any("training mode" in note for note in model.notes)


def test_a_network_that_is_no_classifier_is_refused(tmp_path: Path) -> None:
    folder = texts.saved(BertModel(texts.bert().config), tmp_path / "bert")
    with pytest.raises(ModelError, match="BertModel"):
        open_model(folder)


def test_several_labels_per_text_are_refused(tmp_path: Path) -> None:
    folder = texts.saved(texts.bert(num_labels=3, problem_type="multi_label_classification"), tmp_path / "bert")
    with pytest.raises(ModelError, match="several labels"):
        open_model(folder)


def test_a_folder_without_weights_is_refused_and_nothing_is_downloaded(tmp_path: Path) -> None:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"save_pretrained"):
        open_model(folder)


def test_what_is_no_text_is_refused_with_its_position() -> None:
    model = open_model((texts.bert(), texts.tokenizer()))
    with pytest.raises(ModelError, match="item 1 of the batch is float"):
        model.respond(["good", float("nan")])


def test_a_single_output_is_a_value_unless_the_task_says_otherwise() -> None:
    parts = (texts.bert(num_labels=1), texts.tokenizer())
    assert open_model(parts).task == "regression"
    assert open_model(parts, task="classification").respond(texts.TEXTS).outputs.shape == (6, 2)


def test_a_decoder_whose_texts_end_with_the_only_token_to_fill_up_with_is_refused() -> None:
    with pytest.raises(ModelError, match="padding token"):
        open_model((texts.gpt2(), texts.tokenizer(padding=False)))


def test_an_array_of_texts_is_as_good_as_a_list() -> None:
    model = open_model((texts.bert(), texts.tokenizer()))
    found = model.respond(np.array(texts.TEXTS)).outputs
    np.testing.assert_array_equal(found, model.respond(texts.TEXTS).outputs)
