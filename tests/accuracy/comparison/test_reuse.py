"""Old labels for a new version: chances are carried over, a top-up goes where the new risk is, and nothing is claimed
for a version that may have seen the labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fieldcheck import Pool, load
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.comparison.reuse import Carried, draw_top_up, frame_of, old_chances, pooled
from fieldcheck.accuracy.comparison.simulate import simulate_reuse
from fieldcheck.accuracy.estimators.chances import ArrayChances, EqualChance
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.draws import PooledDraws
from fieldcheck.core.errors import BudgetError, PoolError, SampleError
from fieldcheck.core.sample import Labelled
from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.testing.statistics import assert_covers

from ..said import of_all

WORDS = np.array(["ant", "bee", "cat", "dog"])


def versions(size: int = 800, seed: int = 1) -> list[Pool]:
    """An old and a better new version."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(0, 4, size), rng.beta(1, 3, size)
    pools = []
    for name, share in (("old", 0.3), ("new", 0.2)):
        wrong = rng.random(size) < np.clip(share * hard / hard.mean(), 0, 1)
        said = np.where(wrong, (truth + 1) % 4, truth)
        pools.append(from_arrays(y_pred=WORDS[said], y_true=WORDS[truth], confidence=1 - hard / 2, name=name))
    return pools


def prices(size: int = 400) -> list[Pool]:
    rng = np.random.default_rng(3)
    truth, spread = rng.normal(10, 1, size), rng.random(size)
    return [
        from_arrays(
            y_pred=truth + rng.normal(0, error, size) * spread,
            y_true=truth,
            auxiliary={"lsa": spread},
            name=f"p{error}",
        )
        for error in (1.0, 0.7)
    ]


def campaign(pool: Pool, spec: str = "waves", *, budget: int = 100, seed: int = 1) -> Labelled:
    design = build_design(spec)
    return play(Field.of(pool, auxiliary=auxiliary_names(design, pool)), design, budget=budget, seed=seed)


def chances(labelled: Labelled) -> np.ndarray:
    """Of all items: asked for, and the same where they are."""
    frame, chance = labelled.sample.frame, labelled.sample.drawn_as(PooledDraws).chance
    assert frame is not None
    found = chance.at(np.arange(frame.size))
    there = chance.sent(frame)
    assert np.array_equal(found, np.concatenate(list(frame.map(lambda part, _: there(part), None))))
    return found


@pytest.mark.parametrize("pool", [versions()[0], prices()[0]], ids=["classes", "numbers"])
def test_the_estimate_is_that_of_an_ordinary_campaign(pool: Pool) -> None:
    """Without a new version, the labels of ``waves`` give what ``waves`` knows: of classes also its estimate.

    Of numbers, ``waves`` estimates by its audit form, which a pooled sample does not have.
    """
    labelled = campaign(pool)
    fit = Fit.of(labelled)
    said = of_all(fit.items)
    draws = PooledDraws(ArrayChances(said.chance))
    again = Fit.of(replace(labelled, sample=replace(labelled.sample, draws=draws)))
    assert again.value == pytest.approx(fit.found.value, rel=1e-12)
    assert fit.value == pytest.approx(fit.audit if pool.task == "regression" else again.value, rel=1e-12)
    assert again.seen == pytest.approx(fit.seen, rel=1e-12)
    assert again.foreseen == pytest.approx(fit.foreseen, rel=1e-12)
    assert of_all(again.items).expected == pytest.approx(said.expected, rel=1e-12)


def test_chances_of_both_campaigns_are_pooled() -> None:
    old, new = versions()
    labelled = campaign(old, "srs", budget=80)
    before, every = 80 / 800, np.arange(800)
    assert np.all(old_chances(labelled).at(every) == before)
    items = labelled.sample.items
    carried, frame = Carried(items, new.losses()[items], old_chances(labelled)), frame_of(new)
    top = draw_top_up(frame, carried, 40, seed=2)
    assert len(set(top.items.tolist())) == 40
    assert not set(top.items.tolist()) & set(items.tolist())
    fit = pooled(frame, carried, top, new.losses()[top.items], measure=new.measure())
    added = 1 - (1 - chances(fit)) / (1 - before)
    left = np.ones(800, dtype=bool)
    left[items] = False
    assert added[left].sum() == pytest.approx(40, abs=1e-9)
    # The first half of the top-up, in its random order, is a top-up of half the size.
    half = pooled(frame, carried, top, new.losses()[top.items[:20]], measure=new.measure())
    assert 1 - (1 - chances(half)) / (1 - before) == pytest.approx(added / 2, abs=1e-9)


