"""DeepEST step by step: the chance that each item had, and when weights count."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy import designs
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import DeepEst
from fieldcheck.accuracy.designs.base import spec
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.testing import scattered

from .enumeration import step_chances

CHI = scattered(40)


def frame(values=CHI) -> Frame:
    return Frame(len(values), auxiliary={"confidence": values}, traits=derived.traits())


@pytest.mark.parametrize("weights", ["exceeding", "selected"])
@pytest.mark.parametrize(("threshold", "r"), [(0.3, 0.8), (0.9, 0.5), (0.99, 0.8), (0.0, 0.0)])
def test_every_step_has_the_chance_of_the_formula(weights, threshold: float, r: float) -> None:
    """To the end of the pool: the weights run out on the way, and then every step is uniform."""
    design = DeepEst(threshold=threshold, r=r, weights=weights)
    for seed in range(3):
        sample = design.draw(frame(), None, budget=40, seed=seed)
        items = sample.items.tolist()
        assert sorted(items) == list(range(40))
        naive = [
            step_chances(CHI, items[:k], r=r, threshold=threshold, weights=weights)[item]
            for k, item in enumerate(items)
        ]
        np.testing.assert_allclose(sample.draws.probability, naive, rtol=1e-9)


def test_without_weight_every_step_is_uniform_and_said_to_be() -> None:
    sample = DeepEst(threshold=2.0).draw(frame(), None, budget=40, seed=1)
    np.testing.assert_allclose(sample.draws.probability, 1 / np.arange(40, 0, -1))
    assert len(sample.warnings) == 1
    assert not DeepEst(threshold=0.5).draw(frame(), None, budget=4, seed=1).warnings


def test_weights_that_run_out_leave_uniform_steps() -> None:
    values = np.zeros(30)
    values[[3, 8]] = 0.9
    sample = DeepEst(r=0.99).draw(frame(values), None, budget=30, seed=2)
    gone = int(np.flatnonzero(np.isin(sample.items, [3, 8]))[-1])
    np.testing.assert_allclose(sample.draws.probability[gone + 1 :], 1 / np.arange(29 - gone, 0, -1))


def test_selected_wakes_only_after_an_exceeding_item() -> None:
    values = np.append(np.full(50, 0.2), 0.9)
    sample = DeepEst(weights="selected").draw(frame(values), None, budget=51, seed=3)
    woken = int(np.flatnonzero(sample.items == 50)[0])
    left = 1 / np.arange(51, 0, -1)
    np.testing.assert_allclose(sample.draws.probability[: woken + 1], left[: woken + 1])
    asleep = DeepEst(weights="selected", threshold=0.95).draw(frame(values), None, budget=51, seed=3)
    np.testing.assert_allclose(asleep.draws.probability, left)


def test_no_item_twice_in_a_large_pool() -> None:
    values = scattered(30_000)
    items = DeepEst(threshold=0.99).draw(frame(values), None, budget=2_000, seed=1).items
    assert len(np.unique(items)) == 2_000


def limit(auxiliary: str, values=CHI, *, task="classification", threshold=None) -> float:
    known = Frame(len(values), task, {auxiliary: values}, traits=derived.traits())
    return DeepEst(auxiliary, threshold=threshold).limit(known)[0]


def test_thresholds_by_themselves() -> None:
    assert limit("confidence") == limit("combined") == 0.3
    tail = CHI**4
    assert limit("lsa", tail) == pytest.approx(tail.mean() + tail.std())
    assert limit("dsa", tail) == limit("entropy", tail) == pytest.approx(tail.mean() + 2 * tail.std())


@pytest.mark.parametrize("auxiliary", ["confidence", "lsa", "dsa", "vae"])
def test_in_regression_every_item_weighs_its_value(auxiliary: str) -> None:
    assert limit(auxiliary, task="regression") == 0
    assert limit(auxiliary, task="regression", threshold=0.7) == 0.7
    sample = DeepEst(auxiliary).draw(Frame(40, "regression", {auxiliary: CHI}), None, budget=40, seed=5)
    naive = [
        step_chances(CHI, sample.items[:k].tolist(), r=0.8, threshold=0.0, weights="exceeding")[item]
        for k, item in enumerate(sample.items)
    ]
    np.testing.assert_allclose(sample.draws.probability, naive, rtol=1e-9)


def test_rules_by_name() -> None:
    wide = 1000 * CHI
    assert limit("confidence", wide, threshold="mean+sd") == pytest.approx(wide.mean() + wide.std())
    assert limit("confidence", wide, threshold="mean+2sd") == pytest.approx(wide.mean() + 2 * wide.std())
    assert limit("lsa", wide, threshold="mean+var") == pytest.approx(wide.mean() + wide.var())
    assert limit("lsa", wide, threshold="mean+var") > wide.max()
    made = designs.registry.build("deepest:threshold=mean+var", auxiliary="lsa")
    assert made == DeepEst("lsa", threshold="mean+var")
    assert spec(made) == "deepest:threshold=mean+var"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_unit_of_lsa_does_not_matter(scale: float) -> None:
    """The text's mean + variance switches the technique off in one unit and takes nearly everything in another."""

    def items(values) -> list[int]:
        return (
            DeepEst("lsa")
            .draw(Frame(40, auxiliary={"lsa": values}, traits=derived.traits()), None, budget=20, seed=3)
            .items.tolist()
        )

    assert items(CHI * scale) == items(CHI)


@pytest.mark.parametrize("auxiliary", ["lsa", "dsa"])
def test_a_computed_threshold_never_switches_the_technique_off(auxiliary: str) -> None:
    """Most items at the top: no value exceeds the mean by a deviation."""
    values = np.where(np.arange(40) < 10, 0.1, 0.9)
    sample = DeepEst(auxiliary).draw(
        Frame(40, auxiliary={auxiliary: values}, traits=derived.traits()), None, budget=10, seed=1
    )
    naive = [
        step_chances(values, sample.items[:k].tolist(), r=0.8, threshold=0.0, weights="exceeding")[item]
        for k, item in enumerate(sample.items)
    ]
    np.testing.assert_allclose(sample.draws.probability, naive, rtol=1e-9)
    assert "every item weighs its value" in sample.warnings[0]
    asked = DeepEst(auxiliary, threshold="mean+2sd").draw(
        Frame(40, auxiliary={auxiliary: values}, traits=derived.traits()), None, budget=10, seed=1
    )
    assert "every step is uniform" in asked.warnings[0]


@pytest.mark.parametrize(
    "wrong", [{"r": 1.0}, {"r": -0.1}, {"weights": "both"}, {"threshold": "high"}, {"threshold": np.nan}]
)
def test_wrong_parameters(wrong) -> None:
    with pytest.raises(DesignError):
        DeepEst(**wrong)


def test_chances_are_those_of_real_draws() -> None:
    """1,500 samples of 40 of 300: z of the counts has mean 0 and spread 1."""
    rng = np.random.default_rng(4)
    field = frame(rng.beta(1, 3, 300))
    design = DeepEst("confidence")
    expected = design.chances(field, 40)
    assert expected is not None
    assert expected.sum() == pytest.approx(40, abs=1e-9)
    count = np.zeros(300)
    for seed in range(1_500):
        count[design.draw(field, None, budget=40, seed=seed).items] += 1
    z = (count - 1_500 * expected) / np.sqrt(1_500 * expected * (1 - expected))
    assert abs(z.mean()) < 0.35
    assert 0.85 < z.std() < 1.35
    assert DeepEst("confidence", weights="selected").chances(field, 40) is None
