"""A comparison that takes the labels of an earlier campaign: they count with the chances that they had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fieldcheck import Pool
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.comparison.disagreements import ContestedItems, Drawn, chances, draw, waves
from fieldcheck.accuracy.comparison.estimate import Rule, judge, look
from fieldcheck.testing.statistics import assert_covers, assert_unbiased

from .test_compare import level_models, models, true_difference


def with_labels(pools: list[Pool], spec: str, *, budget: int, seed: int) -> ContestedItems:
    """After a campaign on the first of the models."""
    design = build_design(spec)
    labelled = play(Field.of(pools[0], auxiliary=auxiliary_names(design, pools[0])), design, budget=budget, seed=seed)
    return ContestedItems.of(pools).reusing(labelled.sample.items, reuse.old_chances(labelled))


@pytest.mark.parametrize("spec", ["waves:objective=expose", "srs"])
def test_intervals_cover_and_the_estimate_has_no_bias_to_speak_of(spec: str) -> None:
    """300 comparisons with 30 further labels; the earlier campaign looked for failures of the first model only."""
    pools = models(1_500)
    truth, losses = true_difference(*pools), ContestedItems.of(pools).true_losses()
    found, blind = [], []
    for seed in range(300):
        contested = with_labels(pools, spec, budget=100, seed=seed)
        drawn = draw(contested, losses, budget=30, seed=seed)
        assert not set(drawn.items) & set(contested.before)
        found += look(contested, drawn, losses, labels=30, rule=Rule())
        alike = replace(contested, chance=np.full(len(contested.items), len(contested.before) / len(contested.items)))
        blind += look(alike, drawn, losses, labels=30, rule=Rule())
    assert min(one.labels for one in found) > 30
    assert_covers(sum(truth in one.interval for one in found), 300, least=0.93)
    assert_unbiased([one.value for one in found], truth)
    if spec != "srs":  # as if the earlier labels had been a random sample of the disagreements
        assert abs(np.mean([one.value for one in blind]) - truth) > 5 * np.std([one.value for one in blind]) / 300**0.5


def test_looking_after_every_wave_makes_few_false_claims() -> None:
    """Equal models, 200 comparisons, a look before the first further label and after every wave."""
    claims, pools = 0, [level_models(1_200, seed) for seed in range(10)]
    for seed in range(200):
        contested = with_labels(pools[seed % 10], "srs", budget=150, seed=seed)
        losses = contested.true_losses()
        rule, drawn = Rule(certify=True), Drawn.nothing()
        for drawn in waves(contested, losses, budget=100, seed=seed, first=40):  # noqa: B007 -- the last one counts
            pass
        (found,) = judge(contested, drawn, losses, labels=len(drawn.items), rule=rule)
        claims += found.winner is not None
    assert_covers(200 - claims, 200, least=0.95)


def test_chances_are_those_of_both_campaigns() -> None:
    contested = with_labels(models(), "srs", budget=60, seed=3)
    nothing = np.zeros(len(contested.items), dtype=bool)
    assert contested.chance is not None
    np.testing.assert_allclose(contested.chance, 0.1)
    before = chances(contested, Drawn.nothing(), 0, lost=nothing)
    np.testing.assert_allclose(before, 0.1)
    drawn = draw(contested, contested.true_losses(), budget=20, seed=1)
    both = chances(contested, drawn, len(drawn.items), lost=nothing)
    assert (both > before).all()
    left = np.setdiff1d(np.arange(len(contested.items)), contested.before)
    # Given the earlier labels, the waves draw 20 of what is left.
    assert (1 - (1 - both[left]) / 0.9).sum() == pytest.approx(20, rel=0.1)


def test_when_all_disagreements_are_labelled_the_difference_is_known() -> None:
    pools = models()
    contested = with_labels(pools, "srs", budget=300, seed=3)
    drawn = draw(contested, contested.true_losses(), budget=600, seed=1)
    assert len(drawn.items) == contested.open == len(contested.items) - len(contested.before)
    (found,) = judge(contested, drawn, contested.true_losses(), labels=contested.open, rule=Rule())
    assert found.interval.kind == "exact"
    assert found.value == pytest.approx(true_difference(*pools), abs=1e-12)
