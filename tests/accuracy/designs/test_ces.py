"""CES: never an item twice, closer to the pool than chance, in every corner."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy.designs import Ces
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling.draws import uniforms, without_replacement
from fieldcheck.numerics.sampling.representative import sections

ACTIVATIONS = np.maximum(uniforms(stream(1, "activations"), 400 * 6).reshape(400, 6) - 0.3, 0.0)


def frame(activations=ACTIVATIONS) -> Frame:
    return Frame(len(activations), activations=activations)


def distance(items, *, score: str) -> float:
    """Mean over neurons of the cross-entropy, or of KL(sample‖pool), as the design defines them."""
    pool = sections(ACTIVATIONS, 20)
    counts = pool.count(items)
    if score == "kl":
        p = counts / counts.sum(axis=1, keepdims=True)
        terms = np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / np.where(pool.share > 0, pool.share, 1)), 0)
        return float(terms.sum(axis=1).mean())
    smooth = counts + 0.5
    return float(-(pool.share * np.log(smooth / smooth.sum(axis=1, keepdims=True))).sum(axis=1).mean())


@pytest.mark.parametrize("score", ["cross-entropy", "kl"])
def test_closer_to_the_pool_than_random_samples(score) -> None:
    """Below the median of random samples every time: by chance once in 2**20."""
    random = [distance(without_replacement(stream(s, "random"), 60, 400), score=score) for s in range(101)]
    for seed in range(20):
        items = Ces(groups=50, score=score).draw(frame(), None, budget=60, seed=seed).items
        assert distance(items, score=score) < np.median(random)


@pytest.mark.parametrize("budget", [2, 30, 31, 36, 399, 400])
@pytest.mark.parametrize("size", [1, 5, 50])
def test_never_repeats_and_reaches_the_whole_pool(budget: int, size: int) -> None:
    items = Ces(groups=5, size=size).draw(frame(), None, budget=budget, seed=1).items
    assert len(np.unique(items)) == len(items) == budget


def test_the_start_is_random_and_the_rest_follows() -> None:
    sample = Ces(start=30).draw(frame(), None, budget=30, seed=4)
    assert sample.items.tolist() == random_items(4, 30)
    assert Ces(start=30).draw(frame(), None, budget=50, seed=4).items[:30].tolist() == sample.items.tolist()
    assert "random" in sample.warnings[0]


def random_items(seed: int, count: int, population: int = 400) -> list[int]:
    return without_replacement(stream(seed, "ces", "start"), count, population).tolist()


LARGE = np.tile(ACTIVATIONS, (3, 1))


@pytest.mark.parametrize(
    ("activations", "budget", "given", "taken"),
    [
        (ACTIVATIONS, 50, {}, {"start": 5, "score": "kl"}),
        (LARGE, 30, {}, {"start": 5, "score": "kl"}),
        (LARGE, 31, {}, {"start": 30, "score": "cross-entropy"}),
        (LARGE, 20, {"start": 8}, {"start": 8, "score": "kl"}),
        (ACTIVATIONS, 50, {"score": "cross-entropy"}, {"start": 5, "score": "cross-entropy"}),
    ],
)
def test_small_pools_and_budgets_get_the_settings_of_the_paper_and_are_told(activations, budget, given, taken) -> None:
    sample = Ces(**given).draw(frame(activations), None, budget=budget, seed=4)
    settled = Ces(**taken).draw(frame(activations), None, budget=budget, seed=4)
    assert sample.items.tolist() == settled.items.tolist()
    assert not settled.warnings
    own = [f"{name}={value}" for name, value in taken.items() if name not in given]
    assert sample.warnings if taken["start"] < 30 else not sample.warnings
    assert all(word in text for text in sample.warnings for word in own)


def test_thirty_labels_are_no_random_sample() -> None:
    items = Ces().draw(frame(LARGE), None, budget=30, seed=4).items.tolist()
    assert items[:5] == random_items(4, 30, len(LARGE))[:5]
    assert items != random_items(4, 30, len(LARGE))


def test_what_stays_random_is_said() -> None:
    assert "all 4 items are random" in Ces().draw(frame(), None, budget=4, seed=4).warnings[0]


def test_constant_neurons_change_nothing() -> None:
    with_constants = np.column_stack([ACTIVATIONS, np.full((400, 3), 2.0)])
    one = Ces(groups=20).draw(frame(), None, budget=50, seed=1).items
    other = Ces(groups=20).draw(frame(with_constants), None, budget=50, seed=1).items
    assert one.tolist() == other.tolist()


def test_dead_layer() -> None:
    assert len(Ces(groups=5).draw(frame(np.zeros((40, 3))), None, budget=40, seed=1)) == 40


@pytest.mark.parametrize("seed", range(5))
def test_zeros_after_a_relu_are_represented(seed: int) -> None:
    """One neuron, silent for 40 % of the items: so it is in the sample, to one item.

    Every group of five may hold any number of silent ones, so each step can mend the share; sections that lost their
    lower edge would leave the share of zeros to chance, with a standard deviation of 3 items.
    """
    silent = (np.arange(400) % 5 < 2)[:, None]
    items = Ces().draw(frame(np.where(silent, 0.0, 1.0 + ACTIVATIONS[:, :1])), None, budget=50, seed=seed).items
    assert abs(int(silent[items].sum()) - 20) <= 1


def test_it_says_what_is_missing() -> None:
    with pytest.raises(DesignError):
        Ces().draw(Frame(10), None, budget=5, seed=1)


@pytest.mark.parametrize("wrong", [{"k": 1}, {"k": 256}, {"size": 0}, {"score": "js"}, {"smoothing": 0.0}])
def test_wrong_parameters(wrong) -> None:
    with pytest.raises(DesignError):
        Ces(**wrong)
