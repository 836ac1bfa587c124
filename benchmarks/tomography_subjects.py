"""Real models with their data and perturbations, and their full truths in four dimensions.

    python benchmarks/tomography_subjects.py [digits] [photos] [topics] [pairs]      compute the truths (minutes)

Models, data and truths are kept in the folder ``tomography`` beside the networks' weights (see ``networks.py``). A
truth that was interrupted goes on where it was.
"""

from __future__ import annotations

import csv
import pickle
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import networks
import text_classifier
from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.answers.run import measure
from fieldcheck.tomography.perturbations import family
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.setup.space_file import SpaceFile
from fieldcheck.tomography.setup.subject import Subject, of_space_file
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth

INPUTS = 400
"""Inputs of every truth."""


@dataclass(frozen=True)
class Task:
    """A model, its data, and what is done to them.

    make
        Writes the model and the data into a folder.
    model, data
        The tables of the space file.
    """

    name: str
    title: str
    perturbations: tuple[str, ...]
    make: Callable[[Path], None]
    model: dict[str, Any]
    data: dict[str, Any]

    def recipe(self, *, specs: Sequence[str] | None = None, inputs: int = INPUTS) -> SpaceFile:
        """The space file as the product reads it; the model and its data are made where they are missing."""
        folder = kept()
        if not (folder / self.model["file"]).exists():
            self.make(folder)
        return SpaceFile(_space(specs or self.perturbations), folder, self.model, {**self.data, "limit": inputs})

    def subject(self, *, specs: Sequence[str] | None = None, inputs: int = INPUTS) -> Subject:
        """The model with its data, ready to be measured."""
        return of_space_file(self.recipe(specs=specs, inputs=inputs), trust=True)


def _space(specs: Sequence[str]) -> Space:
    return Space(tuple(Axis(spec.partition(":")[0], 5, spec) for spec in specs))


def kept(name: str = "") -> Path:
    """Where models, data, runs and truths are kept."""
    folder = networks.cache_folder() / "tomography"
    folder.mkdir(exist_ok=True)
    return folder / name


def _export(name: str, data: Callable[[str], tuple[networks.Images, Any]]) -> Callable[[Path], None]:
    """How to write a network as ONNX beside its test images."""

    def make(folder: Path) -> None:
        images, labels = data("test")
        network, sample = networks.trained(name), networks.batch_of(images[:2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs another package
            torch.onnx.export(
                network, sample, folder / f"{name}.onnx", input_names=["images"], dynamic_axes={"images": {0: "n"}},
                dynamo=False,
            )  # fmt: skip
        np.savez(folder / f"{name}.npz", images=images, labels=labels)

    return make


def _write(name: str, model: Callable[[], Any], data: Callable[[], text_classifier.Texts]) -> Callable[[Path], None]:
    """How to write a text classifier beside its test texts."""

    def make(folder: Path) -> None:
        texts, labels = data().test
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([("text", "label"), *zip(texts, labels.tolist(), strict=True)])
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(model()))

    return make


def _text(name: str, title: str, model: Callable[[], Any], data: Callable[[], text_classifier.Texts]) -> Task:
    columns = {"file": f"{name}.csv", "kind": "text", "text": "text", "label": "label"}
    return Task(name, title, tuple(family("text")), _write(name, model, data), {"file": f"{name}.pkl"}, columns)


TASKS = {
    task.name: task
    for task in (
        Task(
            "digits", "LeNet-5, MNIST", tuple(family("digits")), _export("lenet5", networks.mnist),
            {"file": "lenet5.onnx"}, {"file": "lenet5.npz"},
        ),
        Task(
            "photos", "ResNet, CIFAR-10", tuple(family("natural")), _export("resnet", networks.cifar10),
            {"file": "resnet.onnx"}, {"file": "resnet.npz"},
        ),
        _text("topics", "TF-IDF, docstrings", text_classifier.topic_classifier, text_classifier.topics),
        _text("pairs", "overlap, question pairs", text_classifier.pair_classifier, text_classifier.pairs),
    )
}  # fmt: skip


def truth(task: Task) -> RecordedTruth:
    """All tests on all inputs; computed once."""
    path = kept() / f"{task.name}_truth.npz"
    if not path.exists():
        _record(task, path)
    return read_truth(path)


def _record(task: Task, path: Path) -> None:
    subject = task.subject()
    run = measure(
        subject, plan=plans.build("full"), folder=kept() / f"{task.name}_full", resume=True, progress=_say(task.name)
    )
    held = np.zeros((subject.space.size, subject.inputs), dtype=np.bool_)
    held[run.outcomes.tests, run.outcomes.inputs] = run.outcomes.held > 0
    alike = subject.alike()
    same: dict[str, Any] = {} if alike is None else {"alike": alike.first.astype(np.int16)}
    np.savez_compressed(
        path,
        tests=subject.space.severities(np.arange(subject.space.size)).astype(np.int8),
        perturbations=np.array(subject.space.names),
        correct=np.packbits(held, axis=1),
        inputs=subject.inputs,
        labels=np.zeros(0) if subject.classes is None else subject.classes,
        classes=round(1 / subject.guess),
        **same,
    )


def _say(name: str) -> Callable[[int, int], None]:
    def say(done: int, total: int) -> None:
        if done == total or done % (4096 * 20) == 0:
            print(f"{name}: {done:,} of {total:,}", file=sys.stderr, flush=True)

    return say


def main() -> None:
    for name in sys.argv[1:] or TASKS:
        found = truth(TASKS[name])
        print(f"{name}: {found.space.size} tests x {found.inputs}, unperturbed {found.robustness[0]:.3f}")


if __name__ == "__main__":
    main()
