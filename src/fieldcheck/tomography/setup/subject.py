"""What is put to the test: a model with its data, or a recorded truth that stands in for both."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fieldcheck import models, sources
from fieldcheck.core import boxes as box
from fieldcheck.core import inputs as items
from fieldcheck.core import measures
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Inputs, Subset
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.rng import stream
from fieldcheck.core.space import Axis, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.models import classes as naming
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.perturbations.base import Perturbation
from fieldcheck.tomography.setup.executor import Check, Clock, Executor, Respond, against, entries
from fieldcheck.tomography.setup.scenes import VISIBLE, Right, Scenes
from fieldcheck.tomography.setup.space_file import OPENING, PREPARATION, READING, SpaceFile
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth
from fieldcheck.tomography.surrogates.alike import Alike
from fieldcheck.tomography.surrogates.left import ShareLeft

Measuring = Callable[[IntArray, IntArray, IntArray | None], FloatArray]
"""From tests, inputs and arrangements, one per row, to whether the check holds: 1.0 or 0.0."""


Observing = Callable[[IntArray, IntArray, IntArray | None], tuple[FloatArray, box.Objects | None]]


@dataclass(frozen=True, eq=False)
class Subject:
    """Whatever can be measured in a space.

    inputs
        Number of inputs of the data.
    classes
        Code of the true class of each input; None where there are no classes.
    guess
        Robustness of blind guessing.
    digest
        What it was made from: a run goes on only with the same.
    notes
        What was found out when it was opened.
    recorded_left, recorded_alike
        The share of the inputs with an object left, and which tests make the same of an input, where that was recorded.
    one_order
        Whether perturbations can be applied in the space's own order only.
    """

    space: Space
    inputs: int
    measure: Measuring
    classes: IntArray | None = None
    guess: float = 0.0
    digest: Mapping[str, str] | None = None
    clock: Clock | None = None
    notes: tuple[str, ...] = ()
    executor: Executor | None = None
    recorded_left: ShareLeft | None = None
    recorded_alike: Alike | None = None
    one_order: bool = False

    def left(self) -> ShareLeft | None:
        """The share of the inputs with an object left, where the truth is boxes."""
        return self.recorded_left if self.executor is None else self.executor.left()

    def alike(self) -> Alike | None:
        """Which tests make the same of which inputs, where some do."""
        return self.recorded_alike if self.executor is None else self.executor.alike()

    @property
    def observe(self) -> Observing:
        """What ``measure`` says, and single objects where the truth is boxes."""
        if self.executor is not None:
            return self.executor.observe
        return lambda tests, inputs, arrangements: (self.measure(tests, inputs, arrangements), None)


def of_truth(truth: RecordedTruth) -> Subject:
    """A recorded truth as a subject; the order of perturbations is the recorded one."""

    def measure(tests: IntArray, inputs: IntArray, arrangements: IntArray | None) -> FloatArray:
        return truth.measure(tests, inputs).held

    digest = {"truth": hashlib.sha256(np.packbits(truth.held).tobytes()).hexdigest()[:16]}
    return Subject(
        truth.space,
        truth.inputs,
        measure,
        truth.labels,
        truth.guess,
        digest,
        recorded_left=truth.left,
        recorded_alike=truth.alike,
        one_order=True,
    )


def of_space_file(file: SpaceFile, *, trust: bool = False) -> Subject:
    """What a space file names.

    trust
        Whether code that the file names may run: a pickled model, TorchScript, a check function, a perturbation.
    """
    if file.truth:
        truth = read_truth(file.path("truth"))
        wanted = file.truth.get("perturbations")
        return of_truth(truth.along(wanted) if wanted else truth)
    inputs = _inputs(file)
    opened = models.opened(
        file.code.text if file.code else file.path("model"),
        inputs,
        opening=_opening(file, trust),
        preparation=_preparation(file),
    )
    space = file.space
    if space is None:
        raise SpaceError("no perturbation", rule="one [[perturbation]] or more")
    scenes, respond = _scenes(file, inputs, opened, trust=trust)
    check, classes, guess = (
        _checking(file, inputs, opened, respond, trust=trust) if scenes is None else (_unasked, None, 0.0)
    )
    executor = Executor(
        space=space,
        perturbations=[_perturbation(axis, trust=trust) for axis in space.axes],
        inputs=inputs,
        respond=respond,
        check=check,
        seed=file.seed,
        batch=int(file.model.get("batch", 512)),
        hidden=_hidden(opened),
        scenes=scenes,
    )
    digest = {
        "model": _model_digest(file),
        "data": file_digest(file.path("data")) + file.data_source.removeprefix(str(file.path("data"))),
        "settings": _settings(file),
    }
    return Subject(space, len(inputs), executor.measure, classes, guess, digest, executor.clock, opened.notes, executor)


def _model_digest(file: SpaceFile) -> str:
    """A fingerprint of the model's file; of code that was imported, its name with those of its module and weights."""
    code = file.code
    if code is None:
        return file_digest(file.path("model"))
    source = getattr(sys.modules[code.module], "__file__", None)
    files = [file_digest(Path(one)) for one in (source, code.weights) if one is not None]
    return " ".join([str(file.model["file"]), *files])


