"""Sections of neurons, and the group that makes a sample most like the pool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling import representative
from fieldcheck.numerics.sampling.draws import below, uniforms, without_replacement
from fieldcheck.numerics.sampling.representative import best_group, sections


def pool(seed: int, size: int, neurons: int):
    """Activations after a ReLU: many are zero."""
    raw = uniforms(stream(seed, "activations"), size * neurons).reshape(size, neurons)
    return np.maximum(raw - 0.4, 0.0)


def naive_sections(activations, k: int):
    low, high = activations.min(axis=0), activations.max(axis=0)
    codes = np.zeros(activations.shape, dtype=int)
    for at, value in np.ndenumerate(activations):
        neuron = at[1]
        if high[neuron] > low[neuron]:
            codes[at] = min(int((value - low[neuron]) / (high[neuron] - low[neuron]) * k), k - 1)
    return codes


def test_sections_by_definition() -> None:
    activations = np.column_stack([pool(1, 40, 3), np.full(40, 7.0)])
    found = sections(activations, 20)
    np.testing.assert_array_equal(found.codes, naive_sections(activations, 20))
    for neuron in range(4):
        counts = np.bincount(found.codes[:, neuron], minlength=20)
        np.testing.assert_array_equal(found.share[neuron], counts / 40)


def test_both_ends_are_counted() -> None:
    """ReLU zeros are in the first section, the maximum in the last; a constant neuron has one section."""
    activations = np.array([[0.0, 3.0], [0.0, 3.0], [0.5, 3.0], [1.0, 3.0]])
    found = sections(activations, 4)
    assert found.codes.tolist() == [[0, 0], [0, 0], [2, 0], [3, 0]]
    assert found.share.tolist() == [[0.5, 0, 0.25, 0.25], [1, 0, 0, 0]]
    assert found.count(np.array([0, 0, 3])).tolist() == [[2, 0, 0, 1], [3, 0, 0, 0]]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_types_of_activations(kind) -> None:
    activations = (pool(2, 30, 2) * 100).astype(kind)
    np.testing.assert_array_equal(sections(activations, 5).codes, naive_sections(activations.astype(float), 5))


def divergence(share, counts, *, score: str, smoothing: float) -> float:
    """Sum over neurons, from the definition; natural logarithms."""
    if score == "kl":
        p = counts / counts.sum(axis=1, keepdims=True)
        return float(np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / np.where(share > 0, share, 1)), 0)))
    smooth = counts + smoothing
    return float(-(share * np.log(smooth / smooth.sum(axis=1, keepdims=True))).sum())


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 6),
    neurons=st.integers(1, 5),
    k=st.integers(2, 8),
    score=st.sampled_from(["cross-entropy", "kl"]),
)
def test_best_group_has_the_smallest_cost(seed: int, size: int, neurons: int, k: int, score: str) -> None:
    activations = pool(seed, 50, neurons)
    population = sections(activations, k)
    chosen = without_replacement(stream(seed, "chosen"), 7, 50)
    groups = np.stack([without_replacement(stream(seed, "group", g), size, 50) for g in range(12)])
    counts = population.count(chosen)
    winner = best_group(population, counts, groups, score=score, smoothing=0.5)

    def cost(group) -> float:
        return divergence(population.share, counts + population.count(group), score=score, smoothing=0.5)

    # Costs are kept in units of 2**-20: each of the size × neurons terms may be off by half a unit, in the winner and
    # in the true best. KL is kept as t · KL.
    slack = size * neurons * 2.0**-20 / (7 + size if score == "kl" else 1) + 1e-12
    assert cost(winner) <= min(cost(group) for group in groups) + slack


def test_the_first_of_equals_wins() -> None:
    population = sections(np.zeros((6, 2)), 4)
    groups = np.array([[3, 4], [0, 1], [2, 5]])
    counts = population.count(np.array([0]))
    assert best_group(population, counts, groups, score="cross-entropy", smoothing=0.5).tolist() == [3, 4]


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    activations = pool(4, 200, 6)
    groups = below(stream(1, "groups"), 40 * 3, 200).reshape(40, 3)
    whole = sections(activations, 20)
    counts = whole.count(np.arange(9))
    expected = best_group(whole, counts, groups, score="kl", smoothing=0.5)
    monkeypatch.setattr(representative, "_CELLS", 50)
    parts = sections(activations, 20)
    np.testing.assert_array_equal(parts.codes, whole.codes)
    np.testing.assert_array_equal(parts.share, whole.share)
    np.testing.assert_array_equal(best_group(parts, counts, groups, score="kl", smoothing=0.5), expected)
