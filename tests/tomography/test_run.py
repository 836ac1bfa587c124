"""A run that is opened again: the same answers, without the wait."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.answers.weak_spots import weaknesses
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.setup.subject import Subject
from fieldcheck.tomography.surrogates import Logistic

SPACE = Space((Axis("blur", 3), Axis("zoom", 2)))


def outcome(tests: IntArray, inputs: IntArray, arrangements: IntArray | None) -> FloatArray:
    """Right on the first inputs only, the fewer the more severe."""
    return np.asarray(inputs < 30 - 5 * SPACE.severities(tests).sum(axis=1), dtype=np.float64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subject = Subject(SPACE, 30, outcome)
    measure(subject, plan=plans.build("spread"), budget=200, surrogate="logistic", folder=tmp_path / "run")
    return tmp_path / "run"


def test_the_second_question_needs_no_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Run.open(folder).ask("blur >= 1")
    monkeypatch.setattr(Logistic, "fit", lambda *_, **__: pytest.fail("it was fitted again"))
    assert Run.open(folder).ask("blur >= 1") == first


def test_a_run_that_was_extended_is_fitted_again(folder: Path) -> None:
    before = Run.open(folder).ask("all")
    measure(
        Subject(SPACE, 30, outcome), plan=plans.build("spread"), budget=300, surrogate="logistic", folder=folder,
        resume=True,
    )  # fmt: skip
    after = Run.open(folder).ask("all")
    assert (before.rows, after.rows) == (200, 300)
    (folder / "surrogate.npz").unlink()
    assert Run.open(folder).ask("all") == after


def test_what_never_happens_is_not_listed_as_weak(folder: Path) -> None:
    """Blur stays at 1 and below; the weakest pair and the smallest failing combination would have more of it."""
    run = Run.open(folder)
    for profile, highest in ((None, 3), (Profile({"blur": [1, 1, 0, 0]}), 1)):
        found = weaknesses(run, below=0.75, profile=profile)
        assert found.smallest is not None
        listed = [found.smallest, *found.conditions, *(one.condition for one in found.interactions)]
        assert max(one.severities.get("blur", 0) for one in listed) == highest
    everything = weaknesses(run, below=0.3)
    assert everything.smallest is not None
    assert weaknesses(run, below=0.3, profile=Profile({"blur": [1, 1, 0, 0]})).smallest is None


def test_measuring_keeps_no_fit(folder: Path) -> None:
    assert not (folder / "surrogate.npz").exists()


def test_a_head_that_lacks_something_is_named(folder: Path) -> None:
    head = json.loads((folder / "run.json").read_text())
    del head["space"]
    (folder / "run.json").write_text(json.dumps(head))
    with pytest.raises(SpaceError, match="nothing of 'space'"):
        Run.open(folder)
