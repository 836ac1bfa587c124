"""GBS: where it goes next, in batches, with labels that are still missing, and when strata run empty."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy.designs import Gbs
from fieldcheck.core.pool.frame import Frame
from fieldcheck.testing import assert_frequencies, scattered

LEVELS = np.repeat([0.0, 0.5, 1.0], [10, 20, 30])
"""Three strata of 10, 20 and 30 items."""


def frame(values=LEVELS, task="classification") -> Frame:
    return Frame(len(values), task, {"confidence": values})


def variance(seen, task, everything) -> float:
    """v_p of the definition: smoothed while all labels agree; in regression the overall spread is one observation."""
    n, total = len(seen), sum(seen)
    if task == "classification":
        rate = total / n if 0 < total < n else (total + 1) / (n + 2)
        return rate * (1 - rate)
    overall = np.var(everything, ddof=1) if len(everything) > 1 else 0.0
    return (overall + n * np.var(seen)) / n


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("replace", [False, True])
def test_always_the_steepest_stratum(task, replace: bool) -> None:
    losses = np.where(scattered(60, step=613) < 0.3, 1.0, 0.0)
    losses = losses if task == "classification" else scattered(60, step=91) ** 3
    sample = Gbs(k=3, replace=replace).draw(frame(task=task), losses, budget=50, seed=1)
    stratum = sample.draws.stratum.tolist()
    sizes = [10, 20, 30]
    assert sorted(stratum[:3]) == [0, 1, 2]
    for step in range(3, 50):
        everything = losses[sample.items[:step]]
        seen = [[y for y, p in zip(everything, stratum[:step], strict=True) if p == q] for q in range(3)]
        steep = [
            size**2 * variance(ys, task, everything) / len(ys) ** 2 if replace or len(ys) < size else -1.0
            for size, ys in zip(sizes, seen, strict=True)
        ]
        assert steep[stratum[step]] == pytest.approx(max(steep), rel=1e-9)


def test_ties_are_broken_at_random() -> None:
    values = np.repeat([0.0, 0.5, 1.0, 1.5], 5)
    picks = [Gbs(k=4).draw(frame(values), np.zeros(20), budget=5, seed=s).draws.stratum[4] for s in range(2000)]
    assert_frequencies(np.bincount(np.array(picks, dtype=int), minlength=4), np.ones(4))


def test_the_first_round_is_in_random_order() -> None:
    firsts = [Gbs(k=3).draw(frame(), None, budget=9, seed=seed).draws.stratum[0] for seed in range(2000)]
    assert_frequencies(np.bincount(np.array(firsts, dtype=int), minlength=3), np.ones(3))


def test_without_labels_it_hands_out_one_of_each_stratum() -> None:
    sample = Gbs(k=3).draw(frame(), None, budget=20, seed=1)
    assert not sample.complete
    assert sorted(sample.draws.stratum.tolist()) == [0, 1, 2]


def test_a_batch_waits_for_all_its_labels() -> None:
    losses = (scattered(60) < 0.4).astype(float)
    design = Gbs(k=3, batch=4)
    whole = design.draw(frame(), losses, budget=20, seed=1)
    known = np.full(60, np.nan)
    lengths = []
    for item in whole.items.tolist():
        part = design.draw(frame(), known, budget=20, seed=1)
        assert part.items.tolist() == whole.items.tolist()[: len(part)]
        lengths.append(len(part))
        known[item] = losses[item]
    assert sorted(set(lengths)) == [3, 7, 11, 15, 19, 20]


def test_a_gap_in_the_labels_gives_a_prefix() -> None:
    losses = (scattered(60) < 0.4).astype(float)
    whole = Gbs(k=3).draw(frame(), losses, budget=30, seed=1)
    gap = losses.copy()
    gap[whole.items[10]] = np.nan
    part = Gbs(k=3).draw(frame(), gap, budget=30, seed=1)
    assert not part.complete
    assert part.items.tolist() == whole.items[:11].tolist()


def test_a_batch_spreads_over_strata() -> None:
    """Nothing is learnt within a batch, but what was handed out counts: N²v/n² with n growing."""
    sample = Gbs(k=3, batch=100).draw(frame(), np.zeros(60), budget=33, seed=1)
    counts = np.bincount(sample.draws.stratum, minlength=3)
    assert counts.tolist() == pytest.approx([5.5, 11, 16.5], abs=1)


@pytest.mark.parametrize("batch", [1, 7, 1000])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_exhausted_strata_are_left(task, batch: int) -> None:
    """To the last item, also when nothing fails and nothing tells strata apart."""
    for losses in (np.zeros(60), np.ones(60), scattered(60)):
        found = (losses > 0).astype(float) if task == "classification" else losses
        sample = Gbs(k=3, batch=batch).draw(frame(task=task), found, budget=60, seed=1)
        assert sorted(sample.items.tolist()) == list(range(60))


def test_fewer_labels_than_strata() -> None:
    sample = Gbs(k=10).draw(frame(scattered(60)), np.zeros(60), budget=4, seed=1)
    assert sorted(sample.draws.stratum.tolist()) == [0, 1, 2, 3]
    assert len(sample.draws.sizes) == 4


def test_with_replacement_items_may_repeat() -> None:
    values = np.array([0.0, 0.0, 1.0, 1.0])
    sample = Gbs(k=2, replace=True).draw(frame(values), np.zeros(4), budget=4, seed=0)
    repeated = [Gbs(k=2, replace=True).draw(frame(values), np.zeros(4), budget=4, seed=s).to_label() for s in range(50)]
    assert len(sample) == 4
    assert min(len(items) for items in repeated) < 4


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_items_that_nobody_could_label_are_passed_over(task) -> None:
    """A stratum whose labels never come is not drawn from for ever, nor never again."""
    losses = np.where(scattered(60, step=613) < 0.3, 1.0, 0.0) if task == "classification" else scattered(60, step=91)
    losses = np.where(scattered(60, step=47) < 0.3, np.inf, losses)
    sample = Gbs(k=3).draw(frame(task=task), losses, budget=40, seed=1)
    assert sample.complete
    assert len(sample) == 40
    assert len(set(sample.draws.stratum[3:].tolist())) == 3
    lost = Gbs(k=3).draw(frame(task=task), np.full(60, np.inf), budget=20, seed=1)
    assert len(lost) == 20
