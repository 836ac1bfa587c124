"""Running tests: what is applied to what, in which order, once; whatever the batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
import pytest

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Axis, Space
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.setup.executor import Executor, orders_of


@dataclass
class Words:
    """Texts as data."""

    texts: list[str]
    name: str = "words"
    kind: Kind = "text"
    labels: None = None

    def __post_init__(self) -> None:
        self.ids = np.arange(len(self.texts))

    def __len__(self) -> int:
        return len(self.texts)

    def batch(self, start: int, stop: int) -> list[str]:
        return self.texts[start:stop]


@dataclass
class Append:
    """Writes a letter and the severity; counts what it was asked for."""

    letter: str
    levels: int = 3
    name: ClassVar[str] = "append"
    title: ClassVar[str] = ""
    kind: ClassVar[Kind] = "text"
    random: ClassVar[bool] = False
    asked: list[str] = field(default_factory=list)

    def apply(self, batch: Any, severity: IntArray, draws: ItemStreams) -> list[str]:
        self.asked += batch
        return [f"{text}{self.letter}{level}" for text, level in zip(batch, severity, strict=True)]


SPACE = Space((Axis("a", 3), Axis("b", 2), Axis("c", 1)))
DATA = Words(["x", "y", "z"])


def executor(**changes: Any) -> tuple[Executor, list[str]]:
    seen: list[str] = []

    def respond(batch: list[str]) -> np.ndarray[Any, Any]:
        seen.extend(batch)
        return np.array(batch, dtype=object)

    given: dict[str, Any] = {
        "space": SPACE,
        "perturbations": [Append("a"), Append("b", 2), Append("c", 1)],
        "inputs": DATA,
        "respond": respond,
        "check": lambda said, inputs: [float(len(text) > 1 + 2 * at) for text, at in zip(said, inputs, strict=True)],
    }
    return Executor(**(given | changes)), seen


def test_perturbations_are_applied_in_the_order_of_the_space() -> None:
    run, _ = executor()
    tests = SPACE.numbers([[3, 0, 1], [0, 0, 0], [1, 2, 1]])
    batch, which = run.perturbed(tests, np.array([0, 1, 2]))
    assert [batch[at] for at in which] == ["xa3c1", "y", "za1b2c1"]


def test_outcomes_are_in_the_order_of_the_rows() -> None:
    run, _ = executor()
    tests = SPACE.numbers([[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1]])
    # Lengths 5, 3, 1, 7 against 1 + 2 x input.
    assert run.measure(tests, np.array([2, 0, 0, 2])).tolist() == [0.0, 1.0, 0.0, 1.0]


def test_shared_prefixes_are_perturbed_once() -> None:
    parts = [Append("a"), Append("b", 2), Append("c", 1)]
    run, seen = executor(perturbations=parts)
    tests = np.repeat(np.arange(SPACE.size), 2)
    run.measure(tests, np.tile([0, 1], SPACE.size))
    assert len(parts[0].asked) == 2 * 3
    assert len(parts[1].asked) == 2 * 4 * 2
    assert len(parts[2].asked) == 2 * 4 * 3
    assert len(seen) == len(set(seen)) == 2 * SPACE.size


def test_the_same_row_twice_is_asked_once() -> None:
    run, seen = executor()
    held = run.measure(np.array([5, 5, 5]), np.array([1, 1, 0]))
    assert len(seen) == 2
    assert held[0] == held[1]


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_the_batch_does_not_matter(batch: int) -> None:
    tests, inputs = np.arange(SPACE.size), np.arange(SPACE.size) % 3
    whole = executor()[0].measure(tests, inputs)
    run, _ = executor(batch=batch)
    pieces = [run.measure(tests[at : at + batch], inputs[at : at + batch]) for at in range(0, len(tests), batch)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_ranks_name_all_orders_as_dictionaries_do() -> None:
    assert orders_of(4, np.arange(24)).tolist() == [list(order) for order in permutations(range(4))]


def test_where_order_matters_the_arrangement_decides() -> None:
    run, _ = executor()
    tests = np.repeat(SPACE.numbers([[1, 1, 1]]), 6)
    batch, which = run.perturbed(tests, np.zeros(6, dtype=np.int64), np.arange(6))
    expected = ["x" + "".join(f"{'abc'[axis]}1" for axis in order) for order in permutations(range(3))]
    assert [batch[at] for at in which] == expected


def test_levels_and_kinds_must_fit() -> None:
    with pytest.raises(SpaceError):
        executor(perturbations=[Append("a", 2), Append("b", 2), Append("c", 1)])
    with pytest.raises(SpaceError):
        executor(inputs=Words(["x"], kind="image"))


class Broken(Append):
    def apply(self, batch: Any, severity: IntArray, draws: ItemStreams) -> list[str]:
        raise ValueError("boom")


def test_a_perturbation_that_fails_is_named() -> None:
    run, _ = executor(perturbations=[Broken("a"), Append("b", 2), Append("c", 1)])
    with pytest.raises(SpaceError, match="'append' fails at severities 2 to 2: ValueError: boom"):
        run.measure(SPACE.numbers([[2, 0, 0]]), np.array([0]))
