"""Inclusion probabilities of a wave: their sum, floor, caps and order, and the certain ones of ``expose``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fieldcheck.numerics.sampling.inclusion import Objective, wave_inclusion

OBJECTIVES: tuple[Objective, ...] = ("estimate", "balanced", "expose")


def inclusion(
    expected, *, count: int, drawn=(), objective: Objective = "estimate", floor: float = 0.2, certain: float = 0.75
) -> np.ndarray:
    """Of failures; ``drawn`` are positions."""
    p = np.asarray(expected, dtype=np.float64)
    before = np.isin(np.arange(len(p)), drawn)
    return wave_inclusion(p, p * (1 - p), before, count, objective=objective, floor=floor, certain=certain)


@st.composite
def situations(draw: st.DrawFn):
    size = draw(st.integers(1, 50))
    chances = st.floats(1e-9, 1 - 1e-9) | st.sampled_from([1.0, 0.5, 0.1])
    expected = draw(arrays(np.float64, size, elements=chances))
    drawn = draw(arrays(np.bool_, size))
    assume(not drawn.all())
    count = draw(st.integers(1, int((~drawn).sum())))
    return expected, np.flatnonzero(drawn), count


@given(
    situation=situations(),
    objective=st.sampled_from(OBJECTIVES),
    floor=st.sampled_from([0.01, 0.2, 1.0]),
    certain=st.sampled_from([0.0, 0.3, 0.75, 1.0]),
)
def test_what_always_holds(situation, objective: Objective, floor: float, certain: float) -> None:
    expected, drawn, count = situation
    found = inclusion(expected, count=count, drawn=drawn, objective=objective, floor=floor, certain=certain)
    left = np.setdiff1d(np.arange(len(expected)), drawn)
    assert np.isfinite(found).all()
    assert ((found > 0) & (found <= 1)).all()
    assert found[left].sum() == pytest.approx(count, rel=1e-12)
    # What is left to chance keeps its share of the floor: capping, and ties at the cut, only raise it.
    outright = min(round(certain * count), count - 1) if objective == "expose" else 0
    assert found[left].min() >= floor * (count - outright) / (len(left) - outright) * (1 - 1e-9)


@given(situation=situations(), objective=st.sampled_from(OBJECTIVES))
def test_items_that_look_the_same_get_the_same_labelled_or_not(situation, objective: Objective) -> None:
    expected, drawn, count = situation
    found = inclusion(expected, count=count, drawn=drawn, objective=objective)
    for value in np.unique(expected):
        assert len(np.unique(found[expected == value])) == 1


@given(situation=situations())
def test_more_risk_is_more_chance(situation) -> None:
    """``estimate`` up to a risk of a half, where the spread of a failure is largest; the others throughout."""
    expected, drawn, count = situation
    order = np.argsort(expected, kind="stable")
    for objective in ("balanced", "expose"):
        found = inclusion(expected, count=count, drawn=drawn, objective=objective)[order]
        if objective == "balanced" or (expected <= 0.5).all():
            assert (np.diff(found) >= -1e-12).all()
    found = inclusion(expected, count=count, drawn=drawn)[order]
    assert (np.diff(found[expected[order] <= 0.5]) >= -1e-12).all()
    assert (np.diff(found[expected[order] >= 0.5]) <= 1e-12).all()


def test_by_hand() -> None:
    """Sizes sqrt(p(1-p)) = .3, .4, .5 and a mean of .4: (.8 s/.4 + .2)/3 each for one label."""
    np.testing.assert_allclose(inclusion([0.1, 0.2, 0.5], count=1), [0.8 / 3, 1.0 / 3, 1.2 / 3], rtol=1e-12)


def test_the_mean_size_is_that_of_the_items_left() -> None:
    """The two left have a mean size of .35; the drawn one, with .5, goes by the same constant."""
    mixed = 0.8 * np.array([0.3, 0.4, 0.5]) / 0.35 + 0.2
    np.testing.assert_allclose(inclusion([0.1, 0.2, 0.5], count=1, drawn=[2]), mixed / mixed[:2].sum(), rtol=1e-12)


def test_caps_are_passed_on() -> None:
    """Sizes 1, 1, 1, 17 (balanced, hardly a floor) for two labels: the last is certain, the others share one."""
    found = inclusion([0.05, 0.05, 0.05, 0.85], count=2, objective="balanced", floor=0.01)
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1 / 3, 1], rtol=1e-12)


def test_caps_one_after_the_other() -> None:
    """Sizes that double, and five labels of eight: each cap pushes the next item over the edge."""
    sizes = 2.0 ** np.arange(8) / 256
    found = inclusion(sizes, count=5, objective="balanced", floor=0.01)
    np.testing.assert_array_equal(found[4:], 1.0)
    mixed = 0.99 * sizes / sizes.mean() + 0.01
    np.testing.assert_allclose(found[:4], mixed[:4] / mixed[:4].sum(), rtol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("value", [1e-12, 1e-4, 0.3, 1.0])
def test_all_equal_is_simple_random(objective: Objective, value: float) -> None:
    found = inclusion(np.full(10, value), count=4, drawn=[0, 7], objective=objective)
    np.testing.assert_allclose(found, 0.5, rtol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_all_that_are_left(objective: Objective) -> None:
    found = inclusion([0.1, 0.9, 0.3, 1e-12, 1.0], count=4, drawn=[1], objective=objective)
    np.testing.assert_array_equal(found[[0, 2, 3, 4]], 1.0)


def test_expose_takes_the_riskiest_outright() -> None:
    """Three quarters of 8 labels: the 6 riskiest of those left, and drawn ones that are as risky."""
    p = np.arange(1, 21) / 25
    found = inclusion(p, count=8, drawn=[19, 0], objective="expose")
    np.testing.assert_array_equal(np.flatnonzero(found == 1.0), np.arange(13, 20))
    assert found[1:13].sum() == pytest.approx(2, rel=1e-12)


def test_expose_sizes_by_hand() -> None:
    """p = .2, .2, .8 and one of two labels outright: τ = .8, and the others have equal chances for the second."""
    np.testing.assert_allclose(inclusion([0.2, 0.2, 0.8], count=2, objective="expose", certain=0.5), [0.5, 0.5, 1])
    # τ = .8 again; s = sqrt(p(1-p)/(1 - p/τ)) is .4/sqrt(.75) for .2 and .3/sqrt(.875) for .1.
    sizes = np.array([0.3 / np.sqrt(0.875), 0.4 / np.sqrt(0.75)])
    mixed = 0.8 * sizes / sizes.mean() + 0.2
    found = inclusion([0.1, 0.2, 0.8], count=2, objective="expose", certain=0.5)
    np.testing.assert_allclose(found, [*(mixed / mixed.sum()), 1], rtol=1e-12)


@pytest.mark.parametrize("certain", [0.75, 1.0])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_expose_leaves_a_label_to_chance(count: int, certain: float) -> None:
    """However small the wave: an item that cannot be drawn would bias the estimate."""
    found = inclusion([0.9, 0.8, 0.7, 0.1, 0.01], count=count, objective="expose", certain=certain)
    assert found.min() > 0
    assert np.count_nonzero(found == 1.0) <= count - 1
    assert found.sum() == pytest.approx(count, rel=1e-12)


def test_ties_at_the_cut_are_left_to_chance() -> None:
    """Two are to be certain, but three tie for the second place: only the first is."""
    found = inclusion([0.9, 0.5, 0.5, 0.5, 0.1, 0.1], count=4, objective="expose", certain=0.5)
    assert found[0] == 1.0
    assert found[1] == found[2] == found[3] < 1
    assert found.sum() == pytest.approx(4, rel=1e-12)


def test_losses_of_any_size() -> None:
    """Sizes of a regression are as large as its losses: another unit changes nothing."""
    expected = np.array([0.1, 0.4, 2.0, 7.0, 0.2])
    drawn = np.zeros(5, dtype=bool)
    for objective in OBJECTIVES:
        small, large = (
            wave_inclusion(m, 2 * m**2, drawn, 2, objective=objective, floor=0.2, certain=0.5)
            for m in (expected, expected * 1024)
        )
        np.testing.assert_allclose(small, large, rtol=1e-12)
