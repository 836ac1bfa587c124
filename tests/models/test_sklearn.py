"""scikit-learn: which method is called, names of columns, shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fieldcheck.core.errors import ModelError
from fieldcheck.models import open_model

from .networks import digits, items

X, Y = digits()
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)


def test_classes_are_named() -> None:
    named = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, np.array(["even", "odd"])[Y % 2])
    assert open_model(named).classes == ("even", "odd")


def test_scores_are_said_to_be_uncalibrated_and_classes_to_be_only_classes() -> None:
    margin = open_model(SVC().fit(X[:300], Y[:300]))
    assert any("not calibrated" in note for note in margin.notes)
    pairs = open_model(SVC(decision_function_shape="ovo").fit(X[:300], Y[:300]))
    assert any("confidence says nothing" in note for note in pairs.notes)


def test_images_are_flattened_and_it_is_said() -> None:
    images = items().reshape(-1, 8, 8)
    model = open_model(TREE, batch=images)
    np.testing.assert_allclose(model.respond(images).outputs, TREE.predict_proba(items()), atol=1e-15)
    assert any("flattened" in note for note in model.notes)


def test_columns_get_the_names_that_the_model_was_trained_with() -> None:
    table = pd.DataFrame(X[:, :5], columns=list("abcde"))
    fitted = make_pipeline(StandardScaler(), LinearRegression()).fit(table, X[:, 6])
    model = open_model(fitted, batch=items()[:, :5])
    assert model.task == "regression"
    frame = pd.DataFrame(items()[:, :5], columns=list("abcde"))
    np.testing.assert_array_equal(model.respond(items()[:, :5]).outputs, fitted.predict(frame))
    np.testing.assert_array_equal(model.respond(frame).outputs, fitted.predict(frame))


def test_a_pipeline_may_read_texts() -> None:
    texts = ["good film", "bad film", "very good", "very bad"]
    fitted = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    model = open_model(fitted, batch=texts)
    np.testing.assert_allclose(model.respond(texts).outputs, fitted.predict_proba(texts), atol=1e-15)


def test_a_wrong_number_of_columns_is_said() -> None:
    with pytest.raises(ModelError, match="rows of 64 numbers"):
        open_model(TREE, batch=items()[:, :9])


def test_an_estimator_that_is_not_fitted_is_refused() -> None:
    with pytest.raises(ModelError, match="not fitted"):
        open_model(LogisticRegression())


def test_several_answers_per_item_are_refused() -> None:
    with pytest.raises(ModelError, match="2 things"):
        open_model(DecisionTreeClassifier(max_depth=2).fit(X, np.column_stack([Y, Y % 2])))
    with pytest.raises(ModelError, match="one value per item"):
        open_model(LinearRegression().fit(X, X[:, :2]), batch=items())


def test_a_skops_file_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.skops").write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
    with pytest.raises(ModelError, match="pip install skops"):
        open_model(tmp_path / "model.skops")