def test_top_up_chances_are_frequencies() -> None:
    """A top-up of 30, 1,500 times: counts are within the distance that leaves 1e-6 over all items (6 sd)."""
    old, new = versions(150)
    items = campaign(old, budget=40).sample.items
    carried, frame = Carried(items, new.losses()[items], EqualChance(0.3)), frame_of(new)
    drawn = [draw_top_up(frame, carried, 30, seed=seed) for seed in range(1_500)]
    fit = pooled(frame, carried, drawn[0], new.losses()[drawn[0].items], measure=new.measure())
    chance = 1 - (1 - chances(fit)) / (1 - 0.3)
    chance[items] = 0
    counts = np.bincount(np.concatenate([one.items for one in drawn]), minlength=150)
    assert np.all(np.abs(counts / 1_500 - chance) <= 6 * np.sqrt(chance * (1 - chance) / 1_500) + 1e-9)


def test_all_items_labelled_is_exact() -> None:
    old, new = versions(200)
    found = simulate_reuse(campaign(old, budget=160), new, labels_unseen=True, top_up=0.25)
    assert found.labels == 200
    assert found.value == pytest.approx(1 - new.losses().mean(), abs=1e-12)


@pytest.mark.parametrize("spec", ["waves", "srs", "waves:objective=balanced"])
def test_intervals_cover(spec: str) -> None:
    """200 re-uses of 80 labels and 20 more; a coverage of .95 passes, one under .87 would be noticed."""
    old, new = versions(1_500)
    found = [
        simulate_reuse(campaign(old, spec, budget=80, seed=s), new, labels_unseen=True, seed=s) for s in range(200)
    ]
    assert_covers(sum(one.truth in one.interval for one in found if one.truth is not None), 200, least=0.93)


def test_numbers_can_be_re_used() -> None:
    old, new = prices()
    found = simulate_reuse(campaign(old), new, labels_unseen=True)
    assert found.metric == "1-mse"
    assert found.truth is not None
    # Five standard errors: what a log-normal interval of one in a million reaches.
    assert abs(found.value - found.truth) < 5 * found.standard_error


def test_nothing_is_claimed_for_a_version_that_may_have_seen_the_labels() -> None:
    old, new = versions()
    with pytest.raises(SampleError, match="trained or tuned"):
        simulate_reuse(campaign(old), new, labels_unseen=False)


@pytest.mark.parametrize("spec", ["srs:replace=yes", "css"])
def test_designs_whose_chances_do_not_carry_over(spec: str) -> None:
    old, new = versions()
    design = build_design(spec, None if spec.startswith("srs") else "confidence")
    labelled = play(Field.of(old, auxiliary=["confidence"]), design, budget=50, seed=1)
    with pytest.raises(SampleError, match="cannot be re-used"):
        simulate_reuse(labelled, new, labels_unseen=True)


def test_a_top_up_needs_items_without_a_label() -> None:
    old, new = versions(120)
    with pytest.raises(BudgetError, match="top-up of 100"):
        simulate_reuse(campaign(old, budget=100), new, labels_unseen=True, top_up=1.0)


def test_pools_are_matched_by_id() -> None:
    old, new = versions()
    expected = simulate_reuse(campaign(old), new, labels_unseen=True)
    turned = new.select(np.arange(len(new))[::-1])
    assert simulate_reuse(campaign(old), turned, labels_unseen=True, old_pool=old).value == expected.value
    with pytest.raises(PoolError, match="not the same items"):
        simulate_reuse(campaign(old), new.select(np.arange(700)), labels_unseen=True, old_pool=old)


def test_published_versions(published_data: Path) -> None:
    """100 re-uses of 200 labels of D for E: intervals hold; a coverage under .83 would be noticed."""
    old, new = (load(published_data / "subjects" / f"model_{name}.csv") for name in "DE")
    found = [simulate_reuse(campaign(old, budget=200, seed=s), new, labels_unseen=True, seed=s) for s in range(100)]
    assert_covers(sum(one.truth in one.interval for one in found if one.truth is not None), 100, least=0.93)
