"""Which model is better: disagreements are found, drawn with known chances, and judged no sooner than allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck import Pool, load
from fieldcheck.accuracy.comparison.disagreements import ContestedItems, chances, draw
from fieldcheck.accuracy.comparison.simulate import simulate_comparison
from fieldcheck.core.errors import BudgetError, DesignError, PoolError
from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.testing.statistics import assert_covers, assert_unbiased

WORDS = np.array(["ant", "bee", "cat", "dog"])


def models(size: int = 600, *, skill: tuple[float, ...] = (0.8, 0.6), seed: int = 1) -> list[Pool]:
    """Classifiers with confidence; the share that each gets right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, size)
    pools = []
    for number, share in enumerate(skill):
        doubt = rng.beta(1, 3, size)
        wrong = rng.random(size) < np.clip((1 - share) * doubt / doubt.mean(), 0, 1)
        said = np.where(wrong, (truth + rng.integers(1, 4, size)) % 4, truth)
        pools.append(from_arrays(y_pred=WORDS[said], y_true=WORDS[truth], confidence=1 - doubt / 2, name=f"m{number}"))
    return pools


def level_models(size: int, seed: int) -> list[Pool]:
    """Two models that are equally good on the pool: every item comes twice, with the models exchanged."""
    first, second = models(size // 2, skill=(0.75, 0.7), seed=seed)
    both = [(first, second), (second, first)]
    return [
        from_arrays(
            y_pred=WORDS[np.concatenate([pool.predictions for pool in pools])],
            y_true=WORDS[np.concatenate([pool.target for pool in pools])],
            confidence=np.concatenate([pool.confidence for pool in pools]),
            name=f"level{number}",
        )
        for number, pools in enumerate(both)
    ]


def numbers(size: int = 500, seed: int = 2) -> list[Pool]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, size)
    return [
        from_arrays(y_pred=truth + rng.normal(0, error, size), y_true=truth, name=f"r{error}") for error in (0.3, 0.6)
    ]


def test_one_word_simulates_every_question() -> None:
    first, second = models()
    expected = simulate_comparison([first, second], budget=60, seed=3).to_dict()
    assert fc.simulate(first, against=second, budget=60, seed=3).to_dict() == expected
    assert fc.simulate(first, against=[second], budget=60, seed=3).to_dict() == expected
    until = fc.simulate(*models(2_000, skill=(0.95, 0.6))[:1], against=models(2_000, skill=(0.95, 0.6))[1], seed=1)
    assert (until.certify, until.decided) == (True, True)
    with pytest.raises(DesignError, match="together with other models"):
        fc.simulate(first, "srs", against=second, budget=60)  # type: ignore[call-overload]
    with pytest.raises(BudgetError, match="no budget"):
        fc.simulate(first)  # type: ignore[call-overload]


def true_difference(first: Pool, second: Pool) -> float:
    return float(second.losses().mean() - first.losses().mean())


@pytest.mark.parametrize("pools", [models(), numbers()], ids=["classes", "numbers"])
def test_all_disagreements_labelled_is_exact(pools: list[Pool]) -> None:
    found = simulate_comparison(pools, budget=len(pools[0])).differences[0]
    assert found.exact
    assert found.decided
    assert found.value == pytest.approx(true_difference(*pools), abs=1e-12)
    assert found.interval.low == found.interval.high == found.value
    assert found.winner == pools[0].name


def test_one_model_twice_needs_no_label() -> None:
    first = models()[0]
    found = simulate_comparison([first, first], certify=True)
    assert found.labels == found.contested == 0
    assert found.decided
    assert found.differences[0].winner is None
    assert "say the same" in found.sentence()


def test_order_and_coding_of_the_second_pool_do_not_matter() -> None:
    first, second = models()
    turned = second.select(np.arange(len(second))[::-1])
    code = np.array([2, 0, 3, 1], dtype=np.int32)
    renamed = replace(
        second,
        classes=tuple(WORDS[np.argsort(code)]),
        predictions=code[second.predictions],
        target=code[second.target],
    )
    expected = simulate_comparison([first, second], budget=60, seed=3).to_dict()
    assert simulate_comparison([first, turned], budget=60, seed=3).to_dict() == expected
    assert simulate_comparison([first, renamed], budget=60, seed=3).to_dict() == expected


def test_other_items_are_named() -> None:
    first, second = models()
    with pytest.raises(PoolError, match=r"2 only in 'm0' \('0', '1'\); 0 only in 'm1'"):
        simulate_comparison([first, second.select(np.arange(2, 600))], budget=50)


def test_two_truths_are_refused() -> None:
    first, second = models()
    agree = int(np.argmax(first.predictions == second.predictions))
    failed = second.failed.copy()
    failed[agree] = not failed[agree]
    with pytest.raises(PoolError, match="only one of them is right"):
        simulate_comparison([first, replace(second, failed=failed)], budget=50)


@pytest.mark.parametrize("bad", [1, 601])
def test_budgets_that_cannot_be_spent(bad: int) -> None:
    with pytest.raises(BudgetError):
        simulate_comparison(models(), budget=bad)


def test_tasks_and_missing_predictions_are_refused() -> None:
    first = models(500)[0]
    with pytest.raises(PoolError, match="regression"):
        simulate_comparison([first, numbers()[0]], budget=50)
    outcomes = from_arrays(outcome=["Pass", "Fail"] * 250)
    with pytest.raises(PoolError, match="no predictions"):
        simulate_comparison([first, outcomes], budget=50)


