"""Running tests: perturb inputs, ask the model, check its answers.

Rows of many tests are run together. Perturbations are applied one after the other to what is distinct among the rows:
two rows with the same input and the same first severities share that work, whatever the plan. Texts that come out the
same are one from there on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core import boxes as box
from fieldcheck.core import inputs as source
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Axis, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.base import Perturbation
from fieldcheck.tomography.setup.scenes import MOST_MOVED, Motion, Scenes, moves
from fieldcheck.tomography.surrogates.alike import MOST_CELLS, Alike
from fieldcheck.tomography.surrogates.left import ShareLeft

TOGETHER = 64
"""Inputs whose texts under all tests are compared at once."""


HELD, LEAST = 2**28, 64
"""Bytes of perturbed inputs that are held at once, about, and rows at least."""


Respond = Callable[[Any], npt.NDArray[Any]]
"""From a batch of inputs to what the model says, one row per item."""


Check = Callable[[npt.NDArray[Any], IntArray], npt.NDArray[Any]]
"""From what the model says and the positions of the inputs to 1.0 where the answer is right, else 0.0."""


def against(measure: Measure | Callable[[Any, Any], npt.NDArray[Any]], truths: Any) -> Check:
    """What is right by a measure, or by a function of outputs and truths, where the truth of every input is known."""
    known = truths if isinstance(truths, np.ndarray) else entries(truths)
    if callable(measure):
        return lambda outputs, at: measure(_in_rows(outputs), known[at])
    return lambda outputs, at: ~measure.failed(measure.losses(outputs, known[at]))


def _in_rows(outputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One array where all entries are numbers of one shape: a function of classes or values counts on its columns."""
    shapes = {getattr(one, "shape", None) for one in outputs} if outputs.dtype == object else set()
    return np.stack(list(outputs)) if len(shapes) == 1 and None not in shapes else outputs


def entries(truths: Any) -> npt.NDArray[Any]:
    """A list with entries of any shape as an array of them."""
    found = np.empty(len(truths), dtype=object)
    for at, truth in enumerate(truths):
        found[at] = truth
    return found


@dataclass
class Clock:
    """CPU seconds by what they were spent on."""

    perturbing: float = 0.0
    inferring: float = 0.0

    @property
    def share(self) -> float:
        """Of the model in all that was spent."""
        total = self.perturbing + self.inferring
        return self.inferring / total if total else float("nan")

    def since(self, before: Clock) -> Clock:
        """What was spent after a moment."""
        return Clock(self.perturbing - before.perturbing, self.inferring - before.inferring)

    def add(self, other: Clock) -> None:
        """What was spent elsewhere."""
        self.perturbing += other.perturbing
        self.inferring += other.inferring


