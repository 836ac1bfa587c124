"""One-dimensional k-means against every possible cut."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.numerics.sampling.partition import cut, kmeans
from fieldcheck.testing import scattered


def cost(groups) -> float:
    return sum(float(((group - group.mean()) ** 2).sum()) for group in groups)


def best_cost(values, k: int) -> float:
    """By trying all cuts of the sorted values into at most k parts."""
    ordered = np.sort(values)
    places = combinations(range(1, len(values)), min(k, len(values)) - 1)
    return min(cost(np.split(ordered, list(at))) for at in places)


def is_partition(partition, values) -> None:
    """Every item is in one group, no group is empty, equal values are together, groups follow the variable."""
    together = np.concatenate(partition.members)
    assert sorted(together.tolist()) == list(range(len(values)))
    assert partition.sizes.tolist() == [len(group) for group in partition.members]
    assert partition.sizes.min() > 0
    edges = [(values[group].min(), values[group].max()) for group in partition.members]
    assert all(low[1] < high[0] for low, high in pairwise(edges))


VALUES = st.lists(st.one_of(st.integers(0, 5).map(float), st.floats(0, 100)), min_size=1, max_size=9)


@given(values=VALUES, k=st.integers(1, 5), offset=st.sampled_from([0.0, 1e6, 1e9]))
@example(values=[0.0, 0.001, 0.002, 0.5], k=3, offset=1e8)
def test_equals_brute_force(values: list[float], k: int, offset: float) -> None:
    values = np.array(values) + offset
    found = kmeans(values, k)
    is_partition(found, values)
    different = len(set(np.round(values, 3).tolist()))  # closer values may be one group: their squares cannot differ
    assert min(k, different) <= len(found) <= k
    # Costs are differences of squares: they are known to a few units in the last place of the largest square.
    values = values - values[0]  # exact enough: offsets only cost digits that the values lost before
    slack = 1e-12 * float((values**2).sum())
    assert cost(values[group] for group in found.members) <= best_cost(values, k) + slack


def test_an_outlier_has_its_own_group() -> None:
    values = np.append(scattered(5000), 1e6)
    assert kmeans(values, 3).members[-1].tolist() == [5000]


def test_ties_by_position() -> None:
    assert [group.tolist() for group in kmeans(np.array([5.0, 1.0, 5.0, 1.0]), 10).members] == [[1, 3], [0, 2]]


def test_constant_values_are_one_group() -> None:
    assert len(kmeans(np.full(50, 0.3), 10)) == 1


@pytest.mark.parametrize("shape", [lambda u: u, lambda u: u**8, lambda u: -np.log1p(-u), lambda u: np.round(u, 3)])
@pytest.mark.parametrize("k", [2, 10])
def test_large_inputs_are_as_good_as_the_exact_solution_of_a_finer_grid(shape, k: int) -> None:
    """Thinning to a few hundred points costs less than 0.1 % of the spread against a three times finer one."""
    from fieldcheck.numerics.sampling import partition

    values = shape(uniforms(stream(5, "large"), 6000))
    coarse = cost(values[group] for group in kmeans(values, k).members)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "_COARSE", 2100)
        fine = cost(values[group] for group in kmeans(values, k).members)
    assert coarse <= fine * 1.001


def test_cut_leaves_empty_groups_out() -> None:
    assert [group.tolist() for group in cut(np.array([2, 0, 1]), [1, 1, 3]).members] == [[2], [0, 1]]
