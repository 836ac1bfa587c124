"""scikit-learn estimators, and others that follow its conventions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.models.base import Layout
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.arrays import Array, Run, one_hot
from fieldcheck.models.shared.loading import package, reading, require_release, require_trust

SAFE_SINCE = (0, 12)
"""Before it, a crafted ``.skops`` file could hide what it runs: CVE-2025-54412, CVE-2025-54413."""

Method = Literal["predict_proba", "decision_function", "predict"]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "logistic": lambda x: np.exp(-np.logaddexp(0, -x)),
}
"""Of the hidden layers of scikit-learn's perceptrons."""


@dataclass(eq=False, kw_only=True)
class SklearnModel(Adapter):
    """A fitted estimator. Multi-layer perceptrons, also at the end of a pipeline, show their hidden layers.

    method
        What is called: ``predict_proba`` where there is one, else ``decision_function``, else ``predict``.
    """

    name: ClassVar[str] = "sklearn"
    opens: ClassVar[tuple[str, ...]] = (".skops",)
    trusted: ClassVar[tuple[str, ...]] = (".pkl", ".joblib")
    layouts: ClassVar[tuple[Layout, ...]] = ("flat", "last", "first", "plain")
    estimator: Any
    method: Method

    @classmethod
    def accepts(cls, model: object) -> bool:
        if isinstance(model, Path):
            return model.suffix.lower() == ".skops"
        return hasattr(model, "predict") and hasattr(model, "get_params") and not isinstance(model, type)

    @classmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        estimator = _from_skops(model, trust=asked.trust) if isinstance(model, Path) else model
        _check_fitted(estimator)
        method = _method(estimator, asked)
        layers = tuple(f"hidden_{i + 1}" for i in range(len(getattr(_last(estimator), "coefs_", ())) - 1))
        draft = cls(
            estimator=estimator,
            method=method,
            classes=() if asked.task == "regression" or _task(estimator) == "regression" else _classes(estimator),
            layers=layers,
            layer=layers[-1] if layers else "",
        )
        draft = replace(draft, notes=(*draft._said(), *_flattened(estimator, asked.batch)))
        return draft.settled(replace(asked, outputs=draft._outputs(asked), task=asked.task or _task(estimator)))

    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        table = _table(self.estimator, batch)
        raw = np.asarray(getattr(self.estimator, self.method)(table))
        if self.method == "predict" and self.classes:
            raw = one_hot(raw, self.classes)
        return raw, self._shown(table, layers) if layers else {}

    def expects(self) -> str:
        features = getattr(self.estimator, "n_features_in_", None)
        return f"rows of {features} numbers" if features else ""

    def _shown(self, table: Any, layers: tuple[str, ...]) -> dict[str, Array]:
        """The forward pass of the perceptron, from its public coefficients."""
        network = _last(self.estimator)
        state = np.asarray(table if network is self.estimator else self.estimator[:-1].transform(table))
        found = {}
        for name, weights, bias in zip(self.layers, network.coefs_, network.intercepts_, strict=False):
            state = ACTIVATIONS[network.activation](state @ weights + bias)
            found[name] = state
        return {name: found[name] for name in layers}

    def _said(self) -> tuple[str, ...]:
        said = [f"the last hidden layer is '{self.layer}'"] if self.layer else []
        if self.method == "decision_function":
            said.append("it has no predict_proba: decision_function is read as logits, which are not calibrated")
        if self.method == "predict" and self.classes:
            said.append("it gives classes only: each gets the probability 1, confidence says nothing")
        return tuple(said)

    def _outputs(self, asked: ModelRequest) -> Any:
        """What the method that is called gives back, unless the user says otherwise."""
        if asked.outputs != "auto":
            return asked.outputs
        if self.method == "predict":
            return "probabilities" if self.classes else "values"
        return "probabilities" if self.method == "predict_proba" else "logits"


def _method(estimator: Any, asked: ModelRequest) -> Method:
    if _task(estimator) == "regression" or asked.task == "regression":
        return "predict"
    methods: tuple[Method, ...] = get_args(Method)
    return next(one for one in methods if hasattr(estimator, one) and not _one_against_one(estimator, one))


def _one_against_one(estimator: Any, method: Method) -> bool:
    """Such scores have a column for each pair of classes: nobody's logits."""
    return method == "decision_function" and getattr(_last(estimator), "decision_function_shape", "ovr") == "ovo"


def _task(estimator: Any) -> Literal["classification", "regression"]:
    from sklearn.base import is_regressor

    return "regression" if is_regressor(estimator) else "classification"


def _classes(estimator: Any) -> tuple[str, ...]:
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise ModelError(
            f"{type(estimator).__name__} has neither classes nor values to predict",
            rule="a fitted classifier or regressor",
            hint="task regression, if it predicts values",
        )
    if isinstance(classes, list):
        raise ModelError(
            f"{type(estimator).__name__} predicts {len(classes)} things at once",
            rule="one answer per item",
            hint="wrap it in a function that gives back the probabilities of one of them",
        )
    return tuple(str(one) for one in classes)


def _check_fitted(estimator: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise ModelError(f"{type(estimator).__name__} is not fitted", rule="a trained model") from error


def _last(estimator: Any) -> Any:
    """The estimator at the end of a pipeline."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _table(estimator: Any, batch: Any) -> Any:
    """The batch as the estimator wants it: flat rows, and with the names of the columns that it was trained on."""
    several = isinstance(batch, list) and bool(batch) and isinstance(batch[0], tuple)
    if (isinstance(batch, list) and not several) or hasattr(batch, "columns"):
        return batch
    rows = np.array(batch, dtype=object) if several else np.asarray(batch)
    if rows.ndim > 2 and rows[0].size == getattr(estimator, "n_features_in_", -1):
        rows = rows.reshape(len(rows), -1)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or rows.ndim != 2 or rows.shape[1] != len(names):
        return rows
    return package("pandas", "pandas").DataFrame(rows, columns=names)


def _flattened(estimator: Any, batch: Any) -> tuple[str, ...]:
    shape = np.shape(batch) if batch is not None and not isinstance(batch, list) else ()
    if len(shape) > 2 and int(np.prod(shape[1:])) == getattr(estimator, "n_features_in_", -1):
        return (f"items of shape {shape[1:]} are flattened",)
    return ()


def _from_skops(path: Path, *, trust: bool) -> Any:
    try:
        skops = import_module("skops.io")
    except ImportError as error:
        raise ModelError(
            f"{path}: the package 'skops' is not installed", rule=".skops files need it", hint="pip install skops"
        ) from error
    require_release(trust, "skops", SAFE_SINCE, path)
    with reading(path, "a complete file of skops.io.dump"):
        unknown = skops.get_untrusted_types(file=path)
        if unknown:
            few = ", ".join(unknown[:3])
            require_trust(trust, f"{path} holds types that skops does not know to be safe ({few}): it")
        return skops.load(path, trusted=unknown)
