"""Answers over a small space whose surrogate is known by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.errors import QueryError, SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.ask import ask
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.answers.weak_spots import corruption_error
from fieldcheck.tomography.query import parse

SPACE = Space((Axis("zoom", 2), Axis("blur", 1)))
TRUTH = np.array([0.9, 0.8, 0.7, 0.5, 0.4, 0.1])
"""Tests in order: (0,0), (0,1), (1,0), (1,1), (2,0), (2,1)."""


@dataclass(frozen=True)
class Known:
    """Knows the robustness of every test up to a bias."""

    bias: float = 0.0
    error: float = 0.02
    notes: tuple[str, ...] = ("by hand",)

    def predict(self, tests: IntArray) -> tuple[FloatArray, FloatArray]:
        return TRUTH[tests] + self.bias, np.full(len(tests), self.error)

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        return float(weights @ (TRUTH[tests] + self.bias)), self.error


NOTHING = Outcomes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
MEASURED = Outcomes(np.array([0, 3, 3, 5]), np.array([0, 1, 2, 3]), np.array([1.0, 1.0, 0.0, 0.0]))


def test_the_mean_of_a_region_and_what_it_rests_on() -> None:
    answer = ask(Known(), MEASURED, parse("zoom >= 1", SPACE), level=0.95, worst=2)
    assert answer.robustness == pytest.approx((0.7 + 0.5 + 0.4 + 0.1) / 4)
    assert answer.low == pytest.approx(answer.robustness - 1.959964 * 0.02, abs=1e-6)
    assert (answer.tests, answer.measured, answer.inferred, answer.rows) == (4, 2, 2, 3)
    assert answer.base == pytest.approx(0.9)
    assert answer.drop == pytest.approx(0.9 - answer.robustness)
    assert [str(one) for one in answer.worst] == ["zoom 2, blur 1", "zoom 2"]
    assert [one.inputs for one in answer.worst] == [1, 0]
    assert answer.notes == ("by hand",)
    assert answer.to_dict()["audit"] is None
    weights = Profile({"zoom": [0.1, 0.3, 0.7], "blur": [0.3, 0.6]})  # which do not add up to 1 in the last bit
    assert ask(Known(), MEASURED, parse("all", SPACE), profile=weights).left == 1.0  # nothing was looked for


def test_a_profile_weighs_the_tests() -> None:
    profile = Profile({"zoom": [3, 1, 0], "blur": [1, 1]})
    np.testing.assert_allclose(profile.of_tests(SPACE, np.arange(SPACE.size)), np.array([3, 3, 1, 1, 0, 0]) / 8)
    answer = ask(Known(), NOTHING, parse("all", SPACE), profile=profile)
    assert answer.robustness == pytest.approx((3 * 0.9 + 3 * 0.8 + 0.7 + 0.5) / 8)
    ran = ask(Known(), MEASURED, parse("all", SPACE), profile=profile)  # zoom 2, blur 1 among them, which never happens
    assert [str(one) for one in ran.worst] == ["zoom 1, blur 1", "zoom 1", "blur 1", "unperturbed"]
    with pytest.raises(QueryError):
        ask(Known(), NOTHING, parse("zoom = 2", SPACE), profile=profile)


def test_a_region_may_depend_on_robustness_and_quality() -> None:
    assert ask(Known(), NOTHING, parse("robustness < 0.45", SPACE)).tests == 2
    quality = np.arange(6) / 10
    assert ask(Known(), NOTHING, parse("quality <= 0.2", SPACE), quality=quality).tests == 3
    with pytest.raises(QueryError):
        ask(Known(), NOTHING, parse("quality <= 0.2", SPACE))
    empty = ask(Known(), NOTHING, parse("robustness < 0.01", SPACE))
    assert (empty.tests, empty.to_dict()["robustness"], empty.notes) == (0, None, ("no test fits it",))


def test_the_audit_is_right_on_average_although_the_surrogate_is_not() -> None:
    """600 plans of 400 rows: the mean is within the distance that a right estimator leaves with probability 1e-6."""
    rng = np.random.default_rng(5)
    chances = np.array([0.3, 0.1, 0.2, 0.1, 0.2, 0.1])
    found, errors = [], []
    for _ in range(600):
        tests = np.searchsorted(np.cumsum(chances), rng.random(400), side="right")
        held = (rng.random(400) < TRUTH[tests]).astype(float)
        rows = Outcomes(tests, np.arange(400), held, chances[tests])
        answer = ask(Known(bias=0.1), rows, parse("zoom >= 1", SPACE), worst=0)
        found.append(answer.audit)
        errors.append(answer.audit_error)
    spread = float(np.std(found, ddof=1))
    assert abs(np.mean(found) - 0.425) < 4.9 * spread / math.sqrt(600)
    # The relative error of a standard deviation from 600 values is 1 / sqrt(1200); 4.9 of them leave 1e-6.
    assert np.mean(errors) == pytest.approx(spread, rel=4.9 / math.sqrt(1200))


@pytest.mark.parametrize(
    "text",
    [
        "blur = [1, 1, 1]",
        "zoom = 3",
        "zoom = [-1, 2, 3]",
        "zoom = [0, 0, 0]",
        "fog = [1, 2]",
        "zoom = [",
        "zoom = ['a']",
    ],
)
def test_a_profile_that_does_not_fit_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "field.toml"
    path.write_text(text)
    with pytest.raises(SpaceError):
        Profile.from_file(path).of_tests(SPACE, np.arange(SPACE.size))


def test_a_profile_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "field.toml"
    path.write_text("zoom = [2, 1, 1]\n")
    profile = Profile.from_file(path)
    assert profile.name == "field"
    np.testing.assert_allclose(profile.of_tests(SPACE, np.arange(SPACE.size)), np.array([2, 2, 1, 1, 1, 1]) / 8)


def test_the_mean_corruption_error_by_hand() -> None:
    """Every perturbation counts the same, however many levels it has; only single ones count."""
    run = Run(SPACE, MEASURED)
    vars(run)["fitted"] = Known()
    found = corruption_error(run)
    assert found is not None
    assert found.by == pytest.approx({"zoom": (0.3 + 0.6) / 2, "blur": 0.2})
    assert found.mean == pytest.approx((0.45 + 0.2) / 2)
    assert (found.low, found.high) == pytest.approx((found.mean - 1.959964 * 0.02, found.mean + 1.959964 * 0.02))
    assert str(found).startswith("mean corruption error 32.5")
