"""A recorded truth: every test of a space with its outcome on every input. It stands in for a model and its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.files import npz
from fieldcheck.files.damage import decoding
from fieldcheck.tomography.setup.scenes import LEAST_LEFT
from fieldcheck.tomography.surrogates.alike import Alike
from fieldcheck.tomography.surrogates.left import ShareLeft

COLUMNS = "tests, perturbations, correct (bits), inputs, labels"


@dataclass(frozen=True, eq=False)
class RecordedTruth:
    """All outcomes of a space.

    held
        One row per test, in the order of their numbers, one column per input: True where the check held.
    labels
        Code of the class of each input, or None.
    guess
        Robustness of blind guessing.
    applies
        As ``held``: False where nothing was left in an input that could be found; None where that cannot be.
    alike
        Which tests make the same of an input, where that was recorded.
    """

    name: str
    space: Space
    held: BoolArray
    labels: IntArray | None = None
    guess: float = 0.0
    applies: BoolArray | None = None
    alike: Alike | None = None

    def __post_init__(self) -> None:
        if self.held.ndim != 2 or len(self.held) != self.space.size or not self.held.shape[1]:
            raise SpaceError(f"outcomes of shape {self.held.shape}", rule=f"{self.space.size} tests, one input or more")
        if self.labels is not None and len(self.labels) != self.inputs:
            raise SpaceError(f"{len(self.labels)} labels for {self.inputs} inputs", rule="one label per input")
        if self.applies is not None and self.applies.shape != self.held.shape:
            raise SpaceError(f"applies of shape {self.applies.shape}", rule=f"as correct: {self.held.shape}")

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return int(self.held.shape[1])

    @cached_property
    def robustness(self) -> FloatArray:
        """Share of the inputs on which the check held, of those that it applies to, one per test; nan of none."""
        if self.applies is None:
            return np.asarray(self.held.mean(axis=1), dtype=np.float64)
        counts = self.applies.sum(axis=1)
        right = (self.held & self.applies).sum(axis=1)
        found: FloatArray = np.divide(right, counts, out=np.full(len(counts), np.nan), where=counts > 0)
        return found

    @property
    def left(self) -> ShareLeft | None:
        """The share of the inputs that a test applies to; None where it is all."""
        if self.applies is None:
            return None
        return ShareLeft.counted(tuple(range(len(self.space.axes))), self.space.shape, self.applies)

    @property
    def applicable(self) -> IntArray:
        """The tests that say something about the model: enough of their inputs have something left."""
        shares = np.ones(self.space.size) if self.applies is None else self.applies.mean(axis=1)
        return np.flatnonzero(shares >= LEAST_LEFT)

    def measure(self, tests: IntArray, inputs: IntArray, *, chance: FloatArray | None = None) -> Outcomes:
        """The outcomes of some tests on some inputs, row by row; nan where the check does not apply."""
        held = self.held[tests, inputs].astype(np.float64)
        if self.applies is not None:
            held[~self.applies[tests, inputs]] = np.nan
        return Outcomes(tests, inputs, held, chance)

    def along(self, names: Sequence[str]) -> RecordedTruth:
        """The truth of a smaller space: these perturbations in this order, the others at 0."""
        unknown = [name for name in names if name not in self.space]
        if unknown:
            raise SpaceError(f"no perturbation '{unknown[0]}'", rule="there are: " + ", ".join(self.space.names))
        at = [self.space.names.index(name) for name in names]
        smaller = Space(tuple(self.space.axes[axis] for axis in at))
        severities = np.zeros((smaller.size, len(self.space.axes)), dtype=np.int64)
        severities[:, at] = smaller.severities(np.arange(smaller.size))
        rows = self.space.numbers(severities)
        applies = None if self.applies is None else self.applies[rows]
        alike = None if self.alike is None else Alike.of(self.alike.first[rows])
        return RecordedTruth(self.name, smaller, self.held[rows], self.labels, self.guess, applies, alike)


def read_truth(path: str | Path) -> RecordedTruth:
    """The truth in an npz file: severities of all ``tests``, names of ``perturbations``, ``correct`` as packed bits.

    ``inputs`` (their number), ``labels``, ``classes`` (the number of classes), ``applies`` (bits, where inputs may
    have nothing left) and ``alike`` (a code for what each test makes of each input) may be missing. Nothing is
    unpickled.
    """
    place = Path(path)
    columns = npz.read_npz(place, SpaceError, rule=f"an npz file with {COLUMNS}")
    missing = [name for name in ("tests", "correct") if name not in columns]
    if missing:
        raise SpaceError(f"{place} has no '{missing[0]}'", rule=f"an npz file with {COLUMNS}")
    with decoding(place, SpaceError, rule=f"an npz file with {COLUMNS}"):
        return _truth(place, columns)


def _truth(place: Path, columns: dict[str, npt.NDArray[Any]]) -> RecordedTruth:
    severities = np.asarray(columns["tests"], dtype=np.int64)
    if severities.ndim != 2 or not severities.size:
        raise SpaceError(f"{place}: tests of shape {severities.shape}", rule="one row per test, one column each")
    names = [str(name) for name in columns.get("perturbations", [f"p{at}" for at in range(severities.shape[1])])]
    if len(names) != severities.shape[1]:
        raise SpaceError(f"{place}: {len(names)} names for {severities.shape[1]} columns", rule="one name per column")
    levels = severities.max(axis=0).tolist()
    space = Space(tuple(Axis(_word(name), level) for name, level in zip(names, levels, strict=True)))
    held = _bits(columns, "correct")
    numbers = space.numbers(severities)
    if len(numbers) != len(held) or not np.array_equal(np.sort(numbers), np.arange(space.size)):
        raise SpaceError(
            f"{place}: {len(np.unique(numbers))} of {space.size} tests", rule="a recorded truth has every test once"
        )
    labels = columns.get("labels")
    classes = int(columns["classes"]) if np.ndim(columns.get("classes", [])) == 0 else 0
    return RecordedTruth(
        place.stem,
        space,
        held[np.argsort(numbers)],
        None if labels is None else np.unique(labels, return_inverse=True)[1].astype(np.int64),
        1 / classes if classes > 1 else 0.0,
        _bits(columns, "applies")[np.argsort(numbers)] if "applies" in columns else None,
        Alike.of(columns["alike"].astype(np.int64)[np.argsort(numbers)]) if "alike" in columns else None,
    )


def _bits(columns: dict[str, npt.NDArray[Any]], name: str) -> BoolArray:
    """One row per test; bits are packed eight to a byte."""
    correct = columns[name]
    if correct.dtype == np.bool_:
        return correct
    unpacked = np.unpackbits(correct.astype(np.uint8), axis=1)
    count = int(columns["inputs"]) if np.ndim(columns.get("inputs", [])) == 0 else unpacked.shape[1]
    return unpacked[:, :count].astype(np.bool_)


def _word(name: str) -> str:
    """The name as a word of queries."""
    return "-".join(name.split())
