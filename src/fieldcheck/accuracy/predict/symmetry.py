"""Copies of the inputs under a symmetry of the data: the truth stays, a good model should not care."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs

Symmetry = Callable[[Any], Any]


AXES = {"flip": 2, "flop": 1}
"""By name, the axis of a batch of images that is turned around: left and right, or top and bottom."""


def symmetry_of(given: str | Symmetry | None, inputs: Inputs) -> Symmetry | None:
    """The function from a batch as it is read to its mirrored copy."""
    if given is None or callable(given):
        return given
    if given not in AXES:
        raise InputsError(f"no symmetry '{given}'", rule="flip (left-right), flop (top-bottom), or a function")
    if inputs.kind != "image":
        raise InputsError(f"symmetry '{given}' for inputs of kind '{inputs.kind}'", rule="only images are mirrored")
    axis = AXES[given]
    return lambda batch: np.flip(batch, axis=axis)
