"""A sample that is labelled bit by bit: an estimate uses exactly the labels it may."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck import Pool
from fieldcheck.accuracy.assessment.labelled import PartlyLabelled
from fieldcheck.accuracy.assessment.sampling import build_design, frame_for
from fieldcheck.campaign.exchange.base import harmless
from fieldcheck.core.errors import LabelError
from fieldcheck.core.label import Label, Missing, TrueClass
from fieldcheck.sources.pools.arrays import from_arrays


@cache
def make_pool(size: int = 40) -> Pool:
    rng = np.random.default_rng(5)
    return from_arrays(
        y_pred=rng.choice(["a", "b"], size), confidence=rng.random(size), auxiliary={"lsa": rng.random(size)}
    )


def labelling(spec: str, labels: Mapping[str, Label] | None = None, *, budget: int) -> PartlyLabelled:
    """A sample with these labels; None: all of them are 'a'."""
    pool, design = make_pool(), build_design(spec, "confidence")
    frame = frame_for(pool, design, None)
    known = np.array([float(pool.classes[said] != "a") for said in pool.predictions])
    sample = design.draw(frame, known, budget=budget, seed=1)
    items = sample.to_label().tolist()
    ids = tuple(pool.id_of(item) for item in items)
    return PartlyLabelled(
        sample=sample,
        frame=frame if design.needs == "auxiliary" else None,
        design=design,
        budget=budget,
        seed=1,
        task="classification",
        loss="squared",
        threshold=0.5,
        ids=ids,
        predictions=pool.predictions_at(items),
        labels=dict.fromkeys(ids, TrueClass("a")) if labels is None else labels,
    )


def test_which_labels_count_by_enumeration() -> None:
    """Of every set of labelled items, the estimate uses those before the first gap, and needs two of them."""
    whole = labelling("srs", budget=5)
    right = [str(said) == "a" for said in whole.predictions or ()]
    for there in itertools.product([True, False], repeat=5):
        labels = {name: TrueClass("a") for name, is_there in zip(whole.ids, there, strict=True) if is_there}
        used = there.index(False) if False in there else 5
        some = labelling("srs", labels, budget=5)
        if used < 2:
            with pytest.raises(LabelError):
                some.estimate()
            continue
        estimate = some.estimate()
        assert estimate.labels == used
        assert estimate.value == pytest.approx(sum(right[:used]) / used, abs=1e-12)
        warned = " ".join(estimate.warnings)
        assert ("which comes before" in warned) is (sum(there) > used)


def test_a_design_that_needs_all_its_labels_is_not_estimated_from_some() -> None:
    whole = labelling("rhc", budget=6)
    for left_out in whole.ids:
        labels = {name: label for name, label in whole.labels.items() if name != left_out}
        with pytest.raises(LabelError, match=f"first '{left_out}'"):
            labelling("rhc", labels, budget=6).estimate()


def test_skipped_items_are_left_out_and_both_bounds_shown() -> None:
    whole = labelling("waves", budget=20)
    assert whole.predictions is not None
    said = dict(zip(whole.ids, map(str, whole.predictions), strict=True))
    skipped = whole.ids[3:6]
    found = labelling("waves", {**whole.labels, **dict.fromkeys(skipped, Missing())}, budget=20).estimate()
    assert found.labels == 17
    best, worst = (
        labelling("waves", {**whole.labels, **{name: TrueClass(label(said[name])) for name in skipped}}, budget=20)
        for label in (lambda name: name, lambda name: "b" if name == "a" else "a")
    )
    text = next(text for text in found.warnings if "could not be labelled" in text)
    assert text.startswith("3 items")
    assert f"{100 * best.estimate().value:.1f} % if the model is right on all of them" in text
    assert f"{100 * worst.estimate().value:.1f} % if wrong" in text


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
def test_no_text_is_run_as_a_formula(text: str) -> None:
    cell = str(harmless(text))
    assert cell.removeprefix("'") == text.removeprefix("'") or cell == text
    if cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        float(cell)


@pytest.mark.parametrize("number", ["-1", "+2.5", "-1e-3"])
def test_numbers_stay_numbers(number: str) -> None:
    assert harmless(number) == number
