"""DeepEST step by step: the chance that each item had, and when weights count."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.errors import DesignError
from fieldcheck.core.frame import Frame
from fieldcheck.designs import DeepEst
from fieldcheck.designs.deepest import default_threshold
from fieldcheck.testing import scattered

from .enumeration import step_chances

CHI = scattered(40)


def frame(chi=CHI) -> Frame:
    return Frame(len(chi), auxiliary={"confidence": chi})


@pytest.mark.parametrize("weights", ["exceeding", "selected"])
@pytest.mark.parametrize(("threshold", "r"), [(0.3, 0.8), (0.9, 0.5), (0.99, 0.8), (0.0, 0.0)])
def test_every_step_has_the_chance_of_the_formula(weights, threshold: float, r: float) -> None:
    """To the end of the pool: the weights run out on the way, and then every step is uniform."""
    design = DeepEst(threshold=threshold, r=r, weights=weights)
    for seed in range(3):
        sample = design.draw(frame(), None, budget=40, seed=seed)
        items = sample.items.tolist()
        assert sorted(items) == list(range(40))
        naive = [
            step_chances(CHI, items[:k], r=r, threshold=threshold, weights=weights)[item]
            for k, item in enumerate(items)
        ]
        np.testing.assert_allclose(sample.per_draw["step_probability"], naive, rtol=1e-9)


def test_without_weight_every_step_is_uniform_and_said_to_be() -> None:
    sample = DeepEst(threshold=2.0).draw(frame(), None, budget=40, seed=1)
    np.testing.assert_allclose(sample.per_draw["step_probability"], 1 / np.arange(40, 0, -1))
    assert len(sample.warnings) == 1
    assert not DeepEst(threshold=0.5).draw(frame(), None, budget=4, seed=1).warnings


def test_weights_that_run_out_leave_uniform_steps() -> None:
    chi = np.zeros(30)
    chi[[3, 8]] = 0.9
    sample = DeepEst(r=0.99).draw(frame(chi), None, budget=30, seed=2)
    gone = int(np.flatnonzero(np.isin(sample.items, [3, 8]))[-1])
    np.testing.assert_allclose(sample.per_draw["step_probability"][gone + 1 :], 1 / np.arange(29 - gone, 0, -1))


def test_selected_wakes_only_after_an_exceeding_item() -> None:
    chi = np.append(np.full(50, 0.2), 0.9)
    sample = DeepEst(weights="selected").draw(frame(chi), None, budget=51, seed=3)
    woken = int(np.flatnonzero(sample.items == 50)[0])
    left = 1 / np.arange(51, 0, -1)
    np.testing.assert_allclose(sample.per_draw["step_probability"][: woken + 1], left[: woken + 1])
    asleep = DeepEst(weights="selected", threshold=0.95).draw(frame(chi), None, budget=51, seed=3)
    np.testing.assert_allclose(asleep.per_draw["step_probability"], left)


def test_no_item_twice_in_a_large_pool() -> None:
    chi = scattered(30_000)
    items = DeepEst(threshold=0.99).draw(frame(chi), None, budget=2_000, seed=1).items
    assert len(np.unique(items)) == 2_000


def test_thresholds_of_the_paper() -> None:
    assert default_threshold("confidence", CHI) == default_threshold("combined", CHI) == 0.3
    assert default_threshold("lsa", CHI) == pytest.approx(CHI.mean() + CHI.var())
    assert default_threshold("dsa", CHI) == pytest.approx(CHI.mean() + 2 * CHI.std())


@pytest.mark.parametrize("wrong", [{"r": 1.0}, {"r": -0.1}, {"weights": "both"}])
def test_wrong_parameters(wrong) -> None:
    with pytest.raises(DesignError):
        DeepEst(**wrong)
