"""Recorded truths: read, cut down, measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.setup.subject import of_truth
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth

SEVERITIES = np.array([[a, b] for a in range(2) for b in range(3)], dtype=np.uint8)
HELD = np.random.default_rng(0).random((6, 11)) < 0.6


def write(path: Path, **changes: object) -> Path:
    columns = {
        "tests": SEVERITIES,
        "perturbations": np.array(["motion_blur", "zoom"]),
        "correct": np.packbits(HELD, axis=1),
        "inputs": np.int64(11),
        "labels": np.arange(11, dtype=np.uint8) % 3,
        "classes": np.int64(3),
    }
    columns.update(changes)  # type: ignore[arg-type]
    np.savez(path, **{name: value for name, value in columns.items() if value is not None})  # type: ignore[arg-type]
    return path


def test_a_truth_is_read_as_written(tmp_path: Path) -> None:
    truth = read_truth(write(tmp_path / "lenet.npz"))
    assert truth.name == "lenet"
    assert truth.space.names == ("motion_blur", "zoom")
    assert truth.space.shape == (2, 3)
    assert np.array_equal(truth.held, HELD)
    assert truth.robustness == pytest.approx(HELD.mean(axis=1))
    assert truth.guess == pytest.approx(1 / 3)
    assert truth.labels is not None
    assert truth.labels.tolist() == (np.arange(11) % 3).tolist()


def test_one_class_leaves_nothing_to_guess(tmp_path: Path) -> None:
    """A surrogate divides by how far robustness can be above guessing: that must not be zero."""
    assert read_truth(write(tmp_path / "a.npz", labels=None, classes=np.int64(1))).guess == 0


def test_the_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    mixed = np.array([3, 0, 5, 1, 4, 2])
    path = write(tmp_path / "a.npz", tests=SEVERITIES[mixed], correct=np.packbits(HELD[mixed], axis=1))
    assert np.array_equal(read_truth(path).held, HELD)


def test_outcomes_are_looked_up(tmp_path: Path) -> None:
    truth = read_truth(write(tmp_path / "a.npz", labels=None, classes=None))
    outcomes = truth.measure(np.array([4, 0, 4]), np.array([10, 2, 3]))
    assert outcomes.held.tolist() == [float(HELD[4, 10]), float(HELD[0, 2]), float(HELD[4, 3])]
    assert truth.labels is None
    assert truth.guess == 0


def test_a_smaller_space_has_the_others_at_zero(tmp_path: Path) -> None:
    truth = read_truth(write(tmp_path / "a.npz"))
    assert np.array_equal(truth.along(["zoom"]).held, HELD[:3])
    assert np.array_equal(truth.along(["motion_blur"]).held, HELD[[0, 3]])
    swapped = truth.along(["zoom", "motion_blur"])
    assert np.array_equal(swapped.held, HELD[[0, 3, 1, 4, 2, 5]])
    with pytest.raises(SpaceError):
        truth.along(["fog"])


@pytest.mark.parametrize(
    "changes",
    [
        {"tests": None},
        {"correct": None},
        {"tests": SEVERITIES[:5], "correct": np.packbits(HELD[:5], axis=1)},
        {"tests": np.vstack([SEVERITIES[:5], SEVERITIES[:1]])},
        {"perturbations": np.array(["zoom"])},
        {"labels": np.zeros(4)},
        {"tests": np.zeros(6)},
    ],
)
def test_what_is_no_truth_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(SpaceError):
        read_truth(write(tmp_path / "a.npz", **changes))


def test_what_is_no_npz_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(SpaceError):
        read_truth(tmp_path / "a.npz")
    with pytest.raises(SpaceError):
        read_truth(tmp_path / "missing.npz")
    np.savez(tmp_path / "b.npz", tests=np.array([object()], dtype=object), correct=HELD)
    with pytest.raises(SpaceError):
        read_truth(tmp_path / "b.npz")


def test_a_truth_checks_itself() -> None:
    space = Space((Axis("a", 1), Axis("b", 2)))
    with pytest.raises(SpaceError):
        RecordedTruth("a", space, HELD[:3])


def test_inputs_with_nothing_left_are_not_counted(tmp_path: Path) -> None:
    """By hand: of test 4 three inputs are left, of test 5 none; eleven inputs, so a fifth of them is 2.2."""
    applies = np.ones((6, 11), dtype=np.bool_)
    applies[3, :9], applies[4, 3:], applies[5] = False, False, False
    truth = read_truth(write(tmp_path / "a.npz", applies=np.packbits(applies, axis=1)))
    assert truth.robustness[4] == pytest.approx(HELD[4, :3].mean())
    assert truth.robustness[0] == pytest.approx(HELD[0].mean())
    assert np.isnan(truth.robustness[5])
    assert truth.applicable.tolist() == [0, 1, 2, 4]
    held = truth.measure(np.array([4, 4]), np.array([2, 3])).held
    assert (held[0], np.isnan(held[1])) == (float(HELD[4, 2]), True)
    assert truth.left is not None
    assert truth.left.of(truth.space.severities(np.array([3, 5]))).tolist() == pytest.approx([2 / 11, 0])
    assert np.array_equal(np.asarray(truth.along(["zoom"]).applies), applies[:3])
    assert of_truth(truth).left() is not None
    with pytest.raises(SpaceError):
        read_truth(write(tmp_path / "a.npz", applies=np.packbits(applies[:3], axis=1)))
