"""Full truths of the five tasks: every test of a space on every input, recorded once and kept."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import subjects
from pages import Run

from fieldcheck.core.space import Space
from fieldcheck.tomography.answers.run import measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.runs.folder import RunFolder
from fieldcheck.tomography.setup.space_file import read_space_file
from fieldcheck.tomography.setup.subject import Subject, of_space_file
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth


@dataclass(frozen=True)
class Task:
    """One of the paper's: what it has, and on how many inputs we have the truth, by number of perturbations."""

    title: str
    model: str
    size: int
    accuracy: float
    inputs: dict[int, int]
    ours: str


TASKS = {
    "digits": Task("MNIST", "LeNet-5", 10_000, 0.984, {3: 1_000, 4: 1_000}, "LeNet-5"),
    "photos": Task("CIFAR-10", "WRN-28-10", 10_000, 0.947, {3: 1_000}, "CNN of 8 layers"),
    "driving": Task("Roboflow", "YOLOv11s", 1_000, 0.822, {3: 422}, "YOLOX-nano"),
    "pairs": Task("QQP", "RoBERTa", 1_000, 0.912, {3: 1_000}, "MiniLM, head of two layers"),
    "signs": Task("GTSRB", "CNN-SE", 12_630, 0.976, {3: 1_000, 4: 1_000}, "CNN of 5 layers"),
}


def names(run: Run, axes: int = 3) -> list[str]:
    """The tasks whose truth there is in so many dimensions."""
    return ["digits"] if run.short else [name for name, task in TASKS.items() if axes in task.inputs]


def spaces(run: Run) -> list[tuple[str, int]]:
    """Every truth that there is: its task and its dimensions, those of three first."""
    return [(name, axes) for axes in (3, 4) for name in names(run, axes)]


@cache
def folder(run: Run) -> Path:
    """Where models and truths are kept."""
    if run.short or run.keep is None:
        return Path(tempfile.mkdtemp())
    return run.keep / "testifai"


@cache
def subject(run: Run, name: str, axes: int, inputs: int) -> Subject:
    """The model of a task with the first perturbations of its space file."""
    place = subjects.prepared(run.data, folder(run), name, short=run.short)
    sys.path.append(str(place.parent))  # the model of the pairs is code beside the space file
    found = read_space_file(place)
    assert found.space is not None
    space = Space(found.space.axes[:axes])
    return of_space_file(replace(found, space=space, data={**found.data, "limit": inputs}), trust=True)


@cache
def truth(run: Run, name: str, axes: int = 3) -> RecordedTruth:
    if run.short:
        known = read_truth(run.data / "tomography" / "lenet_mnist.npz")
        return known.along(known.space.names[:axes])
    path = file_of(run, name, axes)
    if not path.exists():
        record(subject(run, name, axes, TASKS[name].inputs[axes]), path)
    return read_truth(path)


def file_of(run: Run, name: str, axes: int) -> Path:
    return folder(run) / f"{name}_{axes}d.npz"


def record(found: Subject, path: Path) -> None:
    """All tests on all inputs, and the seconds of those that this go made: an earlier one may have begun."""
    begun = path.with_suffix("")
    before = len(RunFolder.open(begun).read()[0].applicable) if begun.exists() else 0
    done = measure(found, plan=plans.build("full"), folder=begun, resume=True)
    held, applies = np.zeros((2, found.space.size, found.inputs), dtype=np.bool_)
    held[done.outcomes.tests, done.outcomes.inputs] = done.outcomes.held > 0
    applies[done.outcomes.tests, done.outcomes.inputs] = True
    bits: dict[str, Any] = {} if applies.all() else {"applies": np.packbits(applies, axis=1)}
    bits |= {} if found.classes is None else {"labels": found.classes}
    bits |= {} if (alike := found.alike()) is None else {"alike": alike.first.astype(np.int16)}
    assert found.clock is not None
    np.savez_compressed(
        path,
        tests=found.space.severities(np.arange(found.space.size)).astype(np.int8),
        perturbations=np.array(found.space.names),
        correct=np.packbits(held, axis=1),
        inputs=found.inputs,
        classes=round(1 / found.guess) if found.guess else 0,
        seconds=[found.clock.perturbing, found.clock.inferring],
        timed=len(done.outcomes) - before,
        **bits,
    )
