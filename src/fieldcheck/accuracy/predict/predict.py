"""A model, inputs and a reference become a pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fieldcheck import models
from fieldcheck.accuracy.auxiliary.base import FittedAuxiliary
from fieldcheck.accuracy.predict.activations import ActivationsFile, FilledRows
from fieldcheck.accuracy.predict.batch import Runner
from fieldcheck.accuracy.predict.blocks import FittedVariable
from fieldcheck.accuracy.predict.needs import chosen, needed, said
from fieldcheck.accuracy.predict.passes import Done, KeptOutputs, pool_pass
from fieldcheck.accuracy.predict.pool import PoolTruth, as_pool
from fieldcheck.accuracy.predict.reference import Found, ItemsAndReference
from fieldcheck.accuracy.predict.second_models import extractor_for, member_for
from fieldcheck.accuracy.predict.symmetry import Symmetry, symmetry_of
from fieldcheck.core.errors import FieldcheckError, ModelError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files.whole import whole_file
from fieldcheck.models.base import Model
from fieldcheck.models.classes import class_names

MANY_CLASSES = 50
"""With more classes their probabilities are not kept, unless they are asked for."""


def predict(  # noqa: PLR0913 -- all optional
    model: Any,
    inputs: Any,
    *,
    reference: Any = None,
    auxiliary: Sequence[str] | None = None,
    layer: str = "auto",
    member: Any = None,
    symmetry: str | Symmetry | None = None,
    features: Any = None,
    batch: int = 256,
    activations: str | Path | ActivationsFile | None = None,
    labels: Any = None,
    classes: Sequence[str] | None = None,
    prepare: models.Preparation | None = None,
    opening: models.Opening | None = None,
    reference_limit: int | None = None,
    keep_probabilities: bool | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Pool:
    """The pool of what a model says about inputs, with auxiliary variables.

    The batch size does not matter beyond rounding: probabilities agree to 1e-6. Everything that was decided on the
    way is in the notes of the pool.

    model
        An opened ``Model``, or whatever ``models.open_model`` takes; ``opening`` says how it is opened.
    inputs, reference
        ``Inputs``, or whatever ``sources.open_inputs`` takes. The reference is what the model was trained on; it is
        only run where an auxiliary variable needs it. ``reference_limit`` of its items, drawn at random, may do.
    auxiliary
        Names, with parameters after a colon. By default confidence, and none in regression.
    layer
        Whose activations the auxiliary variables, and ``activations``, are about; ``auto``: the last hidden one.
    member
        A second model, for the variable ``member``; ``"train"`` trains a small one on the reference.
    symmetry
        ``flip`` (left-right), ``flop`` (top-bottom), or a function of a batch as it is read, for the variable
        ``symmetry``: only where the truth does not change under it.
    features
        A model that knows nothing of this one, as a maker of features; by default the inputs, flattened.
    activations
        A ``.npy`` file for the activations of ``layer``, one row per item. It is complete or not there.
    labels
        The truth, one per item; True takes what the inputs know. A pool with truth is for simulation.
    classes
        Names of the model's outputs, where neither it nor the inputs know them.
    prepare
        What is done to the inputs before the model gets them.
    keep_probabilities
        By default they are kept for up to 50 classes.
    progress
        Called with the number of items done and that of all, those of the reference included.
    """
    part = ActivationsFile(Path(activations)) if isinstance(activations, (str, Path)) else activations
    asked = Prediction(
        model,
        inputs,
        reference=reference,
        auxiliary=auxiliary,
        layer=layer,
        member=member,
        symmetry=symmetry,
        features=features,
        batch=batch,
        labels=labels,
        classes=classes,
        prepare=prepare,
        opening=opening,
        reference_limit=reference_limit,
        keep_probabilities=keep_probabilities,
        seed=seed,
    )
    return asked.pool(progress, part)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is asked of a model; ``predict`` has the words. Inputs may be a ``partial`` that opens them."""

    model: Any
    inputs: Any
    reference: Any = None
    auxiliary: Sequence[str] | None = None
    layer: str = "auto"
    member: Any = None
    symmetry: str | Symmetry | None = None
    features: Any = None
    batch: int = 256
    labels: Any = None
    classes: Sequence[str] | None = None
    prepare: models.Preparation | None = None
    opening: models.Opening | None = None
    reference_limit: int | None = None
    keep_probabilities: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise FieldcheckError(f"a batch of {self.batch} items", rule="at least one", hint="--batch 256")

    def pool(self, progress: Callable[[int, int], None] | None = None, part: ActivationsFile | None = None) -> Pool:
        """The pool, in memory; its activations in a file, where one is given."""
        ready = self.prepared(progress, activations=part is not None)
        kept, written = _run(ready, part=part, batch=self.batch)
        return as_pool(ready.items, kept, truth=ready.truth, notes=ready.notes + ready.about_kept(written))

    def prepared(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        activations: bool = False,
        fitted: Mapping[str, FittedAuxiliary] | None = None,
    ) -> Prepared:
        """Everything opened, checked, and fitted to the reference, unless that was done elsewhere."""
        preparation = self.prepare or models.Preparation()
        how = replace(self.opening or models.Opening(), layer=self.layer)
        inputs, reference = _opened(self.inputs), _opened(self.reference)
        study = ItemsAndReference.of(inputs, reference, limit=self.reference_limit, seed=self.seed)
        ready = models.opened(self.model, study.items, opening=how, preparation=preparation)
        width = _width(ready, study.items)
        names, named = class_names(ready.model, study.sources(), given=self.classes, width=width)
        truth = PoolTruth(self.labels, study.items, names, ready.model.task)
        truth.check()
        found = chosen(self.auxiliary, ready.model.task, extra=_implied(member=self.member, symmetry=self.symmetry))
        parts = needed(found, reference=False)
        runner = Runner(
            ready.model,
            ready.steps,
            layer=_layer(ready.model, wanted="activations" in parts or activations),
            parts=parts,
            symmetry=symmetry_of(self.symmetry, study.items),
            features=extractor_for(self.features, study.items, opening=how, preparation=preparation),
        )
        if fitted is None:
            study.check(found, runner, member=self.member is not None)
        second, about = member_for(self.member, study, names, opening=how, preparation=preparation, seed=self.seed)
        runner = replace(runner, member=second)
        count = Counter(progress, len(study.items) + study.reference_size(found), len(study.items))
        if fitted is None:
            fitted = _fitted(found, runner, study, names=names, batch=self.batch, done=count.add, seed=self.seed)
        return Prepared(
            study.items,
            runner,
            {name: FittedVariable(one, found[name].needs) for name, one in fitted.items()},
            truth,
            width,
            width <= MANY_CLASSES if self.keep_probabilities is None else self.keep_probabilities,
            (*getattr(study.items, "notes", ()), *ready.notes, *named, *study.notes, *about, *said(fitted)),
            count,
        )


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model and all that is asked about it, ready to run over the items.

    width
        Number of classes; 0 in regression.
    keep
        Whether the probabilities of all classes are kept.
    """

    items: Inputs
    runner: Runner
    asked: Mapping[str, FittedVariable]
    truth: PoolTruth
    width: int
    keep: bool
    notes: tuple[str, ...]
    count: Counter

    def about_kept(self, written: str = "") -> tuple[str, ...]:
        """What to say about what was kept and what was not."""
        notes = [f"activations: layer '{self.runner.layer}'{written}"] if self.runner.layer else []
        if self.width and not self.keep:
            notes.append(f"the probabilities of {self.width:,} classes are not kept, only that of the predicted class")
        return tuple(notes)


def _opened(given: Any) -> Any:
    return given() if isinstance(given, partial) else given


def _implied(**given: Any) -> list[str]:
    """Variables that come with an option of the same name."""
    return [name for name, value in given.items() if value is not None]


def _width(ready: models.Opened, items: Inputs) -> int:
    """Number of classes; 0 in regression."""
    if ready.model.task == "regression":
        return 0
    return int(ready.model.respond(ready.steps(items.batch(0, 1))).outputs.shape[1])


def _layer(model: Model, *, wanted: bool) -> str:
    if wanted and not model.layer:
        raise ModelError(
            "this model shows no layers",
            rule="activations come from a layer of the model",
            hint="auxiliary variables that need none: confidence, margin, entropy, gini",
        )
    return model.layer if wanted else ""


def _fitted(
    found: Found, runner: Runner, study: ItemsAndReference, *, names: tuple[str, ...], batch: int, done: Done, seed: int
) -> dict[str, FittedAuxiliary]:
    trace = study.trace(found, runner, names, batch=batch, done=done)
    return {name: one.fit(trace if one.needs_reference else None, seed=seed) for name, one in found.items()}


def _run(ready: Prepared, *, part: ActivationsFile | None, batch: int) -> tuple[KeptOutputs, str]:
    """The pass over the pool, and what was written on the way, in words."""
    how: dict[str, Any] = {"batch": batch, "done": ready.count.add, "keep_outputs": ready.keep}
    if part is None:
        return pool_pass(ready.runner, ready.items, ready.asked, **how), ""
    with whole_file(part.path) as place:
        matrix = FilledRows(place, len(ready.items), part.dtype)
        kept = pool_pass(ready.runner, ready.items, ready.asked, matrix=matrix, **how)
        rows, columns = matrix.close()
    return kept, f", {rows:,} x {columns:,}, {part.dtype}, in {part.path}"


@dataclass
class Counter:
    """Items done, told to whoever wants to know; ``whole`` of the ``total`` are no reference."""

    tell: Callable[[int, int], None] | None
    total: int
    whole: int
    done: int = 0

    def add(self, items: int) -> None:
        self.done += items
        if self.tell is not None:
            self.tell(self.done, self.total)

    def reach(self, items: int) -> None:
        """So many of the items are done, wherever that was."""
        self.add(max(self.total - self.whole + items - self.done, 0))
