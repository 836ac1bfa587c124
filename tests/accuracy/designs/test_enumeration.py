"""On a pool of six, over every possible sample: estimates and variance estimates are unbiased to 1e-12, and ``draw``
draws with exactly these chances (chi-square over seeded draws, false alarm 1e-6 each)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, fields

import numpy as np
import pytest

from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.numerics.sampling.partition import cut, kmeans
from fieldcheck.testing import assert_frequencies

from . import enumeration as possible
from .enumeration import BINARY, CHI, REAL, Possible


@dataclass(frozen=True)
class Technique:
    """A design with a budget, all its possible samples, and whether its variance estimate is unbiased."""

    design: Design
    budget: int
    samples: list[Possible]
    variance: bool = True


def by_confidence(ends: list[int]):
    return cut(np.argsort(CHI, kind="stable"), ends)


TECHNIQUES = {
    "srs": lambda: Technique(designs.Srs(), 3, list(possible.srs(3, replace=False))),
    "srs, all": lambda: Technique(designs.Srs(), 5, list(possible.srs(5, replace=False))),
    "srs with replacement": lambda: Technique(designs.Srs(replace=True), 3, list(possible.srs(3, replace=True))),
    "sups": lambda: Technique(designs.Sups(), 3, list(possible.sups(3, floor=0.1))),
    "sups, even": lambda: Technique(designs.Sups(floor=1), 2, list(possible.sups(2, floor=1))),
    "rhc": lambda: Technique(designs.Rhc(), 3, list(possible.rhc(3, floor=0.1))),
    "rhc, uneven groups": lambda: Technique(designs.Rhc(floor=0.3), 4, list(possible.rhc(4, floor=0.3))),
    "ssrs": lambda: Technique(designs.Ssrs(k=2), 4, list(possible.stratified(kmeans(CHI, 2), [3, 1]))),
    "ssrs, one each": lambda: Technique(
        designs.Ssrs(k=3), 3, list(possible.stratified(kmeans(CHI, 3), [1, 1, 1])), variance=False
    ),
    "ssrs, three strata": lambda: Technique(designs.Ssrs(k=3), 5, list(possible.stratified(kmeans(CHI, 3), [2, 2, 1]))),
    "css": lambda: Technique(designs.Css(), 3, list(possible.stratified(by_confidence([5, 6]), [2, 1]))),
    "css, halves": lambda: Technique(
        designs.Css(shares="50/50", allocation="50/50"), 4, list(possible.stratified(by_confidence([3, 6]), [2, 2]))
    ),
    "2ups": lambda: Technique(designs.TwoUps(k=3), 3, list(possible.two_ups(3, floor=0.1, k=3)), variance=False),
    "2ups, two strata": lambda: Technique(
        designs.TwoUps(k=2, floor=0.4), 3, list(possible.two_ups(3, floor=0.4, k=2)), variance=False
    ),
    "deepest": lambda: Technique(
        designs.DeepEst(threshold=0.3), 4, list(possible.deepest(4, r=0.8, threshold=0.3, weights="exceeding"))
    ),
    "deepest, selected": lambda: Technique(
        designs.DeepEst(threshold=0.3, weights="selected", r=0.6),
        4,
        list(possible.deepest(4, r=0.6, threshold=0.3, weights="selected")),
    ),
}


@pytest.fixture(params=TECHNIQUES, scope="module")
def technique(request: pytest.FixtureRequest) -> Technique:
    return TECHNIQUES[request.param]()


def test_chances_add_up(technique: Technique) -> None:
    assert math.fsum(one.chance for one in technique.samples) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("losses", "task"), [(BINARY, "classification"), (REAL, "regression")])
def test_expectations(technique: Technique, losses, task) -> None:
    truth = losses.mean()
    found = []
    for one in technique.samples:
        drawn = losses[one.sample.items]
        found.append((one.chance, estimators.estimate(Labelled(one.sample, drawn, drawn > 0, task))))
    assert math.fsum(chance * e.value for chance, e in found) == pytest.approx(truth, abs=1e-12)
    if technique.variance:
        variance = math.fsum(chance * (e.value - truth) ** 2 for chance, e in found)
        assert math.fsum(chance * e.variance for chance, e in found) == pytest.approx(variance, abs=1e-12)


def key(sample: Sample, *, ordered: bool) -> tuple:
    """What tells two samples apart: the items, and for random groups what else was in each."""
    items = sample.items.tolist()
    groups = np.round(getattr(sample.draws, "group", np.zeros(0)), 9).tolist()
    return (*(items if ordered else sorted(items)), *groups)


def test_draws_have_these_chances(technique: Technique) -> None:
    ordered = technique.design.estimator != "stratified"
    chances: dict[tuple, float] = defaultdict(float)
    examples = {}
    for one in technique.samples:
        chances[key(one.sample, ordered=ordered)] += one.chance
        examples[key(one.sample, ordered=ordered)] = one.sample
    counts = dict.fromkeys(chances, 0)
    frame = possible.frame()
    for seed in range(4000):
        sample = technique.design.draw(frame, None, budget=technique.budget, seed=seed)
        counts[key(sample, ordered=ordered)] += 1
        same_columns(sample, examples[key(sample, ordered=ordered)])
    assert_frequencies(list(counts.values()), list(chances.values()))


def same_columns(sample: Sample, other: Sample) -> None:
    """All that the estimator will read, item by item."""
    here, there = np.argsort(sample.items, kind="stable"), np.argsort(other.items, kind="stable")
    assert type(sample.draws) is type(other.draws)
    for one in fields(other.draws):
        mine, theirs = getattr(sample.draws, one.name), getattr(other.draws, one.name)
        if one.name in sample.draws.columns:
            mine, theirs = mine[here], theirs[there]
        if theirs is not None:  # what the listing does not know
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)
