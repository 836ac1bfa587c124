"""Bets: no stake gains under its hypothesis, by enumeration; exact decimals; order, gaps and skips; false claims."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.core.rng import stream
from fieldcheck.numerics.betting import Bets, most_failures
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.numerics.wealth import SHARES, Kinds, Wealth, kinds, stakes
from fieldcheck.testing import assert_covers


@pytest.mark.parametrize(
    ("population", "threshold", "most"),
    [(100, 0.9, 10), (1000, 0.997, 3), (10_000, 0.95, 500), (7, 0.5, 3), (10, 0.95, 0), (30, 0.9, 3)],
)
def test_the_most_failures_in_exact_decimals(population: int, threshold: float, most: int) -> None:
    """In floating point 100 (1 - .9) is less than 10."""
    assert most_failures(population, threshold) == most


def some_kinds(seed: int) -> Kinds:
    """A few kinds of a few items, of any risk, sizes far from what the risk suggests."""
    u = iter(uniforms(stream(seed, "kinds"), 40).tolist())
    many = 1 + int(5 * next(u))
    count = np.array([1.0 + int(4 * next(u)) for _ in range(many)])
    risk = np.clip([next(u) ** (1 + 7 * next(u)) for _ in range(many)], 1e-6, 1 - 1e-4)
    size = np.array([0.05 + next(u) for _ in range(many)])
    return Kinds(np.repeat(np.arange(many), count.astype(int)), risk, size, count)


@pytest.mark.parametrize("claim", ["at least", "below"])
def test_no_bet_gains_under_its_hypothesis(claim: str) -> None:
    """Every number and place of failures that the hypothesis allows, in 150 random cases."""
    for seed in range(150):
        now = some_kinds(seed)
        of_item = now.of_item
        failures = range(1, len(of_item) + 1) if claim == "at least" else range(len(of_item))
        wealth = Wealth.against(list(failures), len(of_item), claim=claim)  # type: ignore[arg-type]
        against, speaking = wealth.factors(now)
        chance = now.chances()[of_item]
        assert chance.sum() == pytest.approx(1, abs=1e-12)
        wrong, right = (against, speaking) if claim == "at least" else (speaking, against)
        for row, most in enumerate(failures):
            if np.isinf(wrong[row]).any() or np.isinf(right[row]).any():
                continue  # only labels of one kind are possible under it: the infinite factor has no chance
            # The mean factor is a sum over items; failures where they pay best are the worst case of all places.
            base = (right[row][:, of_item] * chance).sum(axis=1)
            gain = np.sort((wrong - right)[row][:, of_item] * chance, axis=1)[:, ::-1].cumsum(axis=1)
            means = base[:, None] + np.concatenate([np.zeros((4, 1)), gain], axis=1)
            allowed = slice(most, None) if claim == "at least" else slice(most + 1)
            assert means[:, allowed].max() <= 1 + 1e-12


def test_a_whole_game_is_fair_over_all_orders() -> None:
    """Five items of two kinds, three of them fail, as the hypothesis says: the mean over all paths is 1 at most."""
    of_item, fails = np.array([0, 0, 1, 1, 1]), np.array([0.0, 1, 1, 0, 1])
    start = Kinds(of_item, np.array([0.05, 0.3]), np.array([1.0, 1.7]), np.array([2.0, 3.0]))
    mean = np.zeros(4)
    for order in itertools.permutations(range(5), 4):
        now, wealth, chance = start, Wealth.against([3], 5), 1.0
        for item in order:
            chance *= float(now.chances()[of_item[item]])
            wealth = wealth.after(now, int(of_item[item]), float(fails[item]))
            now = now.without(int(of_item[item]))
        mean += chance * wealth.products[0]
    assert mean.max() <= 1 + 1e-12


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.95))
@settings(max_examples=50, deadline=None)
def test_stakes_are_the_best_ones(seed: int, share: float) -> None:
    """Kelly: no other stakes of the same mean grow faster if the risks are right."""
    now = some_kinds(seed)
    left = now.items * share
    risk = now.risk * min(0.9 * left / float(now.risk @ now.count), 1.0)
    weight = now.chances() * now.count

    def growth(wrong: np.ndarray, right: np.ndarray) -> float:
        return float(weight @ (risk * np.log(wrong) + (1 - risk) * np.log(right)))

    wrong, right = stakes(now.chances(), risk, now.count, np.asarray(left))
    best = growth(wrong, right)
    assert best >= -1e-12
    for other in range(5):
        b = wrong * (0.9 + 0.2 * uniforms(stream(seed, other), len(wrong)))
        d = float(((right - wrong) * now.chances())[0]) * (0.9 + 0.2 * other / 4)
        fair = float(weight @ b) + (now.items - left) * d
        assert growth(b / fair, (b + d / now.chances()) / fair) <= best + 1e-9


def population(size: int = 300, rate: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Risks that tell something, and which items fail."""
    risk = uniforms(stream(3, "risk"), size) ** 4
    risk = np.clip(risk * rate / risk.mean(), 0, 0.95)
    return risk, (uniforms(stream(3, "failed"), size) < risk).astype(np.float64)


