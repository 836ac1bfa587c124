"""From inputs as they are read to what the model gets: scale, layout of images, type of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError, ModelError
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.models.base import LAYOUTS, Layout, Model
from fieldcheck.models.fit import FitKind, PictureFit

Array = npt.NDArray[Any]

TYPES = ("auto", "float32", "float64", "float16", "uint8", "int64")

WORDS = {"first": "channels first", "last": "channels last", "flat": "flattened", "plain": "as read"}

PROBE = 2
"""Items that a layout is tried with."""


@dataclass(frozen=True)
class Preparation:
    """What the user wants done to the inputs.

    scale
        ``auto``: images of 8 bits become numbers from 0 to 1, everything else stays. ``none``. ``0-1``: divided by
        255. ``MEAN,STD``: images of 8 bits divided by 255, then ``(x - mean) / std``; several channels between
        slashes: ``0.485/0.456/0.406,0.229/0.224/0.225``.
    layout
        Of images: channels ``first`` or ``last`` (grey images get an axis for theirs), ``flat``, ``plain`` (as read).
        ``auto``: the usual one of the kind of model that this model takes.
    dtype
        ``auto``: float32 for scaled images, everything else as read.
    fit
        Of images, to the size that the model takes: ``letterbox`` (enlarged or shrunk as a whole, in the upper left
        corner, the rest grey), ``letterbox-centre`` (in the middle), ``stretch``; ``none``: they have it.
    size
        ``WIDTHxHEIGHT`` that images are fitted to; empty: what the model says itself.
    channels
        ``bgr``: blue first, for models that were trained so.
    """

    scale: str = "auto"
    layout: Layout | Literal["auto"] = "auto"
    dtype: str = "auto"
    fit: FitKind = "none"
    size: str = ""
    channels: Literal["rgb", "bgr"] = "rgb"

    def __post_init__(self) -> None:
        known = ("auto", *get_args(Layout))
        if self.layout not in known:
            raise InputsError(f"no layout '{self.layout}'", rule=", ".join(known))
        if self.dtype not in TYPES:
            raise InputsError(f"no type '{self.dtype}'", rule=", ".join(TYPES))
        for what, given, words in (
            ("fit", self.fit, get_args(FitKind)),
            ("channels", self.channels, ("rgb", "bgr")),
        ):
            if given not in words:
                raise InputsError(f"no {what} '{given}'", rule=", ".join(words))
        self.moments()

    def fitting(self, takes: tuple[int, int] | None) -> PictureFit | None:
        """How images are brought to a size; ``takes``: width and height that the model says itself."""
        if self.fit == "none":
            return None
        width, _, height = self.size.partition("x")
        sides = (int(width), int(height)) if width.isdecimal() and height.isdecimal() else takes
        if sides is None or (self.size and not height.isdecimal()) or min(sides) < 1:
            raise InputsError(
                f"fit '{self.fit}' to the size '{self.size}'",
                rule="WIDTHxHEIGHT in pixels, where the model does not say what it takes",
                hint='size = "416x416" in [model]',
            )
        return PictureFit(self.fit, *sides)

    def layouts(self, usual: tuple[Layout, ...]) -> tuple[Layout, ...]:
        """Those to try in turn, where ``usual`` are those of the kind of model."""
        return usual if self.layout == "auto" else (self.layout,)

    def moments(self) -> tuple[Array, Array] | None:
        """Mean and standard deviation, one per channel or one for all; None where none are given."""
        if self.scale in ("auto", "none", "0-1"):
            return None
        try:
            mean, std = (np.array([float(one) for one in part.split("/")]) for part in self.scale.split(","))
        except ValueError:
            mean, std = np.zeros(1), np.zeros(1)
        if not np.all(np.isfinite(mean)) or not np.all(std > 0) or not np.all(np.isfinite(std)):
            raise InputsError(
                f"no scale '{self.scale}'",
                rule="auto, none, 0-1, or MEAN,STD with STD over 0; channels between slashes",
                hint="--scale 0.1307,0.3081",
            )
        return mean, std


@dataclass(frozen=True, eq=False)
class Steps:
    """What is done to every batch; nothing is left to guess."""

    kind: Kind
    divide: bool = False
    moments: tuple[Array, Array] | None = None
    layout: Layout = "plain"
    dtype: str = "auto"
    fit: PictureFit | None = None
    reverse: bool = False

    def __call__(self, batch: Any) -> Any:
        """The batch as the model gets it."""
        if self.kind == "text":
            return batch
        if self.fit is not None:
            batch = self.fit(batch)
        if self.reverse:
            batch = batch[..., ::-1]
        array = self._laid_out(self._scaled(batch)) if self.kind == "image" else self._scaled(batch)
        return array if self.dtype == "auto" else array.astype(self.dtype, copy=False)

    def _scaled(self, batch: Array) -> Array:
        if self.divide:
            batch = np.divide(batch, np.float32(255), dtype=np.float32)
        if self.moments is not None:
            mean, std = (part.astype(np.float32) for part in self.moments)
            batch = (batch - mean) / std
        return batch

    def _laid_out(self, batch: Array) -> Array:
        if self.layout == "plain":
            return batch
        if self.layout == "flat":
            return batch.reshape(len(batch), -1)
        with_channel = batch[..., None] if batch.ndim == 3 else batch
        return with_channel if self.layout == "last" else np.ascontiguousarray(np.moveaxis(with_channel, -1, 1))


def steps_without_layout(preparation: Preparation, inputs: Inputs, *, takes: tuple[int, int] | None = None) -> Steps:
    """Everything but the layout follows from the inputs."""
    if inputs.kind == "text":
        return Steps("text")
    first = inputs.batch(0, 1)
    eight = inputs.kind == "image" and first.dtype == np.uint8
    _check(preparation, inputs, channels=first.shape[-1] if first.ndim == 4 else 1)
    divide = preparation.scale == "0-1" or (eight and preparation.scale != "none")
    if inputs.kind != "image":
        return Steps(inputs.kind, divide, preparation.moments(), dtype=preparation.dtype)
    fit, reverse = preparation.fitting(takes), preparation.channels == "bgr"
    return Steps(inputs.kind, divide, preparation.moments(), dtype=preparation.dtype, fit=fit, reverse=reverse)


def _check(preparation: Preparation, inputs: Inputs, *, channels: int) -> None:
    if preparation.scale == "0-1" and inputs.kind != "image":
        raise InputsError("--scale 0-1 for rows of numbers", rule="0-1 divides images by 255", hint="--scale none")
    moments = preparation.moments()
    if moments and inputs.kind == "image" and not {len(part) for part in moments} <= {1, channels}:
        raise InputsError(
            f"--scale '{preparation.scale}' for {channels} channels", rule="one number for all, or one per channel"
        )


def settle(preparation: Preparation, inputs: Inputs, model: Model) -> tuple[Steps, tuple[str, ...]]:
    """The steps for this model, and what to say about them. A layout is tried on two items where none was given."""
    steps = steps_without_layout(preparation, inputs)
    if steps.kind != "image":
        return steps, said(steps)
    asked = preparation.layouts(getattr(model, "layouts", LAYOUTS))
    return _first_taken([replace(steps, layout=layout) for layout in asked], inputs, model)


def _first_taken(tried: Sequence[Steps], inputs: Inputs, model: Model) -> tuple[Steps, tuple[str, ...]]:
    raw, refused = inputs.batch(0, PROBE), None
    for steps in tried:
        try:
            model.respond(steps(raw))
        except ModelError as error:
            refused = refused or error
        else:
            return steps, said(steps, tried=len(tried) > 1)
    raise refused or ModelError("no layout to try", rule="at least one")


def said(steps: Steps, *, tried: bool = False) -> tuple[str, ...]:
    """What is done, in words."""
    parts = []
    if steps.fit is not None:
        parts.append(str(steps.fit))
    if steps.reverse:
        parts.append("blue first")
    if steps.divide:
        parts.append("divided by 255")
    if steps.moments is not None:
        mean, std = ("/".join(f"{one:g}" for one in part) for part in steps.moments)
        parts.append(f"minus {mean}, divided by {std}")
    if steps.kind == "image":
        parts.append(WORDS[steps.layout] + (" (tried: the model takes it)" if tried else ""))
    if steps.dtype != "auto":
        parts.append(f"as {steps.dtype}")
    return ("inputs are " + ", ".join(parts),) if parts else ()