def _settings(file: SpaceFile) -> str:
    """All that the file says of model, data and check, but where they are and what changes no outcome."""
    tables = [
        {name: value for name, value in table.items() if name not in ("file", "batch", "threads", "expect")}
        for table in (file.model, file.data, file.check)
    ]
    return json.dumps(tables, sort_keys=True, default=str)


def _perturbation(axis: Axis, *, trust: bool) -> Perturbation:
    """The perturbation of an axis, with the amounts that its levels were given."""
    found = _named_perturbation(axis.perturbation or axis.name, trust=trust)
    if not axis.amounts:
        return found
    if "amounts" not in {one.name for one in fields(cast(Any, found))}:
        raise SpaceError(
            f"{found.name} takes no amounts",
            rule="its levels have no single number each",
            hint="levels = [0, 2, 5] chooses among its own levels",
        )
    return cast(Perturbation, replace(cast(Any, found), amounts=axis.every_amount()))


def _named_perturbation(spec: str, *, trust: bool) -> Perturbation:
    """What a spec names: ``name:parameter=value`` of the registry, or ``module:name`` of the user's."""
    if ":" not in spec or "=" in spec:
        return perturbations.registry.build(spec)
    found = models.named_object(spec, trust=trust)
    made = found() if isinstance(found, type) else found
    if not isinstance(made, Perturbation):
        raise SpaceError(f"'{spec}' is no perturbation", rule="what @perturbations.register made of a function")
    return made


def _hidden(opened: models.Opened) -> Respond | None:
    """What the model's last hidden layer says of a batch; None where it shows no layer."""
    layer = opened.model.layer
    if not layer:
        return None
    return lambda batch: opened.model.respond(opened.steps(batch), layers=[layer]).activations[layer]


def _opening(file: SpaceFile, trust: bool) -> models.Opening:
    given = {name: value for name, value in file.model.items() if name in OPENING}
    if file.reads_raw or "decoder" in file.model:
        given.setdefault("outputs", "raw")
    if isinstance(file.measure, measures.Tolerance | measures.Error):
        given.setdefault("task", "regression")
    return models.Opening(**given, trust=trust)


def _preparation(file: SpaceFile) -> models.Preparation:
    return models.Preparation(**{name: value for name, value in file.model.items() if name in PREPARATION})


def _inputs(file: SpaceFile) -> Inputs:
    given = {name: value for name, value in file.data.items() if name in READING}
    inputs = sources.open_inputs(file.data_source, **given)
    limit = int(file.data.get("limit", len(inputs)))
    if limit < 2:
        raise SpaceError(f"limit = {limit}", rule="two inputs or more")
    if limit >= len(inputs):
        return inputs
    words = stream(file.seed, "limit").bit_generator.random_raw(len(inputs))
    return Subset(inputs, np.sort(np.argsort(words, kind="stable")[:limit]).astype(np.int64))


def _labels(inputs: Inputs) -> npt.NDArray[Any]:
    if inputs.labels is None:
        raise SpaceError(
            "the data have no labels", rule="a check compares with the truth", hint='label = "COLUMN" in [data]'
        )
    return np.asarray(inputs.labels)


