"""SUPS and RHC-S without a floor: what cannot be drawn is not drawn, and said."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.designs import Rhc, Sups
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.testing import assert_unbiased

CHI = np.array([0.0] * 12 + [0.5, 0.5, 1.0])


def frame(values=CHI) -> Frame:
    return Frame(len(values), auxiliary={"confidence": values})


@pytest.mark.parametrize("kind", [Sups, Rhc])
def test_zero_sizes_without_floor(kind) -> None:
    assert kind(floor=0).draw(frame(), None, budget=3, seed=1).warnings
    assert not kind().draw(frame(), None, budget=3, seed=1).warnings
    assert not kind(floor=0).draw(frame(np.zeros(15)), None, budget=3, seed=1).warnings


def test_sups_never_draws_a_zero_size() -> None:
    drawn = np.concatenate([Sups(floor=0).draw(frame(), None, budget=15, seed=s).items for s in range(100)])
    assert set(drawn.tolist()) == {12, 13, 14}


def test_rhc_with_groups_of_zero_size() -> None:
    """Such a group offers one of its items for form's sake; it weighs nothing. The rest is estimated without bias."""
    losses = np.ones(15)
    values = []
    for seed in range(2000):
        sample = Rhc(floor=0).draw(frame(), None, budget=5, seed=seed)
        group = sample.draws.group
        assert group.sum() == pytest.approx(1)
        assert np.all((CHI[sample.items] == 0) == (group == 0))
        assert len(np.unique(sample.items)) == 5
        values.append(estimators.estimate(Labelled(sample, losses[:5], losses[:5] > 0)).value)
    assert_unbiased(values, 3 / 15)


@pytest.mark.parametrize("budget", [2, 7, 14, 15])
def test_rhc_groups_are_as_equal_as_they_can_be(budget: int) -> None:
    sizes = Rhc().draw(frame(), None, budget=budget, seed=1).draws.group_items
    assert sizes.sum() == 15
    assert sizes.max() - sizes.min() <= 1


def test_rhc_of_everything_is_the_truth() -> None:
    sample = Rhc().draw(frame(), None, budget=15, seed=1)
    losses = np.arange(15.0)
    found = estimators.estimate(Labelled(sample, losses[sample.items], losses[sample.items] > 0, "regression"))
    assert found.value == pytest.approx(7.0, rel=1e-12)
    assert found.variance == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", [Sups, Rhc])
@pytest.mark.parametrize("floor", [-0.1, 1.1, float("nan")])
def test_wrong_floor(kind, floor: float) -> None:
    with pytest.raises(DesignError):
        kind(floor=floor)
