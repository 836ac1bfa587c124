"""Smooth functions over a space: the fast way against the textbook's, and what is learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.quality.grid_process import GridProcess, _misfit, fit_grid, held_out

SPACE = Space((Axis("a", 4), Axis("b", 3), Axis("c", 2)))


def smooth(space: Space, tests: Any) -> Any:
    a, b, *_ = space.severities(tests).T
    return np.sin(a / 3) + 0.2 * b**1.5 * (1 + a / 4)


def test_predictions_are_those_of_the_textbook() -> None:
    places = SPACE.severities([0, 7, 31, 59])
    lengths, pull = np.array([2.0, 1.0, 3.0]), np.array([1.0, -2.0, 0.5, 4.0])
    process = GridProcess(SPACE, lengths, places, pull, center=10.0)
    everything = SPACE.severities(np.arange(SPACE.size))
    squares = (((everything[:, None, :] - places[None, :, :]) / lengths) ** 2).sum(axis=2)
    wanted = 10 + np.exp(-squares / 2) @ pull
    assert process.everywhere() == pytest.approx(wanted, rel=1e-12)
    assert process.at(np.array([3, 59])) == pytest.approx(wanted[[3, 59]], rel=1e-12)


def test_a_space_of_one_axis() -> None:
    space = Space((Axis("a", 30),))
    tests = np.arange(0, 31, 2)
    found = fit_grid(space, tests, np.cos(tests / 5))
    assert found.everywhere() == pytest.approx(np.cos(np.arange(31) / 5), abs=0.01)


def test_the_gradient_is_that_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    places = SPACE.severities(rng.permutation(SPACE.size)[:12])
    squares = ((places[:, None] - places[None]) ** 2).astype(float)
    values, logs = rng.normal(size=12), np.array([0.3, 0.8, -0.1, 0.2, -2.0])
    _, gradient = _misfit(logs, squares, values)
    for at, slope in enumerate(gradient):
        step = 1e-5 * np.eye(5)[at]
        numeric = (_misfit(logs + step, squares, values)[0] - _misfit(logs - step, squares, values)[0]) / 2e-5
        # Central differences are off by about step² times the third derivative.
        assert slope == pytest.approx(numeric, abs=1e-6)


def test_the_likelihood_is_that_of_a_normal_distribution() -> None:
    from scipy.stats import multivariate_normal

    squares = np.array([[[0.0], [4.0]], [[4.0], [0.0]]])
    covariance = [[2 + 0.5, 2 * np.exp(-0.5 * 4 / 9)], [2 * np.exp(-0.5 * 4 / 9), 2 + 0.5]]
    values = np.array([0.3, -1.0])
    wanted = -multivariate_normal([0, 0], covariance).logpdf(values) - np.log(2 * np.pi)
    assert _misfit(np.log([3.0, 2.0, 0.5]), squares, values)[0] == pytest.approx(wanted, rel=1e-12)


def test_a_smooth_function_is_found_and_axes_without_effect_are_ignored() -> None:
    tests = np.random.default_rng(1).permutation(SPACE.size)[:40]
    truth = smooth(SPACE, np.arange(SPACE.size))
    found = fit_grid(SPACE, tests, truth[tests])
    assert found.lengths[2] > 10
    assert np.abs(found.everywhere() - truth).max() < 0.05 * np.ptp(truth)


def test_held_out_predictions_do_not_see_the_value() -> None:
    tests = np.random.default_rng(1).permutation(SPACE.size)[:40]
    values = smooth(SPACE, tests)
    before = held_out(SPACE, tests, values, seed=3)
    assert np.abs(before - values).mean() < 0.1 * np.ptp(values)
    changed = values.copy()
    changed[5] += 100
    assert held_out(SPACE, tests, changed, seed=3)[5] == before[5]


def test_values_that_are_all_the_same() -> None:
    found = fit_grid(SPACE, np.array([0, 5, 9]), np.full(3, 0.7))
    assert found.everywhere() == pytest.approx(np.full(SPACE.size, 0.7))
