"""Slices: exact where the sample is simple, right on average for waves, and silent where labels are few."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fieldcheck as fc
from fieldcheck.accuracy.assessment.cutting import cut
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.assessment.slices import DRAWN, FEWEST, WIDEST, Slice, Slices, slices
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.interval import Interval
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.numerics.intervals.exact import hypergeometric

from ..said import of_all

RNG = np.random.default_rng(21)
SIZE = 3_000
CONFIDENCE = RNG.beta(6, 1, SIZE)
CLASS = RNG.choice(["ant", "bee", "cow"], SIZE, p=[0.6, 0.38, 0.02])
FAILED = RNG.random(SIZE) > CONFIDENCE
POOL = fc.from_arrays(
    y_pred=CLASS,
    y_true=np.where(FAILED, "dog", CLASS),
    confidence=CONFIDENCE,
    metadata={
        "site": np.where(RNG.random(SIZE) < 0.5, "north", "south"),
        "age": RNG.normal(40, 10, SIZE),
        "floor": RNG.integers(0, 3, SIZE),
        "gaps": np.where(RNG.random(SIZE) < 0.5, np.nan, 1.5),
        "name": [f"n{at}" for at in range(SIZE)],
    },
)
FIELD = Field.of(POOL, auxiliary=["confidence"])


def srs_sample(items: tuple[int, ...], failed: list[bool], population: int) -> Labelled:
    at = np.array(items)
    wrong = np.array(failed)[at]
    sample = Sample(population, at, "mean", EqualDraws(replacement=False))
    return Labelled(sample, wrong.astype(float), wrong)


def test_every_simple_sample_of_a_tiny_pool_covers_each_slice_as_often_as_it_must() -> None:
    """All 3,003 samples of 10 of 15 items: given its number of labels, the interval of a slice is exact."""
    said = ["a"] * 10 + ["b"] * 5
    failed = [True, True, False, False, False, False, False, False, False, False, True, False, False, False, False]
    pool = fc.from_arrays(y_pred=said, outcome=["Fail" if one else "Pass" for one in failed])
    hits: dict[tuple[str, int], list[bool]] = {}
    for items in itertools.combinations(range(15), 10):
        rows = {row.name: row for row in slices(srs_sample(items, failed, 15), pool, level=0.8).rows}
        inside = [item for item in items if item < 10]
        low, high = hypergeometric(sum(failed[item] for item in inside), len(inside), 10, level=0.8)
        hits.setdefault(("a", len(inside)), []).append(low <= 0.2 <= high)
        if rows["a"].interval is not None:
            assert (rows["a"].interval.low, rows["a"].interval.high) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    assert all(np.mean(inside) >= 0.8 for inside in hits.values())


def test_a_slice_that_is_labelled_in_full_is_known_exactly() -> None:
    labelled = play(FIELD, fc.designs.Waves(), budget=SIZE, seed=0)
    for row in slices(labelled, POOL, "site").rows:
        site = np.array(POOL.column("site").to_pylist()) == row.name
        assert row.value == pytest.approx(1 - FAILED[site].mean(), abs=1e-12)
        assert row.interval is not None
        assert row.interval.width == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("design", [fc.designs.Waves(), fc.designs.Srs()])
def test_slices_add_up_to_the_pool(design: fc.Design) -> None:
    labelled = play(FIELD, design, budget=300, seed=3)
    found = slices(labelled, POOL, "prediction")
    assert sum(row.items for row in found.rows) == SIZE
    assert sum(row.labels for row in found.rows) == 300
    assert sum(row.failures for row in found.rows) == labelled.failures


def test_waves_slices_weigh_to_the_overall_estimate() -> None:
    """Two large slices, both shown: ``Σ N_c/N`` of their values is the difference estimate of the pool.

    The estimate of the whole pool is calibrated now, and no longer that sum itself: it is near it.
    """
    labelled = play(FIELD, fc.designs.Waves(), budget=300, seed=3)
    rows = slices(labelled, POOL, "site").rows
    total = sum(row.items * (row.value or np.nan) for row in rows) / SIZE
    found, items = fc.estimators.estimate(labelled), labelled.sample.items
    assert found.items is not None
    said = of_all(found.items)
    correction = ((labelled.losses - said.expected[items]) / said.chance[items]).sum()
    assert total == pytest.approx(1 - (said.expected.sum() + correction) / SIZE, abs=1e-12)
    assert total == pytest.approx(1 - found.value, abs=0.1 * np.sqrt(found.variance))


@pytest.mark.parametrize("design", [fc.designs.Waves(), fc.designs.Srs()])
def test_what_is_shown_has_labels_and_a_narrow_interval(design: fc.Design) -> None:
    for seed in range(5):
        for row in slices(play(FIELD, design, budget=150, seed=seed), POOL, "prediction").rows:
            if row.interval is None:
                assert row.value is None
                assert 0 < row.more <= row.items - row.labels
            else:
                assert row.labels >= FEWEST
                assert row.interval.width / 2 <= WIDEST
                assert row.more == 0


def test_the_number_of_further_labels_would_do() -> None:
    """A rare class gets about as many more labels as it is said to need; then it is shown."""
    few = slices(play(FIELD, fc.designs.Srs(), budget=200, seed=0), POOL, "prediction")
    cow = next(row for row in few.rows if row.name == "cow")
    assert cow.interval is None
    members = np.flatnonzero(CLASS == "cow")[: cow.labels + 2 * cow.more]
    alone = srs_sample(tuple(range(len(members))), FAILED[members].tolist(), 60)
    pool = fc.from_arrays(y_pred=["cow"] * 60, task="classification")
    assert slices(alone, pool, "prediction").rows[0].interval is not None


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("prediction", {"ant", "bee", "cow"}),
        ("Site", {"north", "south"}),
        ("floor", {"0", "1", "2"}),
        ("gaps", {"(missing)", "up to 1.5"}),
    ],
)
def test_columns_become_slices(by: str, names: set[str]) -> None:
    assert set(cut(POOL, by).names) == names


@pytest.mark.parametrize("by", ["age", "confidence"])
def test_numbers_are_cut_at_quartiles(by: str) -> None:
    assert cut(POOL, by).sizes.tolist() == pytest.approx([SIZE / 4] * 4, abs=1)
    assert "quartiles" in cut(POOL, by).note


@given(st.lists(st.one_of(st.floats(), st.integers(0, 3).map(float)), min_size=1, max_size=60))
@settings(max_examples=60)
def test_every_number_is_in_one_slice(values: list[float]) -> None:
    pool = fc.from_arrays(y_pred=["a"] * len(values), metadata={"x": np.array(values)})
    found = cut(pool, "x")
    assert found.sizes.sum() == len(values)
    assert (found.sizes > 0).all()


def test_a_column_that_is_not_there_or_names_items_is_refused() -> None:
    with pytest.raises(fc.PoolError, match="no column 'sites'"):
        cut(POOL, "sites")
    with pytest.raises(fc.PoolError, match="different values"):
        cut(POOL, "name")


@pytest.mark.parametrize("spec", ["ssrs", "sups", "deepest"])
def test_other_techniques_are_refused(spec: str) -> None:
    labelled = play(FIELD, fc.designs.registry.build(spec), budget=60, seed=0)
    with pytest.raises(fc.SampleError, match="no slices"):
        slices(labelled, POOL)


def test_words_about_many_slices_and_few_labels() -> None:
    notes = " ".join(slices(play(FIELD, fc.designs.Waves(), budget=150, seed=0), POOL, "prediction").notes)
    assert "expected to miss" in notes
    assert "too few labels" in notes
    assert "this pool" in notes


def test_regression_slices_are_errors() -> None:
    predicted = RNG.normal(0, 2, 800)
    spread = RNG.random(800)
    side = np.where(RNG.random(800) < 0.5, "left", "right")
    true = predicted + RNG.normal(0, 0.2 + spread)
    pool = fc.from_arrays(y_pred=predicted, y_true=true, auxiliary={"lsa": spread}, metadata={"side": side})
    field = Field.of(pool, auxiliary=["lsa"])
    for design in (fc.designs.Waves(), fc.designs.Srs()):
        found = slices(play(field, design, budget=300, seed=1), pool, "side", loss="squared")
        assert found.metric == "1-mse"
        for row in found.rows:
            assert row.interval is not None
            assert row.value == pytest.approx(1 - np.mean((true - predicted)[side == row.name] ** 2), abs=0.15)


def test_waves_slices_cover() -> None:
    """200 campaigns: shown intervals miss at most as often as 8 % would with probability 1e-6; notices coverage < .86.

    Slices of one campaign share its fit, so campaigns, not slices, are counted: each contributes the share it covers.
    """
    truth = {name: 1 - FAILED[name == CLASS].mean() for name in ("ant", "bee", "cow")}
    shares = []
    for seed in range(200):
        rows = slices(play(FIELD, fc.designs.Waves(), budget=120, seed=seed), POOL).rows
        inside = [truth[row.name] in row.interval for row in rows if row.interval is not None]
        shares += [np.mean(inside)] if inside else []
    limit = 0.92 - 4.76 * np.std(shares) / np.sqrt(len(shares))
    assert len(shares) > 150
    assert np.mean(shares) >= limit


@pytest.mark.parametrize("failures", [0, 3, 6, 9])
def test_what_is_asked_for_is_believable(failures: int) -> None:
    """19 labels with an interval of ± 23 points do not lack one more: the width falls with the root of their number."""
    said = ["a"] * 500 + ["b"] * 500
    failed = [at < failures or 19 <= at < 19 + 25 * failures for at in range(500)] + [False] * 500
    pool = fc.from_arrays(y_pred=said, outcome=["Fail" if one else "Pass" for one in failed])
    items = (*range(19), *range(500, 580))
    row = next(row for row in slices(srs_sample(items, failed, 1_000), pool).rows if row.name == "a")
    if row.interval is None:
        low, high = hypergeometric(failures, 19, 500, level=0.95)
        needed = 19 * ((high - low) / 2 / WIDEST) ** 2 - 19
        assert row.more % 5 == 0
        assert needed <= row.more <= needed + 30
    else:
        assert row.more == 0


@pytest.mark.parametrize(("thin", "drawn"), [(0, 1), (3, 4), (DRAWN, 1)])
def test_slices_with_too_few_labels_are_named_in_the_chart(thin: int, drawn: int) -> None:
    rows = (
        Slice("a", 90, 40, 2, value=0.95, interval=Interval(0.9, 0.99)),
        *(Slice(f"b{k}", 9, 1, 0) for k in range(thin)),
    )
    found = Slices("site", "accuracy", 0.95, rows)
    chart = found.chart()
    assert len(chart.rows) == drawn
    assert [row.remark for row in chart.rows if not row.trusted] == ["1 label: too few to tell"] * (drawn - 1)
    assert found.table().grey == set(range(1, thin + 1))
    assert not Slices("site", "accuracy", 0.95, rows[1:]).chart().rows