@pytest.mark.parametrize("first", [None, 20])
def test_labels_one_wave_at_a_time_give_the_same_items(first: int | None) -> None:
    contested = ContestedItems.of(models())
    truth = contested.true_losses()
    whole = draw(contested, truth, budget=90, seed=5, first=first)
    known = np.full_like(truth, np.nan)
    while not (part := draw(contested, known, budget=90, seed=5, first=first)).complete:
        assert np.array_equal(part.items, whole.items[: len(part.items)])
        known[:, part.items] = truth[:, part.items]
    assert np.array_equal(part.items, whole.items)
    assert len(set(whole.items.tolist())) == 90


def test_chances_are_frequencies() -> None:
    """One wave of 20, 2,000 times: every item's count is within the distance that leaves 1e-6 over all items."""
    contested = ContestedItems.of(models(150))
    nothing = np.zeros(len(contested.items), dtype=bool)
    drawn = [draw(contested, None, budget=20, seed=seed) for seed in range(2_000)]
    chance = chances(contested, drawn[0], 20, lost=nothing)
    assert chance.sum() == pytest.approx(20, abs=1e-9)
    counts = np.bincount(np.concatenate([one.items for one in drawn]), minlength=len(contested.items))
    # Normal approximation, 1e-6 shared by fewer than 100 items: 5.8 standard errors.
    assert np.all(np.abs(counts / 2_000 - chance) <= 5.8 * np.sqrt(chance * (1 - chance) / 2_000) + 1e-12)


@pytest.mark.parametrize("pools", [models(2_000), numbers(2_000)], ids=["classes", "numbers"])
def test_intervals_cover_and_the_estimate_has_no_bias_to_speak_of(pools: list[Pool]) -> None:
    """300 comparisons with 60 labels; a coverage of .95 passes, one under .88 would be noticed."""
    truth = true_difference(*pools)
    found = [simulate_comparison(pools, budget=60, seed=seed).differences[0] for seed in range(300)]
    assert_covers(sum(truth in one.interval for one in found), 300, least=0.93)
    assert_unbiased([one.value for one in found], truth)


def test_looking_after_every_wave_makes_few_false_claims() -> None:
    """Equal models, 200 comparisons, up to 8 looks: claims at 5 % pass, at 17 % (naive looks at 95 %) they do not."""
    claims, pools = 0, [level_models(1_200, seed) for seed in range(10)]
    for seed in range(200):
        found = simulate_comparison(pools[seed % 10], budget=150, certify=True, seed=seed).differences[0]
        assert found.truth == pytest.approx(0, abs=1e-12)
        claims += found.winner is not None
    assert_covers(200 - claims, 200, least=0.95)


def test_a_clear_difference_is_certified_early() -> None:
    found = simulate_comparison(models(2_000, skill=(0.95, 0.6)), certify=True, seed=1)
    assert found.decided
    assert found.labels < found.contested / 4
    assert found.differences[0].winner == "m0"


def test_three_models_share_their_labels() -> None:
    pools = models(800, skill=(0.9, 0.75, 0.6))
    found = simulate_comparison(pools, budget=150, seed=2)
    assert [(one.first, one.second) for one in found.differences] == [("m0", "m1"), ("m0", "m2"), ("m1", "m2")]
    assert found.labels == 150
    for one, (a, b) in zip(found.differences, [(0, 1), (0, 2), (1, 2)], strict=True):
        assert one.disagreements == int(np.sum(pools[a].predictions != pools[b].predictions))
        assert one.labels <= 150
        assert one.truth == pytest.approx(true_difference(pools[a], pools[b]), abs=1e-12)
    assert found.differences[1].interval.note.endswith("for all pairs together")
    whole = simulate_comparison(pools, budget=800)
    assert [one.value for one in whole.differences] == pytest.approx([one.truth for one in whole.differences])


def test_undecided_says_how_many_more() -> None:
    found = simulate_comparison(models(2_000, skill=(0.76, 0.75)), budget=40, seed=1).differences[0]
    assert found.winner is None
    assert not found.decided
    assert 0 < found.more <= found.disagreements - found.labels
    assert "Undecided" in found.sentence()
    assert "more labels" in found.sentence() or "have to be labelled" in found.sentence()


def test_what_is_not_said_is_said() -> None:
    text = str(simulate_comparison(models(), budget=50))
    assert "how accurate either model is" in text
    assert "on future data" in text
    assert "assumes" in text


def test_no_confidence_is_noticed() -> None:
    pools = [replace(pool, confidence=None) for pool in models()]
    assert any("no confidence" in text for text in simulate_comparison(pools, budget=50).warnings)


@pytest.mark.parametrize(("first", "second"), [("D", "E"), ("G", "H")])
def test_published_pairs(published_data: Path, first: str, second: str) -> None:
    """150 comparisons with 100 labels: one in eight of those that two random samples take for the same error.

    Thirteen and more is what is measured (benchmarks/results); a mean squared error of 150 exceeds 1.65 times its
    expectation with a chance of 1e-6 (chi-square), and 13 / 1.65 is eight.
    """
    pools = [load(published_data / "subjects" / f"model_{name}.csv") for name in (first, second)]
    truth = true_difference(*pools)
    found = [simulate_comparison(pools, budget=100, seed=seed).differences[0] for seed in range(150)]
    error = np.mean([(one.value - truth) ** 2 for one in found])
    spread = sum(float(pool.losses().var()) for pool in pools)
    same = 2 / (error / spread + 1 / len(pools[0]))
    assert same / 100 > 13 / 1.65