def _checking(
    file: SpaceFile, inputs: Inputs, opened: models.Opened, respond: Respond, *, trust: bool
) -> tuple[Check, IntArray | None, float]:
    """The check, the classes of the inputs, and the robustness of guessing."""
    measure = file.measure
    if file.check.get("kind") == "function":
        own = models.named_object(str(file.check["function"]), trust=trust)
        return against(own, _labels(inputs)), None, 0.0
    if isinstance(measure, measures.Accuracy) and opened.model.task != "classification":
        raise SpaceError("the model gives values, not classes", rule="the check is a tolerance", hint="[check]")
    if file.check.get("reference") == "unperturbed":
        return _against_itself(measure, inputs, respond), None, 0.0
    labels = _labels(inputs)
    if not isinstance(measure, measures.Accuracy):
        return against(measure, labels), None, 0.0
    width = respond(inputs.batch(0, 1)).shape[1]
    names, _ = naming.class_names(opened.model, [inputs], given=file.model.get("classes"), width=width)
    codes = naming.as_codes(labels, names, where=inputs.name)
    return against(measure, codes), codes, measure.top / width


def _against_itself(measure: Measure, inputs: Inputs, respond: Respond) -> Check:
    """Right is what the model says of the unperturbed input, asked for once."""
    known: dict[int, Any] = {}

    def check(outputs: npt.NDArray[Any], at: IntArray) -> npt.NDArray[Any]:
        new = np.array(sorted(set(at.tolist()) - known.keys()), dtype=np.int64)
        if len(new):
            said = respond(items.gather(inputs, new))
            truths = said.argmax(axis=1) if isinstance(measure, measures.Accuracy) else said
            known.update(zip(new.tolist(), truths, strict=True))
        return ~measure.failed(measure.losses(outputs, [known[one] for one in at.tolist()]))

    return check


def _unasked(outputs: npt.NDArray[Any], at: IntArray) -> npt.NDArray[Any]:
    raise AssertionError("where the truth is boxes, the scenes are asked")


def _scenes(file: SpaceFile, inputs: Inputs, opened: models.Opened, *, trust: bool) -> tuple[Scenes | None, Respond]:
    """True boxes where the check is about boxes, and what the model says: boxes in the picture then."""
    steps, model = opened.steps, opened.model
    boxed = isinstance(file.measure, measures.Detection | measures.DetectionF1)
    function = file.check.get("kind") == "function"
    if not boxed and "decoder" not in file.model:
        return None, lambda batch: model.respond(steps(batch)).outputs
    if not boxed and not function:
        raise SpaceError(
            f"the model gives boxes, and the check is '{file.check.get('kind', 'label')}'",
            rule="boxes are held against boxes: detection, detection-f1, or a function of yours",
            hint='kind = "detection" in [check]',
        )
    given = [(one["truth"], one["model"]) for one in file.check.get("classes", {}).values()]
    names = {"truth": getattr(inputs, "classes", ()), "model": file.model.get("classes", ())}
    groups = models.ClassGroups.of(given, **names) if given else None
    detector = models.Detector.of(opened, inputs, str(file.model.get("decoder", "boxes")), groups=groups, trust=trust)
    right: Right = models.named_object(str(file.check["function"]), trust=trust) if function else file.measure
    truths = [detector.true_boxes(label) for label in _labels(inputs)]
    visible = float(file.check.get("visible", VISIBLE))
    scenes = Scenes(truths, detector.height, detector.width, right, visible)
    return scenes, lambda batch: entries(detector(batch))


def file_digest(path: Path) -> str:
    """A fingerprint of a file; of a folder, the names and sizes of what is in it."""
    total = hashlib.sha256()
    if path.is_dir():
        for one in sorted(path.rglob("*")):
            total.update(f"{one.relative_to(path).as_posix()}:{one.stat().st_size};".encode())
    elif path.exists():
        with path.open("rb") as stream:
            while block := stream.read(2**20):
                total.update(block)
    return total.hexdigest()[:16]