def played(bets: Bets, losses: np.ndarray, *, labels: int, seed: int) -> Bets:
    rng = stream(seed, "bets")
    for _ in range(labels):
        bets, item = bets.draw(rng)
        bets = bets.take(float(losses[item]))
    return bets


def test_labels_that_come_late_count_in_the_order_of_the_draws() -> None:
    risk, losses = population()
    one = played(Bets.start(risk, 0.8), losses, labels=30, seed=1)
    ahead, rng, items = Bets.start(risk, 0.8), stream(1, "bets"), []
    for _ in range(30):
        ahead, item = ahead.draw(rng)
        items.append(item)
    assert ahead.above.highest[0] == 1
    for item in items:
        ahead = ahead.take(float(losses[item]))
    np.testing.assert_array_equal(ahead.above.products, one.above.products)
    np.testing.assert_array_equal(ahead.below.products, one.below.products)


def test_an_item_that_cannot_be_labelled_counts_against_either_claim() -> None:
    risk, _ = population()
    bets, _ = Bets.start(risk, 0.8).draw(stream(2, "bets"))
    skipped, failed, right = bets.take(None), bets.take(1.0), bets.take(0.0)
    np.testing.assert_array_equal(skipped.above.products, failed.above.products)
    np.testing.assert_array_equal(skipped.below.products, right.below.products)
    assert (skipped.above.found, skipped.below.found) == (1, 0)


def test_a_hypothesis_that_is_known_to_be_true_is_never_refuted() -> None:
    bets = Bets.start(np.full(40, 0.1), 0.9)  # at most 4 failures
    bets = played(bets, np.ones(40), labels=6, seed=0)
    assert bets.above.products.tolist() == [[0, 0, 0, 0]]
    assert bets.claim() == "below"
    rest = played(bets, np.zeros(40), labels=30, seed=0)
    assert (rest.above.highest[0], rest.claim()) == (bets.above.highest[0], "below")


def test_a_hypothesis_that_has_become_impossible_is_refuted() -> None:
    """Of ten items at most five may fail; six right ones leave no room for six failures."""
    bets = played(Bets.start(np.full(10, 0.5), 0.5), np.zeros(10), labels=6, seed=0)
    assert bets.claim(error=1e-9) == "at least"
    low, high = bets.bounds()
    assert low == 0
    assert high <= 0.4


@pytest.mark.filterwarnings("error")
def test_a_wealth_without_end_stays_a_number() -> None:
    """Against hypotheses far from the truth it passes what a float holds; its shares are asked for all the same."""
    now = some_kinds(1)
    start = replace(Wealth.against([2.0], len(now.of_item)), products=np.full((1, 4), 1e300))
    after = start.after(now, kind=0, loss=0.0).after(now, kind=0, loss=0.0)
    assert np.isfinite(after.products).all()
    assert after.held.sum() == pytest.approx(1, abs=1e-12)


def test_every_item_labelled_is_decided() -> None:
    risk, losses = population(60, 0.2)
    truth = 1 - losses.mean()
    for threshold in (truth - 0.02, truth, truth + 0.02):
        done = played(Bets.start(risk, threshold), losses, labels=60, seed=0)
        assert done.claim(error=1e-12) == ("at least" if threshold <= truth else "below")
        assert done.bounds() == (pytest.approx(1 - truth), pytest.approx(1 - truth))


