"""Tests that ran on every input are measured, whatever the surrogate believes."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.tomography.answers.run import measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.setup.subject import of_truth
from fieldcheck.tomography.setup.truth import RecordedTruth
from fieldcheck.tomography.surrogates.measured import WithMeasured

from .test_ask import TRUTH, Known


def test_measured_tests_replace_predicted_ones() -> None:
    outcomes = Outcomes(np.array([1, 1, 4, 4, 5]), np.array([0, 1, 0, 1, 0]), np.array([1.0, 0.0, 1.0, 1.0, 1.0]))
    found = WithMeasured.of(Known(error=0.1), outcomes, inputs=2)
    means, errors = found.predict(np.arange(6))
    expected = TRUTH.copy()
    expected[[1, 4]] = 0.5, 1.0
    np.testing.assert_allclose(means, expected)
    np.testing.assert_allclose(errors, [0.1, 0, 0.1, 0.1, 0, 0.1])
    mean, error = found.region(np.array([0, 1, 4]), np.array([0.5, 0.25, 0.25]))
    assert mean == pytest.approx(0.5 * 0.9 + 0.25 * 0.5 + 0.25)
    assert error == pytest.approx(0.05)
    assert found.region(np.array([1, 4]), np.array([0.5, 0.5])) == (0.75, 0.0)
    assert WithMeasured.of(Known(), outcomes, inputs=3).notes == ("by hand",)


def test_a_full_run_answers_exactly() -> None:
    space = Space((Axis("fog", 2), Axis("noise", 2)))
    held = np.random.default_rng(1).random((9, 50)) < 0.7
    run = measure(of_truth(RecordedTruth("t", space, held)), plan=plans.build("full"), surrogate="gp")
    answer = run.ask("fog >= 1")
    assert answer.robustness == pytest.approx(held[3:].mean(), abs=1e-12)
    assert answer.low == pytest.approx(answer.high)
