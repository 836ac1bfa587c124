"""One wave: as many items as asked for, none twice, with the chances that are said; and the same chances afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling.wave import PastWave, Prospect, WaveRule, any_wave, kept_chance, replay
from fieldcheck.testing import assert_frequencies

RATE = np.array([0.01, 0.5, 0.2, 0.9, 0.05, 0.3])
PROSPECT = Prospect(RATE, RATE * (1 - RATE), RATE)
BEFORE = np.array([False, True, False, False, False, False])
NONE = np.zeros(0, dtype=np.int64)


def wave(rule: WaveRule, seed: int, *, count: int = 2) -> np.ndarray:
    return rule.draw(PROSPECT, BEFORE, count, choice=stream(seed, "choice"), order=stream(seed, "order"))


@pytest.mark.parametrize("rule", [WaveRule(), WaveRule("expose", 0.3, 0.5), WaveRule("balanced", 1.0)], ids=str)
def test_items_are_drawn_as_often_as_their_chance_says(rule: WaveRule) -> None:
    """Chi-square over 2,000 waves of two, first items only: each place of a wave is any of its items."""
    waves = [wave(rule, seed) for seed in range(2_000)]
    assert all(len(set(items.tolist()) - {1}) == 2 for items in waves)
    chance = np.where(BEFORE, 0.0, rule.inclusion(PROSPECT, BEFORE, 2))
    assert chance.sum() == pytest.approx(2)
    firsts = np.bincount([items[0] for items in waves], minlength=6)
    assert_frequencies(firsts[~BEFORE].tolist(), (chance[~BEFORE] / 2).tolist())


def test_all_that_is_left() -> None:
    assert sorted(wave(WaveRule(), 0, count=5).tolist()) == [0, 2, 3, 4, 5]


def test_what_was_labelled_of_a_wave_is_a_smaller_one() -> None:
    rule, items = WaveRule(), wave(WaveRule(), 0, count=4)
    half = PastWave(WaveRule(), PROSPECT, 4, items[:2], items[2:3])
    np.testing.assert_allclose(any_wave([half], BEFORE), rule.inclusion(PROSPECT, BEFORE, 4) / 2, rtol=1e-12)


def test_a_second_wave_knows_what_the_first_one_drew_and_lost() -> None:
    rule = WaveRule()
    first = PastWave(WaveRule(), PROSPECT, 3, np.array([0, 2]), np.array([4]))
    second = PastWave(WaveRule(), PROSPECT, 1, np.array([5]), NONE)
    (_, one, before), (_, two, drawn) = replay([first, second], BEFORE)
    assert (before.tolist(), np.flatnonzero(drawn).tolist()) == (BEFORE.tolist(), [0, 1, 2, 4])
    np.testing.assert_array_equal(two, rule.inclusion(PROSPECT, drawn, 1))
    np.testing.assert_allclose(any_wave([first, second], BEFORE), 1 - (1 - one) * (1 - two), rtol=1e-15)


def test_a_wave_in_two_parts_has_the_chances_of_one() -> None:
    """2,000 waves of two: each item as often as in one wave, and as often to train with as not."""
    rule, trained, drawn = WaveRule(), np.zeros(6), np.zeros(6)
    for seed in range(2_000):
        items, train = rule.draw_apart(
            PROSPECT, BEFORE, 2, train=0.5, choice=stream(seed, "choice"), order=stream(seed, "order")
        )
        assert len(set(items.tolist()) - {1}) == 2
        trained[items[train]] += 1
        drawn[items] += 1
    chance = np.where(BEFORE, 0.0, rule.inclusion(PROSPECT, BEFORE, 2))
    for counted, expected in ((trained, 0.5 * chance), (drawn, chance)):
        spread = np.sqrt(2_000 * expected * (1 - expected))
        assert np.all(np.abs(counted - 2_000 * expected) <= 4.5 * spread + 2_000 * 0.02 * expected)


def test_the_chance_to_be_kept() -> None:
    np.testing.assert_allclose(kept_chance(np.array([0.2, 1.0, 0.0]), np.array([0.1, 0.5, 0.0])), [1 / 9, 1.0, 0.0])
