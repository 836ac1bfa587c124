"""Tests of independence: by hand, and how often they raise a false alarm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2

from fieldcheck.cli.tomography.independence import products
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.tomography.answers.independence import independence, published, resampled

SPACE = Space((Axis("a", 3), Axis("b", 3), Axis("c", 1)))


SEVERITIES = SPACE.severities(np.arange(SPACE.size))
TESTS = np.flatnonzero(SEVERITIES[:, 2] == 0)
INPUTS = 400


def outcomes(rng: np.random.Generator, *, shared: float = 0.0, paired: bool = True) -> Outcomes:
    """Each perturbation fails inputs of its own; both fail the same ones among a ``shared`` part of the inputs.

    Without ``paired``, every test has inputs of its own, so to say.
    """
    held = []
    drawn = rng.random((3, INPUTS))
    for first, second, _ in SEVERITIES[TESTS]:
        base, own, other = drawn if paired else rng.random((3, INPUTS))
        other = np.where(np.arange(INPUTS) < shared * INPUTS, own, other)
        held.append((base < 0.95) & (own > 0.12 * first) & (other > 0.12 * second))
    items = np.arange(INPUTS * len(TESTS)) if not paired else np.tile(np.arange(INPUTS), len(TESTS))
    return Outcomes(np.repeat(TESTS, INPUTS), items, np.concatenate(held).astype(float))


def test_the_published_statistic_by_hand() -> None:
    space = Space((Axis("a", 1), Axis("b", 1)))
    held = {0: 95, 1: 80, 2: 70, 3: 50}
    rows = Outcomes(
        np.repeat([0, 1, 2, 3], 100),
        np.tile(np.arange(100), 4),
        np.concatenate([np.repeat([1.0, 0.0], [count, 100 - count]) for count in held.values()]),
    )
    found = published(space, rows, first="a", second="b")
    expected = (0.50 - 0.56) ** 2 / (0.56 * 0.44 / 100)
    assert found.statistic == pytest.approx(expected)
    assert found.cells == 1
    assert found.p_value == pytest.approx(chi2.sf(expected, 1))
    assert found.applicable  # 100 > 9 · .56 / .44


@pytest.mark.parametrize(("paired", "repetitions"), [(True, 150), (False, 30)])
def test_resampling_keeps_its_level(paired: bool, repetitions: int) -> None:
    """At 5 %: a rate of .05 fails this with a chance under 1e-6; 150 repetitions notice one of .2, 30 one of .5."""
    rng = np.random.default_rng(5)
    alarms = sum(
        resampled(SPACE, outcomes(rng, paired=paired), first="a", second="b", seed=number).p_value <= 0.05
        for number in range(repetitions)
    )
    assert alarms <= binom.ppf(1 - 1e-6, repetitions, 0.05)


def test_the_published_test_does_not() -> None:
    """More alarms than a test at 5 % raises with a chance of 1e-6; the rate here is about a third."""
    rng = np.random.default_rng(5)
    alarms = sum(published(SPACE, outcomes(rng), first="a", second="b").p_value <= 0.05 for _ in range(60))
    assert alarms > binom.ppf(1 - 1e-6, 60, 0.05)


def test_dependence_is_found() -> None:
    rng = np.random.default_rng(6)
    found = resampled(SPACE, outcomes(rng, shared=0.5), first="b", second="a", seed=1)
    assert found.p_value <= 0.002
    assert (found.first, found.second, found.cells) == ("b", "a", 9)


def test_what_was_not_measured_is_told() -> None:
    rows = outcomes(np.random.default_rng(0))
    for first, second in (("a", "c"), ("a", "x")):
        with pytest.raises(SpaceError):
            resampled(SPACE, rows, first=first, second=second)
    with pytest.raises(SpaceError):
        published(SPACE, rows.select(rows.tests != 0), first="a", second="b")


def test_all_pairs_are_judged_together() -> None:
    """Two perturbations that flip separate coins are independent; a third that hits what the first hits is not."""
    space = Space((Axis("a", 1), Axis("b", 1), Axis("c", 1)))
    rng = np.random.default_rng(5)
    hit = rng.random((3000, 3)) < [0.3, 0.4, 0.0]
    hit[:, 2] = hit[:, 0]  # c fails where a fails
    tests = np.repeat([0, 1, 2, 3, 4, 5, 6], 3000)
    at_work = space.severities(tests)[:, :].astype(bool)
    held = ~(np.tile(hit, (7, 1)) & at_work).any(axis=1)
    outcomes = Outcomes(tests, np.tile(np.arange(3000), 7), held.astype(float))
    verdicts = {(one.first, one.second): one.independent for one in independence(space, outcomes)}
    assert verdicts == {("a", "b"): True, ("a", "c"): False, ("b", "c"): True}
    with pytest.raises(SpaceError, match="alone and together"):
        independence(space, outcomes.select(tests == 0))


def test_where_all_inputs_fail_there_is_nothing_to_compare() -> None:
    """Level 1 of a is as good as nothing, b and both together fail all inputs: no pair of tests tells anything."""
    space = Space((Axis("a", 1), Axis("b", 1)))
    rows = Outcomes(np.repeat([0, 1, 2, 3], 50), np.tile(np.arange(50), 4), np.repeat([1.0, 0.0, 1.0, 0.0], 50))
    (verdict,) = independence(space, rows)
    assert (verdict.decision, verdict.independent) == ("nothing to compare", False)
    assert products((verdict,)).startswith("Nothing to compare")


def test_tests_of_a_few_inputs_tell_nothing() -> None:
    """One input a test: its rate is 0 or 1, and seems to have no error."""
    rows = outcomes(np.random.default_rng(1))
    one = rows.select((rows.tests == 0) | (rows.inputs == 7))
    with pytest.raises(SpaceError, match="measured alone and together"):
        independence(SPACE, one)
    assert len(independence(SPACE, rows.select(rows.inputs < 30))) == 1
