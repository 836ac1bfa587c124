"""Adaptive waves: every path of a campaign on six items, what labels may and may not change, and how well it does."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import Waves
from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.numerics.intervals.exact import hypergeometric
from fieldcheck.numerics.regression.believed import SettledWave
from fieldcheck.numerics.regression.priors import facts_of, model_of
from fieldcheck.numerics.regression.risk import RiskModel
from fieldcheck.numerics.sampling.draws import permutation, uniforms
from fieldcheck.numerics.sampling.floor import protecting_floor
from fieldcheck.numerics.sampling.inclusion import ArrayStretch, settled
from fieldcheck.testing import assert_frequencies, assert_unbiased, check_design

OBJECTIVES = ("estimate", "balanced", "expose", "protected")
VARIANTS = ("waves:first=20,objective=balanced", "waves:objective=expose,certain=1,floor=0.01")


@pytest.mark.parametrize("spec", VARIANTS)
def test_conformance(spec: str) -> None:
    check_design(designs.registry.build(spec))


@pytest.mark.parametrize(
    "wrong", [{"floor": 0.0}, {"floor": 1.1}, {"certain": -0.1}, {"first": 1}, {"objective": "find"}]
)
def test_parameters_out_of_range(wrong: dict) -> None:
    with pytest.raises(DesignError):
        Waves(**wrong)


# Every path of a campaign of 2 + 1 + 1 labels on six items.

CHI = np.array([0.35, 0.0, 0.9, 0.1, 0.35, 0.1])
"""A zero, ties, and not in order."""

BINARY = {
    "some fail": [1.0, 0, 1, 0, 1, 1],
    "the confident one fails": [0.0, 1, 0, 0, 0, 0],
    "the suspicious one fails": [0.0, 0, 1, 0, 0, 0],
    "none fails": [0.0] * 6,
    "all fail": [1.0] * 6,
}
REAL = {"squared errors": [0.7, 0.0, 2.25, 0.04, 1.1, 5.0], "in another unit": [7e5, 0.0, 2e6, 4e4, 1e6, 5e6]}


def six(task: str) -> Frame:
    classes = task == "classification"
    names, kind = (("confidence", "dsa"), np.int8) if classes else (("lsa", "vae"), np.float64)
    return Frame(6, task, dict.fromkeys(names, CHI), predictions=np.array([0, 1, 0, 2, 1, 0], dtype=kind))  # type: ignore[arg-type]


def pivotal_samples(inclusion: list[float]) -> dict[tuple[int, ...], float]:
    """Every possible sample with its chance, by the duels of Deville and Tillé between each survivor and the next."""
    states = {(0, inclusion[0], ()): 1.0}
    for rival, strength in enumerate(inclusion[1:], start=1):
        after: dict[tuple[int, float, tuple[int, ...]], float] = defaultdict(float)
        for (survivor, own, drawn), chance in states.items():
            both = own + strength
            if both < 1:
                after[survivor, both, drawn] += chance * own / both
                after[rival, both, drawn] += chance * strength / both
            else:
                wins = (1 - strength) / (2 - both)
                after[rival, both - 1, (*drawn, survivor)] += chance * wins
                after[survivor, both - 1, (*drawn, rival)] += chance * (1 - wins)
        states = after
    samples: dict[tuple[int, ...], float] = defaultdict(float)
    for (survivor, own, drawn), chance in states.items():
        samples[tuple(sorted((*drawn, survivor) if round(own) else drawn))] += chance
    return samples


Path = tuple[float, list[np.ndarray], list[SettledWave]]


def paths(design: Waves, model: RiskModel, losses: np.ndarray, sizes: list[int]) -> Iterator[Path]:
    """Chance, items and beliefs of every sequence of waves."""

    def go(chance: float, waves: list[np.ndarray], past: list[SettledWave], missed: np.ndarray) -> Iterator[Path]:
        if len(waves) == len(sizes):
            yield chance, waves, past
            return
        before = np.concatenate([np.zeros(0, dtype=np.int64), *waves])
        belief, count = model.fit(before, losses[before]), sizes[len(waves)]
        expected, drawn = model.expected(belief), np.isin(np.arange(len(losses)), before)
        floor = floor_of(design, model, expected, missed=missed, drawn=drawn, count=count)
        kind = design.objective
        items = ArrayStretch.of(expected, model.spread(expected), drawn)
        chances = settled(items, count, objective=kind, floor=floor, certain=design.certain)
        inclusion = chances.of(expected, model.spread(expected))
        for share, wave in next_waves(expected, inclusion, drawn):
            further = [*waves, wave], [*past, SettledWave(belief, chances)]
            yield from go(chance * share, *further, missed * (1 - inclusion))

    yield from go(1.0, [], [], np.ones(len(losses)))


def floor_of(
    design: Waves, model: RiskModel, expected: np.ndarray, *, missed: np.ndarray, drawn: np.ndarray, count: int
) -> float:
    """By the rules: of an open campaign, as many labels again as there will be after this wave are to come."""
    if model.family == "gamma":
        return 0.1
    budget = 2 * (int(drawn.sum()) + count)
    left = min(budget - int(drawn.sum()), int((~drawn).sum()))
    if design.objective == "protected":
        return protecting_floor(expected, missed, drawn, count=left, budget=budget)
    return min(max(0.05 + expected.mean(), 0.1), 0.25) if design.objective == "estimate" else 0.25


def next_waves(expected: np.ndarray, chances: np.ndarray, drawn: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    sure = np.flatnonzero(~drawn & (chances >= 1))
    rest = np.flatnonzero(~drawn & (chances < 1))
    rest = rest[np.argsort(expected[rest], kind="stable")]
    for places, share in pivotal_samples(chances[rest].tolist()).items():
        yield share, np.concatenate([sure, rest[list(places)]]).astype(np.int64)


def all_paths(objective: str, task: str, losses: np.ndarray) -> tuple[Waves, Frame, list[Path]]:
    design, frame = Waves(objective=objective, first=2), six(task)  # type: ignore[arg-type]
    model = model_of(frame)
    return design, frame, list(paths(design, model, losses, [2, 1, 1]))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    ("task", "losses"),
    [*(("classification", y) for y in BINARY.values()), *(("regression", y) for y in REAL.values())],
    ids=[*BINARY, *REAL],
)
def test_the_audit_form_is_right_on_average_over_all_paths(objective: str, task: str, losses: list[float]) -> None:
    y = np.array(losses)
    design, frame, found = all_paths(objective, task, y)
    assert math.fsum(chance for chance, *_ in found) == pytest.approx(1, abs=1e-12)
    expectation = math.fsum(
        chance * estimate_of(design._sample(frame, waves, past, complete=True), y).audit
        for chance, waves, past in found
    )
    assert expectation == pytest.approx(y.mean(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("objective", ["estimate", "expose", "protected"])
def test_draws_take_each_path_as_often_as_its_chance_says(objective: str) -> None:
    """Chi-square over 800 seeds, false alarm 1e-6; the beliefs that are recorded are those of the path."""
    y = np.array(BINARY["some fail"])
    design, frame, found = all_paths(objective, "classification", y)
    chances = {tuple(tuple(sorted(wave.tolist())) for wave in waves): chance for chance, waves, *_ in found}
    facts = facts_of(model_of(frame))
    recorded = {
        tuple(tuple(sorted(wave.tolist())) for wave in waves): design._sample(
            frame, waves, past, complete=True, facts=facts
        )
        for _, waves, past in found
    }
    counts: Counter[tuple] = Counter()
    for seed in range(800):
        sample = design.draw(frame, y, budget=4, seed=seed)
        path = tuple(tuple(sorted(wave.tolist())) for wave in np.split(sample.items, [2, 3]))
        counts[path] += 1
        whole, expected = sample.draws.as_record(), recorded[path].draws.as_record()
        assert {**whole, "wave": None} == {**expected, "wave": None}
    assert_frequencies([counts[path] for path in chances], list(chances.values()))


# What labels may and may not change.


def estimate_of(sample: Sample, losses: np.ndarray) -> MeanLoss:
    drawn = losses[sample.items]
    assert sample.frame is not None
    return estimators.estimate(Labelled(sample, drawn, drawn > 0, sample.frame.task))


@cache
def pool(task: str = "classification", size: int = 3000) -> tuple[Frame, np.ndarray]:
    """Doubts that tell something, not everything: 13 % fail, a fiftieth of those that look safe too."""
    doubt = uniforms(stream(0, "doubt"), size) ** 5
    failed = uniforms(stream(0, "failed"), size) < 0.02 + 0.6 * doubt
    error = (0.05 + doubt) * (0.2 + 3 * uniforms(stream(0, "error"), size)) ** 2
    name = "confidence" if task == "classification" else "lsa"
    noisy = doubt + 0.2 * uniforms(stream(0, "noise"), size)
    predictions = np.arange(size) % 4 if task == "classification" else uniforms(stream(0, "value"), size)
    frame = Frame(size, task, {name: doubt, "dsa": noisy}, predictions=predictions, traits=derived.traits())  # type: ignore[arg-type]
    return frame, failed.astype(np.float64) if task == "classification" else error


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_open_campaign_does_not_depend_on_its_budget(objective: str) -> None:
    frame, losses = pool()
    design = Waves(first=20, objective=objective)  # type: ignore[arg-type]
    longest = design.draw(frame, losses, budget=120, seed=4)
    ends = np.cumsum(longest.draws.sizes)
    for end in ends[:-1].tolist():
        shorter = design.draw(frame, losses, budget=end, seed=4)
        np.testing.assert_array_equal(shorter.items, longest.items[:end])
        assert estimate_of(shorter, losses) == estimate_of(longest.prefix(end), losses)


def test_a_wave_waits_for_all_labels_of_the_one_before() -> None:
    frame, losses = pool()
    known = np.full(len(losses), np.nan)
    first = Waves().draw(frame, None, budget=50, seed=1)
    assert (len(first), first.complete) == (20, False)
    known[first.items[:-1]] = losses[first.items[:-1]]
    waiting = Waves().draw(frame, known, budget=50, seed=1)
    assert (waiting.items.tolist(), waiting.complete) == (first.items.tolist(), False)
    known[first.items[-1]] = losses[first.items[-1]]
    whole = Waves().draw(frame, known, budget=50, seed=1)
    assert (whole.items[:20].tolist(), len(whole), whole.complete) == (first.items.tolist(), 50, True)


def test_an_item_that_nobody_can_label_is_left_behind() -> None:
    """The next wave is that of the other labels, and never draws the item again."""
    frame, losses = pool()
    first = Waves().draw(frame, None, budget=50, seed=1)
    known = losses.copy()
    known[first.items[[0, 7]]] = np.inf
    whole = Waves().draw(frame, known, budget=50, seed=1)
    assert whole.complete
    assert len(np.unique(whole.items)) == 50
    others = np.delete(first.items, [0, 7])
    model = model_of(frame)
    np.testing.assert_array_equal(whole.draws.beliefs[1], model.fit(others, losses[others]).as_row())


def test_a_wave_that_is_lost_altogether_teaches_nothing() -> None:
    frame, losses = pool()
    first = Waves().draw(frame, None, budget=50, seed=1)
    known = losses.copy()
    known[first.items] = np.inf
    whole = Waves().draw(frame, known, budget=50, seed=1)
    np.testing.assert_array_equal(whole.draws.beliefs[1], whole.draws.beliefs[0])
    found = estimate_of(whole.without(np.isinf(known[whole.items])), losses)
    assert 0 < found.value < 1


def test_labels_of_other_items_change_nothing() -> None:
    frame, losses = pool()
    sample = Waves().draw(frame, losses, budget=100, seed=2)
    other = 1 - losses
    other[sample.items] = losses[sample.items]
    np.testing.assert_array_equal(Waves().draw(frame, other, budget=100, seed=2).items, sample.items)


def test_the_record_of_a_wave_is_small() -> None:
    """A handful of coefficients, not one number per item."""
    frame, losses = pool()
    sample = Waves().draw(frame, losses, budget=200, seed=0)
    assert sum(len(belief) for belief in sample.draws.beliefs) < 120


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("size", [2, 3, 5, 21, 60])
def test_labelling_everything_leaves_no_error(objective: str, task: str, size: int) -> None:
    frame, losses = pool(task, size)
    found = estimate_of(Waves(objective=objective).draw(frame, losses, budget=size, seed=0), losses)  # type: ignore[arg-type]
    assert found.value == pytest.approx(losses.mean(), abs=1e-12)
    assert found.audit == pytest.approx(losses.mean(), abs=1e-12)
    assert found.variance == pytest.approx(0, abs=1e-12)
    assert found.beside is not None
    assert found.interval.width == found.beside.width == 0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("loss", [0.0, 1.0])
def test_labels_that_all_agree(objective: str, loss: float) -> None:
    """The estimate agrees, too, and both intervals leave something of the other outcome."""
    frame, _ = pool()
    losses = np.full(frame.size, loss)
    for seed in range(10):
        found = estimate_of(Waves(objective=objective).draw(frame, losses, budget=60, seed=seed), losses)  # type: ignore[arg-type]
        assert found.value == loss
        assert found.beside is not None
        for one in (found.interval, found.beside):
            assert loss in one
            assert one.width > 1 / 60 / 2


def test_without_failures_the_protected_interval_is_narrower_than_that_of_a_random_sample() -> None:
    frame, _ = pool()
    losses = np.zeros(frame.size)
    for budget in (20, 50, 100, 300):
        found = estimate_of(Waves(objective="protected").draw(frame, losses, budget=budget, seed=1), losses)
        assert found.interval.method == "protected"
        assert found.interval.high <= hypergeometric(0, budget, frame.size, level=0.95)[1]


def test_no_errors_in_a_regression() -> None:
    frame, losses = pool("regression")
    for seed in range(10):
        found = estimate_of(Waves().draw(frame, 0 * losses, budget=60, seed=seed), 0 * losses)
        assert found.value == pytest.approx(0, abs=1e-12)
        assert 0 in found.interval


# How well it does.


@cache
def campaigns(task: str, objective: str) -> list[MeanLoss]:
    frame, losses = pool(task)
    design = Waves(objective=objective)  # type: ignore[arg-type]
    return [estimate_of(design.draw(frame, losses, budget=100, seed=seed), losses) for seed in range(400)]


def srs_error(losses: np.ndarray, budget: int) -> float:
    """Root mean squared error of the mean of a simple random sample, exactly."""
    return math.sqrt(losses.var(ddof=1) / budget * (1 - budget / len(losses)))


def assert_error_at_most(errors: np.ndarray, limit: float, *, alarm: float = 1e-6) -> None:
    """Fails for normal errors of that root mean square with probability ``alarm``: for 400 of them, 17 % above it."""
    from scipy.stats import chi2

    ratio = float((errors**2).sum()) / limit**2
    assert ratio <= chi2.isf(alarm, len(errors)), f"RMSE is {math.sqrt(ratio / len(errors)):.3f} of its limit"


@pytest.mark.parametrize(
    ("task", "objective"), [("classification", "estimate"), ("classification", "expose"), ("regression", "estimate")]
)
def test_the_audit_form_is_unbiased(task: str, objective: str) -> None:
    """With 400 campaigns a bias over a quarter of the standard deviation of the estimate would be noticed."""
    assert_unbiased([found.audit for found in campaigns(task, objective)], pool(task)[1].mean())


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_pooled_estimate_is_hardly_biased_and_better_than_srs(task: str) -> None:
    """Measured: a bias of .08 and .05 of the error of SRS, an RMSE of .81 (classification), .53 (regression) of it."""
    losses = pool(task)[1]
    errors = np.array([found.value for found in campaigns(task, "estimate")]) - losses.mean()
    srs = srs_error(losses, 100)
    noise = 4.9 * errors.std(ddof=1) / math.sqrt(len(errors))  # two-sided alarm 1e-6
    assert abs(errors.mean()) <= 0.15 * srs + noise
    assert_error_at_most(errors, 0.9 * srs)


def test_the_audit_form_is_not_much_worse() -> None:
    """Measured: .84 (classification) and .57 (regression) of the error of SRS."""
    for task in ("classification", "regression"):
        losses = pool(task)[1]
        errors = np.array([found.audit for found in campaigns(task, "estimate")]) - losses.mean()
        assert_error_at_most(errors, 0.9 * srs_error(losses, 100))


def test_exposing_finds_more_failures() -> None:
    """SRS finds 12.5 in 100 labels. Measured: 17.5, 26 and 47, with standard errors of .6, 1.0 and .4."""
    frame, losses = pool()
    found = [
        np.mean([losses[Waves(objective=name).draw(frame, losses, budget=100, seed=s).items].sum() for s in range(20)])  # type: ignore[arg-type]
        for name in OBJECTIVES
    ]
    assert losses.mean() * 100 < found[0] < found[1] < found[2]


def test_without_any_auxiliary_it_is_the_mean_of_its_labels() -> None:
    """All chances are n/N, so that the model's prediction cancels: exactly a simple random sample, spread by position.

    That of the wave t is n_t/(N - n_1 - ... - n_{t-1}) for every item, and the product of the complements telescopes.
    """
    losses = pool()[1]
    frame = Frame(len(losses))
    for seed in range(20):
        sample = Waves().draw(frame, losses, budget=200, seed=seed)
        found = estimate_of(sample, losses)
        assert found.value == pytest.approx(losses[sample.items].mean(), abs=1e-12)
        assert found.audit == pytest.approx(losses[sample.items].mean(), abs=0.02)


def test_without_any_auxiliary_it_is_no_worse_than_srs() -> None:
    """With 4 predicted classes, whose effects are fitted from 80 labels on, though they mean nothing here."""
    losses = pool()[1]
    frame = Frame(len(losses), predictions=np.arange(len(losses)) % 4)
    errors = np.array(
        [estimate_of(Waves().draw(frame, losses, budget=100, seed=seed), losses).value for seed in range(400)]
    )
    assert_error_at_most(errors - losses.mean(), 1.05 * srs_error(losses, 100))


def test_useless_auxiliaries_cost_a_fifth_at_most() -> None:
    """Measured: 1.10 of the error of SRS."""
    frame, losses = pool()
    shuffled = losses[permutation(stream(0, "shuffled"), len(losses))]
    errors = np.array(
        [estimate_of(Waves().draw(frame, shuffled, budget=100, seed=seed), shuffled).value for seed in range(400)]
    )
    assert_error_at_most(errors - losses.mean(), 1.2 * srs_error(losses, 100))


def test_going_on_from_the_last_draw_is_drawing_anew() -> None:
    """What a frame remembers is never seen: not by other seeds, nor by labels that were corrected since."""
    rng = np.random.default_rng(5)
    confidence = rng.uniform(0.3, 1, 400)
    truth = (rng.random(400) > confidence).astype(float)
    corrected = 1 - truth

    def frame() -> Frame:
        return Frame(400, auxiliary={"confidence": 1 - confidence}, traits=derived.traits())

    def drawn(on: Frame, seed: int, losses: np.ndarray, waves: int) -> np.ndarray:
        known = np.full(400, np.nan)
        for _ in range(waves):
            items = Waves().draw(on, known, budget=150, seed=seed).items
            known[items] = losses[items]
        return items

    kept = frame()
    for seed, losses, waves in [(1, truth, 2), (1, truth, 3), (2, truth, 3), (1, corrected, 3), (1, truth, 2)]:
        assert drawn(kept, seed, losses, waves).tolist() == drawn(frame(), seed, losses, waves).tolist()
