"""A model that finds objects: what it says of pictures, as boxes in their pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldcheck.core.boxes import read_boxes
from fieldcheck.core.errors import ModelError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.types import BoolArray, FloatArray
from fieldcheck.models.decoders import registry
from fieldcheck.models.opened import Opened
from fieldcheck.models.shared.loading import named_object

Decode = Callable[[Any, int, int], FloatArray]
"""From the outputs for an image, its height and its width to boxes."""


@dataclass(frozen=True)
class ClassGroups:
    """Which classes of the model are which of the truth: one group for several of both.

    truth, model
        Group by class; what is in no group is not looked at.
    """

    truth: dict[float, int]
    model: dict[float, int]

    @classmethod
    def of(
        cls,
        groups: Iterable[tuple[Sequence[int | str], Sequence[int | str]]],
        *,
        truth: Sequence[str] = (),
        model: Sequence[str] = (),
    ) -> ClassGroups:
        """Classes of the truth and of the model that belong together, as numbers, or by names where there are some."""
        true, said = zip(*groups, strict=True)
        return cls(_by_class(true, truth, "data"), _by_class(said, model, "model"))

    def of_truth(self, boxes: FloatArray) -> FloatArray:
        return _grouped(boxes, self.truth, 4)

    def of_model(self, boxes: FloatArray) -> FloatArray:
        return _grouped(boxes, self.model, 5)


@dataclass(frozen=True, eq=False)
class Detector:
    """A model with its decoder, for pictures of one size."""

    opened: Opened
    decode: Decode
    height: int
    width: int
    groups: ClassGroups | None = None

    @classmethod
    def of(
        cls, opened: Opened, inputs: Inputs, decoder: str, *, groups: ClassGroups | None = None, trust: bool = False
    ) -> Detector:
        """Tried on one picture, so that what is wrong with the outputs is said at once."""
        if inputs.kind != "image":
            raise ModelError(f"boxes in {inputs.kind}s", rule="a detector looks at images")
        first = inputs.batch(0, 1)
        found = cls(opened, _decode(decoder, trust=trust), first.shape[1], first.shape[2], groups)
        found(first)
        return found

    def __call__(self, batch: Any) -> list[FloatArray]:
        """Rows ``x0, y0, x1, y1, score, class`` of each picture."""
        return [self._boxes(output) for output in self.opened.model.respond(self.opened.steps(batch)).outputs]

    def true_boxes(self, label: Any) -> FloatArray:
        """Rows ``x0, y0, x1, y1, class``; a class of nan where none is known."""
        boxes = read_boxes(label)
        found = np.column_stack([boxes, np.full(len(boxes), np.nan)])[:, :5]
        return found if self.groups is None else self.groups.of_truth(found)

    def _boxes(self, output: Any) -> FloatArray:
        fit = self.opened.steps.fit
        if fit is None:
            said = self.decode(output, self.height, self.width)
        else:
            said = fit.back(self.decode(output, fit.height, fit.width), self.height, self.width)
        return said if self.groups is None else self.groups.of_model(said)


def _decode(spec: str, *, trust: bool) -> Decode:
    if ":" not in spec or "=" in spec:
        return registry.build(spec).boxes
    own, rows = named_object(spec, trust=trust), registry.build("boxes")
    return lambda output, height, width: rows.boxes(own(output, height, width), height, width)


def _grouped(boxes: FloatArray, groups: dict[float, int], column: int) -> FloatArray:
    known: BoolArray = np.isin(boxes[:, column], list(groups))
    found = boxes[known]
    found[:, column] = [groups[code] for code in found[:, column].tolist()]
    return found


def _by_class(groups: Sequence[Sequence[int | str]], names: Sequence[str], whose: str) -> dict[float, int]:
    """The group of each class."""
    found: dict[float, int] = {}
    for at, group in enumerate(groups):
        for one in group:
            code = _code(one, names, whose)
            if found.setdefault(code, at) != at:
                raise ModelError(
                    f"class {one} of the {whose} is in two groups",
                    rule="a class belongs to one group; groups that share one are one group",
                )
    return found


def _code(given: int | str, names: Sequence[str], whose: str) -> float:
    if isinstance(given, int):
        return float(given)
    if given not in names:
        rule = "classes: " + ", ".join(names) if names else f"the {whose} names no classes: give numbers"
        raise ModelError(f"no class '{given}' of the {whose}", rule=rule)
    return float(list(names).index(given))
