"""Second models: a member that is asked about the same items, an extractor of features."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isfunction
from typing import Any

import numpy as np

from fieldcheck import models
from fieldcheck.accuracy import auxiliary as variables
from fieldcheck.accuracy.predict.batch import Second, extractor_of, member_of
from fieldcheck.accuracy.predict.reference import ItemsAndReference
from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs

TRAIN = "train"
"""The word for a member that is trained here, on the reference."""


BLOCK = 1_024


def member_for(
    given: Any,
    study: ItemsAndReference,
    names: tuple[str, ...],
    *,
    opening: models.Opening,
    preparation: models.Preparation,
    seed: int,
) -> tuple[Second | None, tuple[str, ...]]:
    """The member, given or trained on the reference, and what to say about it."""
    if given is None:
        return None, ()
    if isinstance(given, str) and given == TRAIN:
        return _trained(study, names, seed=seed)
    how = models.Opening(task="classification", trust=opening.trust)
    own = models.opened(given, study.items, opening=how, preparation=preparation)
    return member_of(own.model, own.steps, names), tuple(f"member: {note}" for note in own.notes)


def _trained(study: ItemsAndReference, names: tuple[str, ...], *, seed: int) -> tuple[Second, tuple[str, ...]]:
    labels = study.codes(names, "classification")
    if study.reference is None or labels is None:
        raise InputsError(
            "a member cannot be trained without a reference that has labels",
            rule="it learns from the data that the model was trained on",
            hint="--reference TRAIN --label COLUMN; or --member MODEL",
        )
    member = variables.train_member(_whole(study.reference), labels, names, seed=seed)
    return Second(models.Steps(study.items.kind), member), member.notes


def _whole(inputs: Inputs) -> Any:
    """All items as they are read: a member that is trained here scales them itself."""
    parts: Sequence[Any] = [inputs.batch(at, min(at + BLOCK, len(inputs))) for at in range(0, len(inputs), BLOCK)]
    return [text for part in parts for text in part] if inputs.kind == "text" else np.concatenate(parts)


def extractor_for(
    given: Any, items: Inputs, *, opening: models.Opening, preparation: models.Preparation
) -> Second | None:
    """The maker of features: a function of scaled inputs, or a model, whose outputs may mean anything."""
    if given is None:
        return None
    if isfunction(given):
        return Second(models.steps_without_layout(preparation, items), given)
    own = models.opened(
        given, items, opening=models.Opening(trust=opening.trust, outputs="logits"), preparation=preparation
    )
    return extractor_of(own.model, own.steps)
