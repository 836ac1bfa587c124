"""One model of every kind: how it is opened, items for it, and what it must say, computed by its own framework."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from torch import nn

from fieldcheck.models import open_model
from fieldcheck.models.base import Model

from . import networks, texts
from .networks import Array, digits, items, logits, softmax, trained_cnn, trained_mlp, two_columns


@dataclass(frozen=True, eq=False)
class Case:
    """``hidden``: activations of the last hidden layer; None where the model shows none."""

    model: Model
    batch: Any
    outputs: Array
    hidden: Array | None = None


CASES: dict[str, Callable[[Path], Case]] = {}


def case(build: Callable[[Path], Case]) -> Callable[[Path], Case]:
    CASES[build.__name__] = build
    return build


def images() -> Array:
    return items().reshape(-1, 1, 8, 8)


def mlp_hidden(net: nn.Module) -> Array:
    return logits(net[:2], items())  # type: ignore[index]


def cnn_hidden() -> Array:
    with torch.no_grad():
        return trained_cnn().hidden(torch.from_numpy(images())).numpy()


@case
def callable_logits(_: Path) -> Case:
    net = trained_mlp("classes")
    return Case(open_model(lambda x: logits(net, x), batch=items()), items(), softmax(logits(net, items())))


@case
def callable_probabilities_as_tensor(_: Path) -> Case:
    net = nn.Sequential(trained_mlp("classes"), nn.Softmax(dim=1))
    model = open_model(lambda x: net(torch.from_numpy(x.copy())), batch=items())
    return Case(model, items(), logits(net, items()))


@case
def callable_single_probability(_: Path) -> Case:
    net = nn.Sequential(trained_mlp("odd"), nn.Sigmoid())
    model = open_model(lambda x: logits(net, x)[:, 0], batch=items())
    return Case(model, items(), two_columns(logits(net, items())))


@case
def callable_single_logit(_: Path) -> Case:
    net = trained_mlp("odd")
    model = open_model(lambda x: logits(net, x), batch=items(), task="classification")
    return Case(model, items(), two_columns(1 / (1 + np.exp(-logits(net, items())))))


@case
def callable_regression(_: Path) -> Case:
    net = trained_mlp("value")
    model = open_model(lambda x: {"value": logits(net, x)}, batch=items(), task="regression")
    return Case(model, items(), logits(net, items())[:, 0])


@case
def callable_with_layers(_: Path) -> Case:
    net = trained_mlp("classes")
    model = open_model(lambda x: (logits(net, x), {"hidden": logits(net[:2], x)}), batch=items())
    return Case(model, items(), softmax(logits(net, items())), mlp_hidden(net))


@cache
def fitted(kind: str) -> Any:
    x, y = digits()
    made = {
        "logistic": lambda: LogisticRegression(max_iter=30, tol=1e-1),
        "ridge": RidgeClassifier,
        "odd": lambda: RidgeClassifier().fit(x, y % 2),
        "ovo": lambda: SVC(decision_function_shape="ovo"),
        "linear": LinearRegression,
        "mlp": lambda: MLPClassifier((12, 9), activation="tanh", max_iter=500, tol=1e-2, n_iter_no_change=3),
        "mlp_regressor": lambda: MLPRegressor(
            hidden_layer_sizes=(9,), activation="logistic", max_iter=500, tol=1e-1, n_iter_no_change=3
        ),
        "neighbours": lambda: KNeighborsClassifier(3),
    }[kind]()
    if kind == "neighbours":
        return make_pipeline(MinMaxScaler(), made).fit(x, np.array(list("abcdefghij"))[y])
    if kind.startswith("mlp"):
        return make_pipeline(MinMaxScaler(), made).fit(x, y)
    return made if kind == "odd" else made.fit(x[:600], y[:600])


@case
def sklearn_probabilities(_: Path) -> Case:
    return Case(open_model(fitted("logistic")), items(), fitted("logistic").predict_proba(items()))


@case
def sklearn_scores(_: Path) -> Case:
    return Case(open_model(fitted("ridge")), items(), softmax(fitted("ridge").decision_function(items())))


@case
def sklearn_single_score(_: Path) -> Case:
    scores = fitted("odd").decision_function(items())
    return Case(open_model(fitted("odd")), items(), two_columns(1 / (1 + np.exp(-scores))))


@case
def sklearn_classes_only(_: Path) -> Case:
    return Case(open_model(fitted("ovo")), items(), np.eye(10)[fitted("ovo").predict(items())])


@case
def sklearn_pipeline(_: Path) -> Case:
    return Case(open_model(fitted("neighbours")), items(), fitted("neighbours").predict_proba(items()))


@case
def sklearn_regression(_: Path) -> Case:
    return Case(open_model(fitted("linear")), items(), fitted("linear").predict(items()))


@case
def sklearn_perceptron(_: Path) -> Case:
    pipeline = fitted("mlp")
    network, rows = pipeline[-1], pipeline[:-1].transform(items())
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        rows = np.tanh(rows @ weights + bias)
    return Case(open_model(pipeline), items(), pipeline.predict_proba(items()), rows)


@case
def sklearn_perceptron_regression(_: Path) -> Case:
    pipeline = fitted("mlp_regressor")
    network, rows = pipeline[-1], pipeline[:-1].transform(items())
    hidden = 1 / (1 + np.exp(-(rows @ network.coefs_[0] + network.intercepts_[0])))
    return Case(open_model(pipeline), items(), pipeline.predict(items()), hidden)


@case
def torch_logits(_: Path) -> Case:
    return Case(
        open_model(trained_cnn(), batch=images()), images(), softmax(logits(trained_cnn(), images())), cnn_hidden()
    )


@case
def torch_probabilities(_: Path) -> Case:
    net = nn.Sequential(trained_mlp("classes"), nn.Softmax(dim=1))
    return Case(open_model(net, batch=items()), items(), logits(net, items()), mlp_hidden(net[0]))


@case
def torch_single_probability(_: Path) -> Case:
    net = nn.Sequential(trained_mlp("odd"), nn.Sigmoid())
    return Case(open_model(net, batch=items()), items(), two_columns(logits(net, items())), mlp_hidden(net[0]))


@case
def torch_single_logit(_: Path) -> Case:
    net = trained_mlp("odd")
    expected = two_columns(1 / (1 + np.exp(-logits(net, items()))))
    return Case(open_model(net, batch=items(), task="classification"), items(), expected, mlp_hidden(net))


@case
def torch_regression(_: Path) -> Case:
    net = trained_mlp("value")
    model = open_model(net, batch=items(), task="regression")
    return Case(model, items(), logits(net, items())[:, 0], mlp_hidden(net))


@case
def torch_scripted(folder: Path) -> Case:
    path = networks.save_script(trained_cnn(), folder / "net.pt")
    return Case(
        open_model(path, batch=images(), trust=True), images(), softmax(logits(trained_cnn(), images())), cnn_hidden()
    )


@case
def torch_traced(folder: Path) -> Case:
    path = networks.save_script(trained_cnn(), folder / "net.pt", example=images()[:3])
    return Case(
        open_model(str(path), batch=images(), trust=True),
        images(),
        softmax(logits(trained_cnn(), images())),
        cnn_hidden(),
    )


@case
def torch_exported(folder: Path) -> Case:
    shapes = ({0: torch.export.Dim.DYNAMIC},)
    torch.export.save(
        torch.export.export(trained_cnn(), (torch.from_numpy(images()),), dynamic_shapes=shapes), folder / "net.pt2"
    )
    model = open_model(folder / "net.pt2", batch=images(), trust=True)
    return Case(model, images(), softmax(logits(trained_cnn(), images())), cnn_hidden())


@case
def torch_exported_fixed_batch(_: Path) -> Case:
    program = torch.export.export(trained_mlp("value"), (torch.from_numpy(items(3)),))
    net = trained_mlp("value")
    model = open_model(program, batch=items(), task="regression")
    return Case(model, items(), logits(net, items())[:, 0], mlp_hidden(net))


@case
def onnx_logits(folder: Path) -> Case:
    path = networks.save_onnx(trained_cnn(), folder / "net.onnx", example=images())
    return Case(open_model(path, batch=images()), images(), softmax(logits(trained_cnn(), images())), cnn_hidden())


@case
def onnx_probabilities(folder: Path) -> Case:
    net = nn.Sequential(trained_mlp("classes"), nn.Softmax(dim=1))
    path = networks.save_onnx(net, folder / "net.onnx", example=items())
    return Case(open_model(path, batch=items(), threads=1), items(), logits(net, items()), mlp_hidden(net[0]))


@case
def onnx_single_probability(folder: Path) -> Case:
    net = nn.Sequential(trained_mlp("odd"), nn.Sigmoid())
    path = networks.save_onnx(net, folder / "net.onnx", example=items())
    return Case(open_model(path, batch=items()), items(), two_columns(logits(net, items())), mlp_hidden(net[0]))


@case
def onnx_regression_fixed_batch(folder: Path) -> Case:
    net = trained_mlp("value")
    path = networks.save_onnx(net, folder / "net.onnx", example=items(3), fixed=True)
    model = open_model(path, batch=items(), task="regression")
    return Case(model, items(), logits(net, items())[:, 0], mlp_hidden(net))


@case
def transformers_classes(folder: Path) -> Case:
    net = texts.trained_bert()
    model = open_model(texts.saved(net, folder / "bert"), batch=texts.TEXTS)
    found = [texts.reference(net, text) for text in texts.TEXTS]
    return Case(model, texts.TEXTS, softmax(np.stack([one for one, _ in found])), texts.pooled(net, found))


@case
def transformers_regression(folder: Path) -> Case:
    net = texts.bert(num_labels=1).eval()
    model = open_model(texts.saved(net, folder / "bert"))
    found = [texts.reference(net, text) for text in texts.TEXTS]
    return Case(model, texts.TEXTS, np.array([one[0] for one, _ in found]), texts.pooled(net, found))


@case
def transformers_decoder_without_padding(folder: Path) -> Case:
    """GPT-2 reads the last token, and has no padding token."""
    net = texts.gpt2(num_labels=3).eval()
    model = open_model(texts.saved(net, folder / "gpt2", padding=False, marks=False))
    found = [texts.reference(net, text, marks=False) for text in texts.TEXTS]
    expected = softmax(np.stack([one for one, _ in found]))
    return Case(model, texts.TEXTS, expected, np.stack([states[-1] for _, states in found]))


@case
def predictions_probabilities(_: Path) -> Case:
    rows = softmax(logits(trained_mlp("classes"), items()))
    return Case(open_model("none", batch=rows), rows, rows)


@case
def predictions_logits(_: Path) -> Case:
    rows = logits(trained_mlp("classes"), items())
    return Case(open_model(None, batch=rows), rows, softmax(rows))


@case
def predictions_values(_: Path) -> Case:
    rows = logits(trained_mlp("value"), items())[:, 0]
    return Case(open_model("predictions", task="regression"), rows, rows)


@case
def predictions_classes(_: Path) -> Case:
    names = ["cat", "dog", "emu"]
    rows = np.array(names)[digits()[1][-40:] % 3]
    return Case(open_model(names, adapter="predictions", batch=rows), rows, np.eye(3)[digits()[1][-40:] % 3])


@cache
def keras_net(head: str) -> Any:
    """As ``networks.mlp``, with its trained weights."""
    import keras

    net = trained_mlp({"softmax": "classes", "logits": "classes", "sigmoid": "odd", "value": "value"}[head])
    end = {"softmax": "softmax", "sigmoid": "sigmoid"}.get(head)
    made = keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(16, activation="relu", name="hidden"),
            keras.layers.Dropout(0.5, name="drop"),
            keras.layers.Dense(net[2].out_features, activation=end, name="head"),
        ]
    )
    for layer, source in ((made.layers[0], net[0]), (made.layers[2], net[2])):
        layer.set_weights([source.weight.detach().numpy().T, source.bias.detach().numpy()])
    return made


@case
def keras_probabilities(folder: Path) -> Case:
    net = trained_mlp("classes")
    model = open_model(networks.save_keras(keras_net("softmax"), folder / "net.keras"), batch=items())
    return Case(model, items(), softmax(logits(net, items())), mlp_hidden(net))


@case
def keras_logits(_: Path) -> Case:
    net = trained_mlp("classes")
    return Case(open_model(keras_net("logits"), batch=items()), items(), softmax(logits(net, items())), mlp_hidden(net))


@case
def keras_single_probability(_: Path) -> Case:
    net = trained_mlp("odd")
    expected = two_columns(1 / (1 + np.exp(-logits(net, items()))))
    return Case(open_model(keras_net("sigmoid"), batch=items()), items(), expected, mlp_hidden(net))


@case
def keras_regression(_: Path) -> Case:
    net = trained_mlp("value")
    model = open_model(keras_net("value"), batch=items(), task="regression")
    return Case(model, items(), logits(net, items())[:, 0], mlp_hidden(net))