@dataclass(frozen=True, eq=False)
class Executor:
    """A model, its data and its perturbations, ready to run any test on any input.

    batch
        Inputs that the model gets at once.
    hidden
        From a batch of inputs to the activations of the model's last hidden layer, one row per item; None where it
        shows none.
    scenes
        Where the truth is boxes: they are moved as the images are, and ``check`` is not asked.
    """

    space: Space
    perturbations: Sequence[Perturbation]
    inputs: Inputs
    respond: Respond
    check: Check
    seed: int = 0
    batch: int = 512
    clock: Clock = field(default_factory=Clock)
    hidden: Respond | None = None
    scenes: Scenes | None = None

    def __post_init__(self) -> None:
        if self.scenes is not None:
            self.scenes.check(self.perturbations)
        for axis, perturbation in zip(self.space.axes, self.perturbations, strict=True):
            if not axis.amounts and axis.highest > perturbation.levels:
                raise SpaceError(
                    f"{axis.name} has {axis.highest} levels",
                    rule=f"{perturbation.name} is defined up to severity {perturbation.levels}",
                )
            unknown = [name for name in axis.of if name not in source.parts_of(self.inputs)]
            if unknown:
                raise SpaceError(
                    f"{axis.name} is of '{unknown[0]}'",
                    rule="texts of an item: " + (", ".join(source.parts_of(self.inputs)) or "one, without a name"),
                )
            if perturbation.kind != self.inputs.kind:
                raise SpaceError(
                    f"{axis.name} perturbs {perturbation.kind}s, the data are {self.inputs.kind}s",
                    rule="perturbations and data are of one kind",
                )

    def measure(self, tests: IntArray, inputs: IntArray, arrangements: IntArray | None = None) -> FloatArray:
        """Whether the check holds, one per row: 1.0 or 0.0; nan where nothing is left that could be found.

        arrangements
            Where the order of perturbations matters: the rank of each row's order among all orders of the axes.
        """
        return self.observe(tests, inputs, arrangements)[0]

    def observe(
        self, tests: IntArray, inputs: IntArray, arrangements: IntArray | None = None
    ) -> tuple[FloatArray, box.Objects | None]:
        """The same, and single objects where the truth is boxes. A row without a true box costs no inference."""
        if self.scenes is None:
            outputs = self._outputs(tests, inputs, arrangements)
            return np.asarray(self.check(outputs, inputs), dtype=np.float64), None
        truths = self.truths(tests, inputs, arrangements)
        at = np.flatnonzero([len(boxes) > 0 for boxes in truths])
        held = np.full(len(tests), np.nan)
        if not len(at):
            return held, None
        outputs = self._outputs(tests[at], inputs[at], None if arrangements is None else arrangements[at])
        left = [truths[row] for row in at.tolist()]
        held[at] = self.scenes.held(list(outputs), left)
        objects = self.scenes.objects(list(outputs), left)
        return held, objects and replace(objects, true_rows=at[objects.true_rows], said_rows=at[objects.said_rows])

    def truths(self, tests: IntArray, inputs: IntArray, arrangements: IntArray | None = None) -> list[FloatArray]:
        """The true boxes of each row, moved as its image is."""
        scenes = self._scenes()
        motion = Motion.none(len(tests), scenes.height, scenes.width)
        picture = motion.windows[:1].copy()
        for codes in steps(self.space, tests, arrangements).T:
            for axis, perturbation, at, levels in self._at_work(codes):
                severities = axis.severities(levels, inputs[at])
                maps = moves(perturbation, self.seed, inputs[at], severities, height=scenes.height, width=scenes.width)
                if maps is not None:
                    motion.then(at, maps, picture)
        return scenes.after(motion, inputs)

    def left(self) -> ShareLeft | None:
        """The share of the inputs with an object left, by test; None where the truth is no boxes, or is too much work.

        Without an inference: where boxes are does not depend on the model.
        """
        axes = tuple(at for at, one in enumerate(self.perturbations) if not one.still)
        shape = tuple(self.space.shape[at] for at in axes)
        if self.scenes is None or math.prod(shape) > MOST_MOVED:
            return None
        left = np.empty((math.prod(shape), len(self.inputs)), dtype=np.bool_)
        inputs = np.arange(len(self.inputs))
        for number, levels in enumerate(np.ndindex(*shape)):
            severities = np.zeros(len(self.space.axes), dtype=np.int64)
            severities[list(axes)] = levels
            truths = self.truths(np.repeat(self.space.numbers(severities), len(inputs)), inputs)
            left[number] = [len(boxes) > 0 for boxes in truths]
        return ShareLeft.counted(axes, shape, left)

    def alike(self) -> Alike | None:
        """Which tests make the same of which inputs; None where none do, or where that is too much work to look for.

        Without an inference. Looked for in texts only: an image hardly ever stays as it is.
        """
        size, count = self.space.size, len(self.inputs)
        if self.inputs.kind != "text" or size * count > MOST_CELLS:
            return None
        codes = np.empty((size, count), dtype=np.int64)
        for first in range(0, count, TOGETHER):
            inputs = np.arange(first, min(first + TOGETHER, count))
            tests = np.repeat(np.arange(size), len(inputs))
            codes[:, inputs] = self.perturbed(tests, np.tile(inputs, size))[1].reshape(size, -1)
        return Alike.of(codes)

    def _scenes(self) -> Scenes:
        if self.scenes is None:
            raise SpaceError("the truth has no boxes", rule="a check of detection")
        return self.scenes

    def _outputs(self, tests: IntArray, inputs: IntArray, arrangements: IntArray | None) -> npt.NDArray[Any]:
        """What the model says, one per row; so many rows at a time that their inputs fit into memory."""
        size = np.asarray(self.inputs.batch(0, 1)).nbytes if self.inputs.kind != "text" else 1_000
        block = max(LEAST, HELD // max(1, size))
        parts = []
        for start in range(0, len(tests), block):
            rows = slice(start, start + block)
            parts.append(self._answers(tests[rows], inputs[rows], None if arrangements is None else arrangements[rows]))
        return np.concatenate(parts)

    def _answers(self, tests: IntArray, inputs: IntArray, arrangements: IntArray | None) -> npt.NDArray[Any]:
        started = time.process_time()
        batch, which = self.perturbed(tests, inputs, arrangements)
        self.clock.perturbing += time.process_time() - started
        started = time.process_time()
        outputs = [self.respond(batch[at : at + self.batch]) for at in range(0, len(batch), self.batch)]
        self.clock.inferring += time.process_time() - started
        return np.asarray(np.concatenate(outputs)[which])

    def perturbed(
        self, tests: IntArray, inputs: IntArray, arrangements: IntArray | None = None
    ) -> tuple[Any, IntArray]:
        """The distinct perturbed inputs, and for each row which of them is its own."""
        distinct, which = np.unique(inputs, return_inverse=True)
        batch, items = source.gather(self.inputs, distinct), distinct
        for codes in steps(self.space, tests, arrangements).T:
            wanted, which = np.unique(which * _codes(self.space) + codes, return_inverse=True)
            sources, codes_wanted = np.divmod(wanted, _codes(self.space))
            batch, items = take(batch, sources), items[sources]
            batch = self._apply(batch, items, codes_wanted)
            if self.inputs.kind == "text":
                batch, items, which = _distinct(batch, items, which)
        return batch, which.astype(np.int64)

    def _apply(self, batch: Any, items: IntArray, codes: IntArray) -> Any:
        """Apply to each item the perturbation and severity behind its code."""
        for axis, perturbation, at, levels in self._at_work(codes):
            change = self._perturb_parts if source.parts_of(self.inputs) else self._perturb
            changed = change(axis, perturbation, take(batch, at), axis.severities(levels, items[at]), items[at])
            batch = put(batch, at, changed)
        return batch

    def _at_work(self, codes: IntArray) -> Iterator[tuple[Axis, Perturbation, IntArray, IntArray]]:
        """Of one step: each perturbation that some rows get, these rows, and its level in each."""
        first = 1
        for axis, perturbation in zip(self.space.axes, self.perturbations, strict=True):
            at = np.flatnonzero((codes >= first) & (codes < first + axis.levels))
            if len(at):
                yield axis, perturbation, at, codes[at] - first + 1
            first += axis.levels

    def _perturb_parts(
        self, axis: Axis, perturbation: Perturbation, batch: Any, severities: IntArray, items: IntArray
    ) -> Any:
        """Items of several texts: each text that the axis is about is perturbed by itself, with draws of its own."""
        names = source.parts_of(self.inputs)
        columns = [list(column) for column in zip(*batch, strict=True)]
        for place, name in enumerate(names):
            if name in (axis.of or names):
                columns[place] = self._perturb(axis, perturbation, columns[place], severities, items, part=f"/{name}")
        return list(zip(*columns, strict=True))

    def _perturb(
        self,
        axis: Axis,
        perturbation: Perturbation,
        batch: Any,
        severities: IntArray,
        items: IntArray,
        *,
        part: str = "",
    ) -> Any:
        draws = ItemStreams.of(self.seed, perturbation.name + part, items, severities)
        try:
            return perturbation.apply(batch, severities, draws)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            where = f"at severities {severities.min()} to {severities.max()}"
            raise SpaceError(
                f"perturbation '{perturbation.name}' fails {where}: {type(error).__name__}: {error}",
                rule="it gives back as many items as it gets, of the same kind and shape",
                hint="call it by itself on one item",
            ) from error


def steps(space: Space, tests: IntArray, arrangements: IntArray | None = None) -> IntArray:
    """What is done to each row, one column per step: 0 for nothing, else a code for a perturbation and its severity."""
    severities = space.severities(tests)
    first = np.concatenate([[1], 1 + np.cumsum([axis.levels for axis in space.axes])[:-1]])
    codes = np.where(severities > 0, first + severities - 1, 0)
    if arrangements is None:
        return codes
    return np.take_along_axis(codes, orders_of(len(space.axes), arrangements), axis=1)


def orders_of(axes: int, ranks: IntArray) -> IntArray:
    """The order of axes behind each rank: all orders are numbered as dictionaries do, 0 is the space's own."""
    left = np.broadcast_to(np.arange(axes), (len(ranks), axes)).copy()
    found = np.empty_like(left)
    rest = np.asarray(ranks, dtype=np.int64).copy()
    for place in range(axes):
        size = int(np.prod(np.arange(1, axes - place), dtype=np.int64))
        pick, rest = np.divmod(rest, size)
        found[:, place] = np.take_along_axis(left, pick[:, None], axis=1)[:, 0]
        keep = np.arange(left.shape[1]) != pick[:, None]
        left = left[keep].reshape(len(ranks), axes - place - 1)
    return found


def _distinct(batch: list[Any], items: IntArray, which: IntArray) -> tuple[list[Any], IntArray, IntArray]:
    """Texts of an item that are the same, once; which of them each row has."""
    places: dict[tuple[int, Any], int] = {}
    at = np.array([places.setdefault(key, len(places)) for key in zip(items.tolist(), batch, strict=True)])
    return [text for _, text in places], np.array([item for item, _ in places]), at[which]


def _codes(space: Space) -> int:
    return 1 + sum(axis.levels for axis in space.axes)


def take(batch: Any, at: IntArray) -> Any:
    """Some items of a batch, in the order given."""
    return [batch[place] for place in at.tolist()] if isinstance(batch, list) else batch[at]


def put(batch: Any, at: IntArray, changed: Any) -> Any:
    """The batch with other items at some places; ``batch`` is ours to change."""
    if isinstance(batch, list):
        for place, text in zip(at.tolist(), changed, strict=True):
            batch[place] = text
    else:
        batch[at] = changed
    return batch
