"""Checks beyond classification: what counts as right."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.boxes import overlaps
from fieldcheck.core.errors import FieldcheckError, SpaceError
from fieldcheck.core.measures import Accuracy, Detection, Generation, Tolerance, registry
from fieldcheck.tomography.setup.executor import against, entries

NAN = float("nan")


def right(measure: Any, outputs: Any, truths: Any) -> list[bool]:
    return (~measure.failed(measure.losses(outputs, truths))).tolist()


def every_box(outputs: Any, truths: Any) -> list[bool]:
    return right(Detection(), outputs, truths)


def one_box(outputs: Any, truths: Any) -> list[bool]:
    return right(Detection(share=0.01), outputs, truths)


def test_labels() -> None:
    assert right(Accuracy(), [[0.1, 0.9], [0.8, 0.2]], [1, 1]) == [True, False]


def test_tolerance_takes_its_limit_in() -> None:
    assert right(Tolerance(0.5), np.array([[1.0], [2.5], [NAN]]), [1.5, 1.0, 1.0]) == [True, False, False]
    with pytest.raises(SpaceError):
        Tolerance(-1)


def test_overlaps_by_hand() -> None:
    boxes = np.array([[0.0, 0, 4, 2], [10, 10, 11, 11], [1, 1, 1, 1]])
    others = np.array([[2.0, 0, 6, 2], [0, 0, 4, 2], [0, 0, 2, 1]])
    wanted = [[4 / 12, 1, 2 / 8], [0, 0, 0], [0, 0, 0]]
    assert overlaps(boxes, others) == pytest.approx(np.array(wanted))


BOX = [0.0, 0, 10, 10]
NEAR = [0.0, 0, 10, 6]  # overlap .6
FAR = [0.0, 0, 10, 4]  # overlap .4
OTHER = [20.0, 20, 30, 30]


@pytest.mark.parametrize(
    ("found", "truth", "every", "one"),
    [
        ([NEAR], [BOX], True, True),
        ([FAR], [BOX], False, False),
        ([], [BOX], False, False),
        ([], [], True, True),
        ([NEAR], [], True, True),
        ([NEAR], [BOX, OTHER], False, True),
        ([OTHER, NEAR], [BOX, OTHER], True, True),
        ([NEAR], [BOX, BOX], False, True),  # one box cannot be two objects
        ([[*NEAR, 0.9]], [BOX], True, True),
        ([[*NEAR, 0.1]], [BOX], False, False),
        ([[*NEAR, 0.9, 3]], [[*BOX, 3]], True, True),
        ([[*NEAR, 0.9, 2]], [[*BOX, 3]], False, False),
        ([[*NEAR, 0.9, 2]], [BOX], True, True),
        ([[NAN] * 4, NEAR], [BOX], True, True),
        (NEAR, "[[0, 0, 10, 10]]", True, True),
        ([NEAR], "[]", True, True),
    ],
)
def test_boxes(found: Any, truth: Any, every: bool, one: bool) -> None:
    assert every_box([found], [truth]) == [every]
    assert one_box([found], [truth]) == [one]


def test_boxes_are_matched_so_that_most_are_found() -> None:
    # The first box fits both objects, the second one only the first object: taking the best first would lose one.
    truths = [[0.0, 0, 10, 10], [0, 0, 10, 8]]
    found = [[0.0, 0, 10, 9], [0, 0, 10, 14]]
    assert overlaps(np.array(truths), np.array(found)) == pytest.approx(np.array([[9 / 10, 10 / 14], [8 / 9, 8 / 14]]))
    assert right(Detection(0.7), [found], [truths]) == [True]


corner = st.integers(0, 8)
boxes = st.lists(st.tuples(corner, corner, st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=4).map(
    lambda rows: np.array([[x, y, x + width, y + height] for x, y, width, height in rows], dtype=float)
)


@given(boxes, boxes)
def test_every_box_is_found_where_some_assignment_does(found: Any, truth: Any) -> None:
    fits = overlaps(truth, found) >= 0.5
    wanted = len(truth) <= len(found) and any(
        all(fits[row, column] for row, column in enumerate(columns))
        for columns in permutations(range(len(found)), len(truth))
    )
    assert every_box([found], [truth]) == [wanted]
    assert one_box([found], [truth]) == [fits.any()]


@pytest.mark.parametrize("given_boxes", [[1.0, 2.0], "x0 y0", [[["a"]]], "{}"])
def test_what_is_no_box_is_said(given_boxes: Any) -> None:
    with pytest.raises(SpaceError):
        every_box([given_boxes], [[BOX]])


def test_an_executor_gets_the_truth_of_its_inputs() -> None:
    check = against(Detection(), [[BOX, OTHER], [OTHER], [BOX]])
    assert check(np.array([[NEAR], [NEAR], [BOX]]), np.array([2, 1, 0])).tolist() == [True, False, False]
    assert against(Accuracy(), np.array([1, 0]))(np.eye(2), np.array([1, 0])).tolist() == [True, True]


def test_a_function_gets_one_array_where_outputs_are_of_one_shape() -> None:
    def in_top_two(outputs: Any, truths: Any) -> Any:
        return (np.argsort(outputs, axis=1)[:, -2:] == truths[:, None]).any(axis=1)

    raw = entries([np.array([0.1, 0.3, 0.6]), np.array([0.5, 0.4, 0.1])])
    assert against(in_top_two, np.array([1, 2]))(raw, np.array([0, 1])).tolist() == [True, False]
    ragged = entries([np.zeros(2), np.zeros(3)])
    assert against(lambda said, true: [len(one) for one in said], ragged)(ragged, np.array([0, 1])) == [2, 3]
    words = entries(["a", "bc"])
    assert against(lambda said, true: said == true, words)(words, np.array([0, 1])).tolist() == [True, True]


def test_space_files_can_name_the_ready_ones() -> None:
    assert right(registry.build("detection:iou=0.5,share=1"), np.array([[NEAR]]), np.array([BOX])) == [True]


def test_generation_is_a_score_over_a_threshold() -> None:
    """Three of four words in common: F1 .75. A program with other names has the same syntax tree."""
    outputs, truths = ["the small red car", "the car"], ["the small blue car", "a house"]
    measure = registry.build("generation:least=0.75")
    assert right(measure, outputs, truths) == [True, False]
    assert measure.losses(outputs, truths) == pytest.approx([0.25, 1.0])
    code = Generation("code-bleu", 0.5)
    program, renamed, other = "def f(x):\n    return x + 1", "def g(y):\n    return y + 1", "print('no')"
    assert right(code, [program, renamed, other], [program] * 3) == [True, True, False]
    assert right(Generation("bleu", 1.0), ["a b c d e", "a b c d"], ["a b c d e"] * 2) == [True, False]
    with pytest.raises(FieldcheckError, match="no score"):
        registry.build("generation:score=rouge")
