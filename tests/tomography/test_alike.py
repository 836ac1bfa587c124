"""Where tests make the same of an input, the model is asked once, and what it said counts for all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fieldcheck import tomography
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.setup.space_file import read_space_file
from fieldcheck.tomography.setup.subject import of_space_file
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth
from fieldcheck.tomography.surrogates.alike import Alike

TEXTS = ("we do not know", "he is not here", "rain falls on stones", "they will not go", "green, blue", "one two three")

MODULE = """
import numpy as np

asked = []

def long(texts):
    asked.extend(texts)
    share = np.array([min(len(text), 40) / 40 for text in texts])
    return np.column_stack([1 - share, share])
"""

FILE = """
[model]
file = "alike_model:long"
classes = ["0", "1"]
[data]
file = "texts.csv"
text = "text"
label = "label"
[[perturbation]]
name = "contraction"
[[perturbation]]
name = "punctuation"
levels = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    lines = [f'"{text}",{at % 2}' for at, text in enumerate(TEXTS)]
    (tmp_path / "texts.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    (tmp_path / "alike_model.py").write_text(MODULE)
    (tmp_path / "space.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("alike_model", None)


def made(rng: np.random.Generator, *, inputs: int = 60) -> RecordedTruth:
    """Three perturbations, of which the third changes every fifth input only, and the second saturates at level 2."""
    space = Space((Axis("a", 5), Axis("b", 5), Axis("c", 5)))
    severities = np.repeat(space.severities(np.arange(space.size))[:, None, :], inputs, axis=1)
    severities[..., 1] = np.minimum(severities[..., 1], 2)
    severities[:, np.arange(inputs) % 5 != 0, 2] = 0
    codes = space.numbers(severities.reshape(-1, 3)).reshape(space.size, inputs)
    held = rng.random((space.size, inputs)) < 1 / (1 + np.exp(severities.sum(axis=2) - rng.normal(6, 3, inputs)))
    return RecordedTruth("made", space, np.take_along_axis(held, codes, axis=0), alike=Alike.of(codes))


def test_the_first_test_that_makes_the_same_of_an_input_stands_for_it() -> None:
    found = Alike.of(np.array([[7, 1], [7, 2], [8, 1], [7, 2]]))
    assert found is not None
    np.testing.assert_array_equal(found.first, [[0, 0], [0, 1], [2, 0], [0, 1]])
    assert Alike.of(np.array([[1, 1], [2, 3]])) is None  # two inputs may well have the same code


def test_an_outcome_counts_wherever_the_input_is_the_same() -> None:
    alike = Alike.of(np.array([[7, 1], [7, 2], [8, 1], [7, 2]]))
    assert alike is not None
    known = alike.known(Outcomes(np.array([3, 2]), np.array([0, 1]), np.array([1.0, 0.0])))
    rows = zip(known.tests.tolist(), known.inputs.tolist(), known.held.tolist(), strict=True)
    assert list(rows) == [(0, 0, 1.0), (0, 1, 0.0), (1, 0, 1.0), (2, 1, 0.0), (3, 0, 1.0)]
    once = alike.distinct(known)
    assert list(zip(once.tests.tolist(), once.inputs.tolist(), once.held.tolist(), strict=True)) == [
        (0, 0, 1.0),
        (0, 1, 0.0),
    ]


def test_it_is_kept_as_text() -> None:
    alike = made(np.random.default_rng(0)).alike
    assert alike is not None
    again = Alike.of_record(alike.record(), *alike.first.shape)
    assert again is not None
    np.testing.assert_array_equal(again.first, alike.first)
    with pytest.raises(ValueError, match="same as one"):
        Alike.of_record(Alike(alike.first + 1).record(), *alike.first.shape)


def test_texts_that_come_out_the_same_are_asked_about_once(folder: Path) -> None:
    subject = of_space_file(read_space_file(folder / "space.toml"), trust=True)
    run = measure(subject, plan=plans.build("spread"), folder=folder / "run")
    executor = subject.executor
    assert executor is not None
    every = np.divmod(np.arange(subject.space.size * len(TEXTS)), len(TEXTS))
    batch, which = executor.perturbed(*every)
    each = {(int(item), batch[at]) for item, at in zip(every[1], which, strict=True)}
    assert len(run.outcomes) == len(each) < subject.space.size * len(TEXTS) / 2
    assert len(run.known) == subject.space.size * len(TEXTS)
    truth = subject.measure(*every, None).reshape(subject.space.size, -1).mean(axis=1)
    again = Run.open(folder / "run")
    for one in (run, again):
        means, errors = one.fitted.predict(np.arange(subject.space.size))
        np.testing.assert_allclose(means, truth)
        assert not errors.any()
    assert "no test makes another text of an input" in " ".join(run.ending.sentences() if run.ending else ())


def test_rows_are_never_the_same_twice_and_a_run_goes_on(tmp_path: Path) -> None:
    truth = made(np.random.default_rng(1))
    subject = tomography.of_truth(truth)
    assert truth.alike is not None
    small = measure(subject, plan=plans.build("spread"), budget=300, base=20, folder=tmp_path / "run")
    large = measure(subject, plan=plans.build("spread"), budget=900, base=20, folder=tmp_path / "run", resume=True)
    assert (len(small.outcomes), len(large.outcomes)) == (300, 900)
    np.testing.assert_array_equal(small.outcomes.tests, large.outcomes.tests[:300])
    cells = truth.alike.cells(large.outcomes.tests, large.outcomes.inputs)
    assert len(np.unique(cells)) == 900


def test_bands_hold_where_part_was_asked() -> None:
    # Errors of a run go together: over 4 runs of 216 tests the share has a deviation of about .03 at .98.
    covered, closer = [], []
    for seed in range(4):
        truth = made(np.random.default_rng(seed), inputs=100)
        for known in (truth, replace(truth, alike=None)):
            subject = tomography.of_truth(known)
            run = measure(subject, plan=plans.build("spread"), budget=1_500, base=100, seed=seed, surrogate="logistic")
            means, errors = run.fitted.predict(np.arange(known.space.size))
            off = np.abs(means - known.robustness)
            closer.append(float((off**2).mean()))
            if known is truth:
                covered.append(float((off <= 1.96 * errors + 1e-12).mean()))
                mean, error = run.fitted.region(np.arange(216), np.full(216, 1 / 216))
                assert abs(mean - truth.robustness.mean()) <= 4 * error
    assert np.mean(covered) >= 0.9
    assert np.mean(closer[::2]) < 0.5 * np.mean(closer[1::2])


def test_a_recorded_truth_may_say_it(tmp_path: Path) -> None:
    truth = made(np.random.default_rng(3))
    assert truth.alike is not None
    np.savez(
        tmp_path / "t.npz",
        tests=truth.space.severities(np.arange(216)),
        perturbations=["a", "b", "c"],
        correct=truth.held,
        alike=truth.alike.first,
    )
    read = read_truth(tmp_path / "t.npz")
    assert read.alike is not None
    np.testing.assert_array_equal(read.alike.first, truth.alike.first)
    smaller = read.along(["a", "b"]).alike
    assert smaller is not None  # b saturates
    assert len(np.unique(smaller.first)) == 6 * 3
    assert read.along(["a"]).alike is None
