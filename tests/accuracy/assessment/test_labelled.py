"""Sheets: what is written is what is read, and an estimate uses exactly the labels it may."""

from __future__ import annotations

import itertools
import json
import tempfile
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fieldcheck import Pool
from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.campaign.sheets.files import harmless, read_answers, read_sheet, write_sheet
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.label import Label, TrueClass
from fieldcheck.sources.pools.arrays import from_arrays

SPECS = ("srs", "srs:replace=yes", "css", "sups:floor=0.2", "rhc", "ssrs:k=3", "gbs:batch=4", "2ups", "deepest:r=0.6")


def make_pool(size: int = 40, ids: list[str] | None = None) -> Pool:
    rng = np.random.default_rng(5)
    return from_arrays(
        y_pred=rng.choice(["a", "b"], size), confidence=rng.random(size), ids=ids, auxiliary={"lsa": rng.random(size)}
    )


def answered(sheet: Sheet, text: str = "a") -> dict[str, Label]:
    return dict.fromkeys(sheet.ids, TrueClass(text))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("auxiliary", ["confidence", "lsa"])
def test_a_record_survives_json(spec: str, auxiliary: str) -> None:
    sheet = Sheet.draw(make_pool(), build_design(spec, auxiliary), budget=12, seed=3, pool_file="pool.csv")
    again = Sheet.from_record(json.loads(json.dumps(sheet.as_record())))
    assert again.as_record() == sheet.as_record()
    assert again.design == sheet.design
    assert again.estimate(answered(sheet)).to_dict() == sheet.estimate(answered(sheet)).to_dict()


def test_which_labels_count_by_enumeration() -> None:
    """Of every set of labelled items, the estimate uses those before the first gap, and needs two of them."""
    sheet = Sheet.draw(make_pool(), build_design("srs"), budget=5, seed=1)
    everything = answered(sheet)
    right = [str(said) == "a" for said in sheet.predictions or ()]
    for given_labels in itertools.product([True, False], repeat=5):
        answers = {name: everything[name] for name, there in zip(sheet.ids, given_labels, strict=True) if there}
        used = given_labels.index(False) if False in given_labels else 5
        if used < 2:
            with pytest.raises(LabelError):
                sheet.estimate(answers)
            continue
        estimate = sheet.estimate(answers)
        assert estimate.labels == used
        assert estimate.value == pytest.approx(sum(right[:used]) / used, abs=1e-12)
        warned = " ".join(estimate.warnings)
        assert ("not labelled yet" in warned) is (used < 5)
        assert ("after the first gap" in warned) is (sum(given_labels) > used)


def test_a_design_that_needs_all_its_labels_is_not_estimated_from_some() -> None:
    sheet = Sheet.draw(make_pool(), build_design("rhc"), budget=6, seed=1)
    everything = answered(sheet)
    for left_out in sheet.ids:
        with pytest.raises(LabelError, match=f"first '{left_out}'"):
            sheet.estimate({name: answer for name, answer in everything.items() if name != left_out})


def test_going_on_does_not_depend_on_the_steps() -> None:
    """GBS asked after every label and after every round ends at the same sample."""
    pool, design = make_pool(), build_design("gbs:k=3,batch=4")
    labels = {pool.id_of(at): "a" if at % 3 else "b" for at in range(len(pool))}
    finals = []
    for step in (1, 100):
        sheet, answers = Sheet.draw(pool, design, budget=18, seed=2), {}
        while not sheet.sample.complete:
            fresh = [name for name in sheet.ids if name not in answers][:step]
            answers |= {name: TrueClass(labels[name]) for name in fresh}
            sheet = sheet.continued(pool, answers)
        finals.append(sheet.as_record())
    assert finals[0] == finals[1]


def test_another_pool_is_refused() -> None:
    sheet = Sheet.draw(make_pool(), build_design("gbs"), budget=20, seed=2)
    with pytest.raises(SampleError):
        sheet.continued(make_pool(39), answered(sheet))


NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(lambda t: t == t.strip()),
    min_size=3,
    max_size=12,
    unique_by=lambda text: unicodedata.normalize("NFC", text),
)


@given(names=NAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_id_finds_its_way_back(names: list[str]) -> None:
    pool = make_pool(len(names), ids=names)
    sheet = Sheet.draw(pool, build_design("srs"), budget=len(names), seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.csv"
        write_sheet(sheet, path, pool, answers=answered(sheet))
        assert read_sheet(path).ids == sheet.ids
        assert read_answers(path, sheet) == dict.fromkeys(names, TrueClass("a"))


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=6))
def test_no_text_is_run_as_a_formula(text: str) -> None:
    cell = str(harmless(text))
    assert cell.removeprefix("'") == text.removeprefix("'") or cell == text
    if cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        float(cell)


@pytest.mark.parametrize("number", ["-1", "+2.5", "-1e-3"])
def test_numbers_stay_numbers(number: str) -> None:
    assert harmless(number) == number
