"""A fit that was kept answers as the fit itself; anything else in its place is ignored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.types import IntArray
from fieldcheck.tomography.answers.fit_file import fitted
from fieldcheck.tomography.surrogates import Auto, Closure, Logistic
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate
from fieldcheck.tomography.surrogates.logistic import LogisticFit

from .subjects import Smooth

FIVE, THREE = Smooth(2, 1, 2, 1, 2), Smooth(3, 2, 3)
GUESSED = replace(FIVE.evidence(900), guess=0.5)


class Counting(Logistic):
    """Counts how often it is fitted."""

    fits = 0

    def fit(self, evidence: Evidence, *, seed: int) -> LogisticFit:
        type(self).fits += 1
        return super().fit(evidence, seed=seed)


@pytest.fixture
def counting() -> Counting:
    Counting.fits = 0
    return Counting(features=40)


def assert_same(one: FittedSurrogate, other: FittedSurrogate, tests: IntArray) -> None:
    for first, second in zip(one.predict(tests), other.predict(tests), strict=True):
        np.testing.assert_array_equal(first, second)
    weights = np.full(len(tests), 1 / len(tests))
    assert one.region(tests, weights) == pytest.approx(other.region(tests, weights), rel=1e-12)
    assert one.notes == other.notes


@pytest.mark.parametrize(
    ("surrogate", "evidence"),
    [
        (Logistic(), GUESSED),
        (Logistic(), THREE.evidence(900)),
        (Logistic(), THREE.evidence(900, classes=False)),
        (Auto(), Smooth(3, 3, 3).evidence(1500)),
    ],
)
def test_what_was_kept_answers_the_same(surrogate: Logistic | Auto, evidence: Evidence, tmp_path: Path) -> None:
    path = tmp_path / "fit.npz"
    first = fitted(surrogate, evidence, seed=1, path=path)
    assert path.exists()
    again = fitted(surrogate, evidence, seed=1, path=path)
    assert again is not first
    assert_same(again, first, np.arange(evidence.space.size))


def test_it_is_fitted_once(counting: Counting, tmp_path: Path) -> None:
    for _ in range(3):
        fitted(counting, GUESSED, seed=1, path=tmp_path / "fit.npz")
    assert Counting.fits == 1


def test_without_a_file_it_is_fitted_every_time(counting: Counting) -> None:
    for _ in range(2):
        fitted(counting, GUESSED, seed=1, path=None)
    assert Counting.fits == 2


def test_what_is_stale_is_fitted_again(counting: Counting, tmp_path: Path) -> None:
    outcomes = GUESSED.outcomes
    fitted(counting, GUESSED, seed=1, path=tmp_path / "fit.npz")
    others = [
        (counting, replace(GUESSED, outcomes=outcomes.select(np.arange(899))), 1),
        (counting, replace(GUESSED, outcomes=replace(outcomes, held=1 - outcomes.held)), 1),
        (counting, replace(GUESSED, guess=0.1), 1),
        (counting, replace(GUESSED, classes=None), 1),
        (counting, GUESSED, 2),
        (Counting(features=41), GUESSED, 1),
    ]
    for number, (surrogate, evidence, seed) in enumerate(others, start=2):
        fitted(surrogate, evidence, seed=seed, path=tmp_path / "fit.npz")
        assert Counting.fits == number


@pytest.mark.parametrize("at", [0, 300, -200])
def test_what_is_damaged_is_fitted_again_and_replaced(at: int, counting: Counting, tmp_path: Path) -> None:
    path = tmp_path / "fit.npz"
    fitted(counting, GUESSED, seed=1, path=path)
    whole = path.read_bytes()
    broken = bytearray(whole)
    broken[at] ^= 0xFF
    for content in (bytes(broken), whole[: len(whole) // 2], b""):
        path.write_bytes(content)
        before = Counting.fits
        fitted(counting, GUESSED, seed=1, path=path)
        assert Counting.fits == before + 1
        assert path.read_bytes() == whole


def test_pickles_in_its_place_are_not_loaded(counting: Counting, tmp_path: Path) -> None:
    path = tmp_path / "fit.npz"
    np.savez(path, key=np.array([object()], dtype=object))
    fitted(counting, GUESSED, seed=1, path=path)
    assert Counting.fits == 1


def test_others_are_not_kept_and_no_place_to_keep_is_no_error(counting: Counting, tmp_path: Path) -> None:
    fitted(Closure(), THREE.evidence(300), seed=1, path=tmp_path / "fit.npz")
    assert not list(tmp_path.iterdir())
    fitted(counting, GUESSED, seed=1, path=tmp_path / "missing" / "fit.npz")
    assert Counting.fits == 1
