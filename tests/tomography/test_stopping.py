"""Stopping rules: by hand, and how often their bounds fail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from fieldcheck.core.errors import SpaceError
from fieldcheck.tomography.runs.stopping import NarrowInterval, Published, Sequence, inputs_used, registry


def batches(*held: int, size: int = 100) -> np.ndarray:
    return np.concatenate([np.repeat([1.0, 0.0], [count, size - count]) for count in held])


def test_the_published_rule_wants_three_small_changes() -> None:
    rule = Published()
    assert not rule.enough(batches(90, 90, 90), 1000)  # two changes
    assert rule.enough(batches(90, 90, 90, 90), 1000)
    assert not rule.enough(batches(90, 90, 91, 90), 1000)  # one input of a hundred is a change of .01
    assert rule.enough(batches(20, 90, 90, 90, 90), 1000)
    assert Published(delta=0.02).enough(batches(90, 91, 90, 91), 1000)


def test_the_published_rule_hardly_ever_stops() -> None:
    """A rate of .9: two batches agree with a chance of .09, three times in a row with .001."""
    rng = np.random.default_rng(0)
    used = [inputs_used(Published(), (rng.random(1000) < 0.9).astype(float)) for _ in range(200)]
    assert np.mean(used) > 980


def test_a_half_width_by_hand() -> None:
    """500 of 1,000 inputs, half of them right: 1.96 sqrt(.25 / 500 · 500 / 999), a little less by Wilson's centre."""
    held = batches(50, 50, 50, 50, 50)
    half = 1.96 * np.sqrt(0.25 / 500 * 500 / 999)
    assert NarrowInterval(width=half).enough(held, 1000)
    assert not NarrowInterval(width=half * 0.99).enough(held, 1000)


def test_no_test_stops_before_its_least_number_of_inputs() -> None:
    sure = np.ones(1000)
    assert inputs_used(NarrowInterval(width=0.05), sure) == 200
    assert inputs_used(NarrowInterval(width=0.05, least=0), sure) == 100
    assert inputs_used(NarrowInterval(width=0.05), sure[:150]) == 150


def test_everything_seen_is_enough() -> None:
    for name in ("half-width", "sequence"):
        rule = registry.build(f"{name}:width=0.001")
        assert inputs_used(rule, batches(50, 50, 50)) == 300
        assert rule.enough(batches(50, 50, 50), 300)


@pytest.mark.parametrize("rule", [NarrowInterval(width=0.04), Sequence(width=0.06)])
def test_at_the_stop_the_truth_is_within_the_width(rule: NarrowInterval | Sequence) -> None:
    """150 tests of 1,000 inputs. The sequence holds in 95 % for sure; Wilson's nearly: a coverage of .8 is noticed."""
    rng = np.random.default_rng(1)
    inside = 0
    for rate in np.tile([0.5, 0.8, 0.97], 50):
        held = (rng.random(1000) < rate).astype(float)
        used = inputs_used(rule, held)
        inside += abs(held[:used].mean() - held.mean()) <= rule.width
    assert inside >= binom.ppf(1e-6, 150, 0.95)


def test_wrong_parameters_are_refused() -> None:
    for spec in ("half-width:width=0", "sequence:level=1", "half-width:batch=0"):
        with pytest.raises(SpaceError):
            registry.build(spec)
