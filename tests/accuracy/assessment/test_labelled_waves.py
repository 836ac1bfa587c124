"""Waves through people's hands: a sheet that grows wave by wave leads where the simulated campaign leads."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.campaign.sheets.files import read_answers, read_pool, read_sheet, write_sheet
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing, TrueClass, Value
from fieldcheck.core.words import percent

SPECS = ("waves", "waves:first=20", "waves:objective=expose", "waves:objective=balanced,floor=0.4")
BUDGET, SEED = 60, 5


@cache
def truth() -> fc.Pool:
    """300 items of three classes, a seventh of them mispredicted, mostly those of low confidence."""
    rng = np.random.default_rng(11)
    size = 300
    doubt = rng.random(size) ** 4
    predicted = rng.integers(0, 3, size)
    right = rng.random(size) > 0.03 + 0.6 * doubt
    names = np.array(["cat", "dog", "owl"])
    return fc.from_arrays(
        ids=[f"img_{at:03d}" for at in range(size)],
        y_pred=names[predicted],
        y_true=names[np.where(right, predicted, (predicted + 1) % 3)],
        confidence=1 - doubt,
        auxiliary={"dsa": doubt + 0.3 * rng.random(size)},
    )


@cache
def prices() -> fc.Pool:
    rng = np.random.default_rng(12)
    predicted = rng.normal(0, 2, 200)
    spread = rng.random(200)
    return fc.from_arrays(
        ids=[f"house {at}" for at in range(200)],
        y_pred=predicted,
        y_true=predicted + rng.normal(0, 0.2 + spread),
        auxiliary={"lsa": spread},
    )


def blank(pool: fc.Pool) -> fc.Pool:
    """The pool as the people have it: without the truth."""
    return replace(pool, target=None, failed=None)


def label_of(pool: fc.Pool, item: int) -> TrueClass | Value:
    assert pool.target is not None
    said = pool.target[item]
    return TrueClass(pool.classes[int(said)]) if pool.task == "classification" else Value(float(said))


def fill(sheet: Sheet, pool: fc.Pool, *, known: Mapping[str, Label] | None = None) -> dict[str, Label]:
    """True labels for all items that have none."""
    items = sheet.sample.to_label().tolist()
    true = {name: label_of(pool, item) for name, item in zip(sheet.ids, items, strict=True)}
    return {**true, **(known or {})}


def labelled_to_the_end(pool: fc.Pool, spec: str, folder: Path) -> tuple[Sheet, Path]:
    """Written, filled in, read and continued until it is complete; only files pass from one step to the next."""
    path = folder / "sheet.csv"
    fc.save(blank(pool), folder / "pool.csv")
    design = build_design(spec)
    write_sheet(
        Sheet.draw(blank(pool), design, budget=BUDGET, seed=SEED, pool_file=str(folder / "pool.csv")),
        path,
        blank(pool),
    )
    while True:
        sheet = read_sheet(path)
        write_sheet(sheet, path, blank(pool), answers=fill(sheet, pool))
        if sheet.sample.complete:
            return sheet, path
        again = read_pool(path, sheet)
        assert again is not None
        write_sheet(sheet.continued(again, read_answers(path, sheet)), path, again, answers=read_answers(path, sheet))


def numbers(found: Estimate) -> tuple:
    return found.value, found.audit, found.standard_error, found.interval, found.beside, found.labels, found.failures


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("make", [truth, prices], ids=["classification", "regression"])
def test_on_paper_as_in_simulation(spec: str, make: Callable[[], fc.Pool], tmp_path: Path) -> None:
    """To the last bit: the same items, and the same estimate."""
    pool = make()
    sheet, path = labelled_to_the_end(pool, spec, tmp_path)
    on_paper = sheet.estimate(read_answers(path, sheet), read_pool(path, sheet))
    simulated = fc.assess(pool, spec, budget=BUDGET, seed=SEED)
    assert numbers(on_paper) == numbers(simulated)
    assert len(sheet.sample) == BUDGET


def test_waves_come_one_after_the_other() -> None:
    pool = truth()
    sheet = Sheet.draw(blank(pool), build_design("waves"), budget=BUDGET, seed=SEED)
    assert (len(sheet.ids), sheet.sample.complete) == (20, False)
    answers = fill(sheet, pool)
    missing = {name: answer for name, answer in answers.items() if name != sheet.ids[-1]}
    assert sheet.continued(blank(pool), missing).ids == sheet.ids
    after = sheet.continued(blank(pool), answers)
    assert (len(after.ids), after.sample.complete, after.ids[:20]) == (BUDGET, True, sheet.ids)
    early = sheet.estimate(answers, blank(pool))
    assert early.labels == 20
    assert any("not asked for yet" in text for text in early.warnings)


def wrong(sheet: Sheet, name: str) -> TrueClass:
    """A label that makes the prediction of this item wrong if it was right, and right if it was wrong."""
    assert sheet.predictions is not None
    predicted = str(sheet.predictions[sheet.ids.index(name)])
    true = str(label_of(truth(), int(name.removeprefix("img_"))))
    return TrueClass(predicted if true != predicted else next(c for c in sheet.classes if c != predicted))


def test_a_corrected_label_changes_the_estimate_and_not_the_sample() -> None:
    pool = truth()
    sheet = Sheet.draw(blank(pool), build_design("waves"), budget=100, seed=SEED)
    second = sheet.continued(blank(pool), fill(sheet, pool))
    corrected = {sheet.ids[0]: wrong(second, sheet.ids[0])}
    third = second.continued(blank(pool), fill(second, pool, known=corrected))
    as_it_was = second.continued(blank(pool), fill(second, pool))
    assert third.ids[: len(second.ids)] == second.ids
    assert third.sample.as_record() == as_it_was.sample.as_record()
    answers = fill(third, pool)
    before = third.estimate(answers, blank(pool))
    after = third.estimate({**answers, **corrected}, blank(pool))
    assert after.value != before.value
    assert abs(after.failures - before.failures) == 1
    # The second correction is of an item that the third wave saw right: the sample stays, whatever is corrected.
    again = third.continued(blank(pool), {**answers, sheet.ids[1]: wrong(third, sheet.ids[1])})
    assert again.sample.as_record() == third.sample.as_record()


def test_skipped_items_are_left_out_and_both_bounds_shown() -> None:
    pool = truth()
    sheet = Sheet.draw(blank(pool), build_design("waves"), budget=BUDGET, seed=SEED)
    skipped = dict.fromkeys(sheet.ids[3:6], Missing())
    whole = sheet.continued(blank(pool), fill(sheet, pool, known=skipped))
    assert whole.sample.complete
    found = whole.estimate(fill(whole, pool, known=skipped), blank(pool))
    assert found.labels == BUDGET - 3
    said = next(text for text in found.warnings if "could not be labelled" in text)
    assert said.startswith("3 items")
    assert whole.predictions is not None
    best, worst = (
        whole.estimate(fill(whole, pool, known={name: answer(whole, name) for name in skipped}), blank(pool)).value
        for answer in (right_answer, wrong_answer)
    )
    assert worst < found.value < best
    assert percent(best) in said
    assert percent(worst) in said


def right_answer(sheet: Sheet, name: str) -> TrueClass:
    assert sheet.predictions is not None
    return TrueClass(str(sheet.predictions[sheet.ids.index(name)]))


def wrong_answer(sheet: Sheet, name: str) -> TrueClass:
    right = right_answer(sheet, name).name
    return TrueClass(next(c for c in sheet.classes if c != right))


def test_a_gap_ends_what_is_used() -> None:
    """Labels up to the gap, in the random order of the sheet, are a smaller wave."""
    pool = truth()
    sheet = Sheet.draw(blank(pool), build_design("waves"), budget=BUDGET, seed=SEED)
    whole = sheet.continued(blank(pool), fill(sheet, pool))
    answers = {name: answer for name, answer in fill(whole, pool).items() if name != whole.ids[31]}
    found = whole.estimate(answers, blank(pool))
    assert found.labels == 31
    assert any("after the first gap" in text for text in found.warnings)
    with pytest.raises(LabelError):
        whole.estimate({name: answers[name] for name in whole.ids[1:10]}, blank(pool))


def test_a_pool_that_moved_is_found_beside_the_sheet_or_where_it_is_said_to_be(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    sheet, path = labelled_to_the_end(truth(), "waves", here)
    wanted = numbers(sheet.estimate(read_answers(path, sheet), read_pool(path, sheet)))
    there = tmp_path / "there"
    shutil.move(here, there)
    moved = there / "sheet.csv"
    assert numbers(sheet.estimate(read_answers(moved, sheet), read_pool(moved, sheet))) == wanted
    (there / "pool.csv").rename(tmp_path / "other name.csv")
    with pytest.raises(SampleError) as caught:
        read_pool(moved, sheet)
    assert "--pool" in caught.value.hint
    again = read_pool(moved, sheet, tmp_path / "other name.csv")
    assert numbers(sheet.estimate(read_answers(moved, sheet), again)) == wanted


def test_a_pool_that_changed_is_refused(tmp_path: Path) -> None:
    pool = truth()
    sheet, path = labelled_to_the_end(pool, "waves", tmp_path)
    answers = read_answers(path, sheet)
    assert pool.confidence is not None
    assert pool.predictions is not None
    changed = pool.confidence.copy()
    changed[7] = changed[7] / 2
    others = {
        "another confidence": replace(blank(pool), confidence=changed),
        "another prediction": replace(blank(pool), predictions=(pool.predictions + (np.arange(300) == 7)) % 3),
        "another signal": replace(blank(pool), columns={**pool.columns, "dsa": changed}),
    }
    for other in others.values():
        with pytest.raises(SampleError):
            sheet.estimate(answers, other)
        with pytest.raises(SampleError):
            sheet.continued(other, answers)


def test_without_the_pool_there_is_no_estimate(tmp_path: Path) -> None:
    sheet, path = labelled_to_the_end(truth(), "waves", tmp_path)
    with pytest.raises(SampleError):
        sheet.estimate(read_answers(path, sheet))