def test_scores_between_zero_and_one() -> None:
    """A loss of one half is worth the mean of the two factors, and half a failure."""
    bets, _ = Bets.start(np.full(50, 0.1), 0.8, whole=False).draw(stream(0, "bets"))
    assert bets.above.totals.tolist() == [pytest.approx(10)]
    half, right, wrong = (bets.take(loss).above for loss in (0.5, 0.0, 1.0))
    np.testing.assert_allclose(half.products, (right.products + wrong.products) / 2, rtol=1e-12)
    assert half.found == 0.5


def test_an_accurate_model_is_certified_and_a_poor_one_refused() -> None:
    risk, losses = population(2000, 0.02)
    good = played(Bets.start(risk, 0.9), losses, labels=150, seed=0)
    assert good.claim() == "at least"
    failing = (uniforms(stream(1, "poor"), 2000) < 0.4).astype(np.float64)
    poor = played(Bets.start(risk, 0.9), failing, labels=80, seed=0)
    assert poor.claim() == "below"
    low, high = good.bounds()
    assert low <= losses.mean() <= high < 0.1


def test_labels_to_go_are_about_right() -> None:
    """Forecast and median of 9 campaigns whose items fail as often as they are believed to; within a factor of 1.6."""
    risk, _ = population(1500, 0.03)
    forecast = Bets.start(risk, 0.93).to_go()
    assert forecast is not None
    taken = []
    for seed in range(9):
        bets, rng = Bets.start(risk, 0.93), stream(seed, "bets")
        losses = (uniforms(stream(seed, "y"), 1500) < risk).astype(np.float64)
        while bets.claim() is None:
            bets, item = bets.draw(rng)
            bets = bets.take(float(losses[item]))
        taken.append(len(bets.taken))
    assert forecast / 1.6 <= np.median(taken) <= forecast * 1.6


def test_false_claims_are_rare_with_the_truth_on_the_threshold() -> None:
    """120 campaigns of up to 40 labels, looked at after each, with useless risks: at most 5 % (alarm 1e-6)."""
    size, fails = 80, 8
    wrong = 0
    for seed in range(120):
        risk = uniforms(stream(seed, "risk"), size) ** 3 * 0.3
        losses = np.zeros(size)
        losses[np.argsort(uniforms(stream(seed, "y"), size))[:fails]] = 1
        bets = played(Bets.start(risk, 1 - (fails - 1) / size), losses, labels=40, seed=seed)
        wrong += bets.claim() == "at least"
    assert_covers(120 - wrong, 120, least=0.95)


def test_chances_are_those_of_the_draws() -> None:
    """The first draw of 2,000 seeds, by kind, within five standard errors."""
    risk, _ = population(40, 0.2)
    bets = Bets.start(risk, 0.7)
    drawn = np.bincount([bets.draw(stream(seed, "first"))[1] for seed in range(2000)], minlength=40) / 2000
    wanted = bets.now.chances()[bets.now.of_item]
    assert (np.abs(drawn - wanted) <= 5 * np.sqrt(wanted / 2000)).all()


def test_useless_signals_lose_the_wealth_and_then_the_chances() -> None:
    """Failures have nothing to do with the risk: after 400 labels most of the wealth believes that all fail alike, and
    items are drawn with nearly equal chances; with a risk that is right neither happens."""
    risk, told = population(3000, 0.1)
    unrelated = told[np.argsort(uniforms(stream(5, "order"), 3000))]
    spans, held = [], []
    for losses in (unrelated, told):
        bets = played(Bets.start(risk, 0.8), losses, labels=400, seed=2).wave(risk)
        spans.append(bets.now.size.max() / bets.now.size.min())
        held.append(float(bets.above.held[0, -1]))
    assert held[0] > 0.9
    assert held[1] < 0.1
    assert spans[0] < 1.1 < spans[1]


def test_kinds_cover_the_items_that_are_left() -> None:
    risk, _ = population()
    drawn = np.zeros(300, dtype=bool)
    drawn[::7] = True
    now = kinds(risk, drawn, replace(Wealth.against([40], 300), found=3.0))
    assert ((now.of_item == -1) == drawn).all()
    np.testing.assert_array_equal(np.bincount(now.of_item[~drawn]), now.count)
    assert len(now.count) <= 24
    assert (np.diff(now.risk) >= 0).all()
    assert math.isclose(SHARES.sum(), 1)
