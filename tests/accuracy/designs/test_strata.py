"""SSRS, CSS and 2-UPS: strata, allocations and their corners."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy.designs import Css, Ssrs, TwoUps
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.testing import scattered


def frame(chi) -> Frame:
    return Frame(len(chi), auxiliary={"confidence": np.asarray(chi, dtype=float)})


def counts(sample) -> list[int]:
    return np.bincount(sample.draws.stratum).tolist()


@pytest.mark.parametrize("budget", [2, 3, 9])
def test_ssrs_with_fewer_labels_than_strata(budget: int) -> None:
    sample = Ssrs(k=10).draw(frame(scattered(200)), None, budget=budget, seed=1)
    assert counts(sample) == [1] * budget
    assert sample.draws.sizes.sum() == 200


def test_ssrs_gives_two_to_every_stratum_where_it_can() -> None:
    chi = np.append(scattered(500), [7.0, 9.0])
    sample = Ssrs(k=5).draw(frame(chi), None, budget=20, seed=1)
    sizes = sample.draws.sizes
    assert np.all(np.array(counts(sample)) >= np.minimum(sizes, 2))
    assert sum(counts(sample)) == 20


def test_ssrs_follows_neyman() -> None:
    """Two strata of a hundred, one spread ten times as widely: ten times the labels."""
    chi = np.concatenate([np.linspace(0, 0.1, 100), np.linspace(5, 6, 100)])
    assert counts(Ssrs(k=2).draw(frame(chi), None, budget=55, seed=1)) == [5, 50]


def test_css_of_the_paper() -> None:
    sample = Css().draw(frame(scattered(1000)), None, budget=100, seed=1)
    assert sample.draws.sizes.tolist() == [800, 100, 100]
    assert counts(sample) == [20, 40, 40]
    last = scattered(1000)[sample.items[sample.draws.stratum == 2]]
    assert last.min() >= np.sort(scattered(1000))[900]


def test_css_in_proportion() -> None:
    sample = Css(allocation="proportional").draw(frame(scattered(1000)), None, budget=100, seed=1)
    assert counts(sample) == [80, 10, 10]


def test_css_by_equal_sections_of_the_range() -> None:
    """Five sections of 0 .. 1: three items up to .2, none up to .4 and .6, one up to .8, two beyond."""
    chi = [0.0, 0.1, 0.2, 0.7, 0.9, 1.0]
    design = Css(by="range", shares="5", allocation="proportional")
    sample = design.draw(frame(chi), None, budget=4, seed=1)
    assert sample.draws.sizes.tolist() == [3, 1, 2]
    assert sorted(sample.items[sample.draws.stratum == 1].tolist()) == [3]
    few = Css(by="range", shares="50/50", allocation="10/90").draw(
        frame([0.0] * 90 + [0.8] * 10), None, budget=10, seed=1
    )
    assert few.draws.sizes.tolist() == [90, 10]
    assert counts(few) == [2, 8]


def test_css_merges_the_riskiest_when_labels_are_few() -> None:
    sample = Css().draw(frame(scattered(1000)), None, budget=2, seed=1)
    assert sample.draws.sizes.tolist() == [800, 200]


def test_css_with_many_strata_does_not_remember_another_budget() -> None:
    """150 strata: what was merged for 110 labels must not serve 150."""
    one = "/".join(["0.6666667"] * 150)
    design, used = Css(shares=one, allocation="proportional"), frame(scattered(1000))
    design.draw(used, None, budget=110, seed=1)
    assert len(design.draw(used, None, budget=150, seed=1).draws.sizes) == 150


@pytest.mark.parametrize(
    "wrong",
    [
        {"shares": "80/30"},
        {"shares": "a/b"},
        {"allocation": "50/50"},
        {"shares": "-10/110"},
        {"by": "size"},
        {"shares": "4"},
    ],
)
def test_css_refuses_what_does_not_add_up(wrong) -> None:
    with pytest.raises(DesignError):
        Css(**wrong)


def test_2ups_starts_over_when_a_stratum_runs_empty() -> None:
    """One stratum of two items has all the size: in every round of two draws both come once."""
    chi = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    items = TwoUps(floor=0, k=2).draw(frame(chi), None, budget=8, seed=1).items
    assert all(set(pair) == {3, 4} for pair in items.reshape(4, 2).tolist())


def test_2ups_says_what_is_unreachable() -> None:
    chi = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    assert TwoUps(floor=0, k=2).draw(frame(chi), None, budget=2, seed=1).warnings
    assert not TwoUps(k=2).draw(frame(chi), None, budget=2, seed=1).warnings
