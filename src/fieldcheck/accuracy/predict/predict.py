"""A model, inputs and a reference become a pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    if batch < 1:
        raise FieldcheckError(f"a batch of {batch} items", rule="at least one", hint="--batch 256")
    preparation, how = prepare or models.Preparation(), replace(opening or models.Opening(), layer=layer)
    part = ActivationsFile(Path(activations)) if isinstance(activations, (str, Path)) else activations
    study = ItemsAndReference.of(inputs, reference, limit=reference_limit, seed=seed)
    ready = models.opened(model, study.items, opening=how, preparation=preparation)
    width = _width(ready, study.items)
    names, named = class_names(ready.model, study.sources(), given=classes, width=width)
    truth = PoolTruth(labels, study.items, names, ready.model.task)
    truth.check()
    found = chosen(auxiliary, ready.model.task, extra=_implied(member=member, symmetry=symmetry))
    parts = needed(found, reference=False)
    runner = Runner(
        ready.model,
        ready.steps,
        layer=_layer(ready.model, wanted="activations" in parts or part is not None),
        parts=parts,
        symmetry=symmetry_of(symmetry, study.items),
        features=extractor_for(features, study.items, opening=how, preparation=preparation),
    )
    study.check(found, runner, member=member is not None)
    second, about = member_for(member, study, names, opening=how, preparation=preparation, seed=seed)
    count = Counter(progress, len(study.items) + study.reference_size(found))
    fitted = _fitted(found, replace(runner, member=second), study, names=names, batch=batch, done=count.add, seed=seed)
    keep = width <= MANY_CLASSES if keep_probabilities is None else keep_probabilities
    kept, written = _run(
        replace(runner, member=second),
        study.items,
        {name: FittedVariable(one, found[name].needs) for name, one in fitted.items()},
        part=part,
        keep=keep,
        batch=batch,
        done=count.add,
    )
    notes = (*getattr(study.items, "notes", ()), *ready.notes, *named, *study.notes, *about, *said(fitted))
    notes += _about_kept(runner, written, width=width, keep=keep)
    return as_pool(study.items, kept, truth=truth, notes=notes)


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


def _run(
    runner: Runner,
    items: Inputs,
    asked: dict[str, FittedVariable],
    *,
    part: ActivationsFile | None,
    keep: bool,
    batch: int,
    done: Done,
) -> tuple[KeptOutputs, str]:
    """The pass over the pool, and what was written on the way, in words."""
    if part is None:
        return pool_pass(runner, items, asked, batch=batch, done=done, keep_outputs=keep), ""
    with whole_file(part.path) as place:
        matrix = FilledRows(place, len(items), part.dtype)
        kept = pool_pass(runner, items, asked, batch=batch, done=done, matrix=matrix, keep_outputs=keep)
        rows, columns = matrix.close()
    return kept, f", {rows:,} x {columns:,}, {part.dtype}, in {part.path}"


def _about_kept(runner: Runner, written: str, *, width: int, keep: bool) -> tuple[str, ...]:
    notes = [f"activations: layer '{runner.layer}'{written}"] if runner.layer else []
    if width and not keep:
        notes.append(f"the probabilities of {width:,} classes are not kept, only that of the predicted class")
    return tuple(notes)


@dataclass
class Counter:
    """Items done, told to whoever wants to know."""

    tell: Callable[[int, int], None] | None
    total: int
    done: int = 0

    def add(self, items: int) -> None:
        self.done += items
        if self.tell is not None:
            self.tell(self.done, self.total)
