"""The folder of a run: whole parts, the same head, clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Outcomes
from fieldcheck.tomography.runs.folder import RunFolder

ZOOM = {"name": "zoom", "levels": 5, "perturbation": "zoom", "words": {}}


HEAD = {"space": [ZOOM], "seed": 1}


def rows(*tests: int) -> Outcomes:
    count = len(tests)
    return Outcomes(np.array(tests), np.arange(count), np.ones(count), np.full(count, 0.5))


def test_parts_come_back_in_order(tmp_path: Path) -> None:
    ledger = RunFolder.create(tmp_path / "run", HEAD)
    ledger.add(rows(3, 1), np.array([0, 1]))
    ledger.add(rows(2), np.array([5]))
    outcomes, arrangements = RunFolder.open(tmp_path / "run").read()
    assert outcomes.tests.tolist() == [3, 1, 2]
    assert arrangements is not None
    assert arrangements.tolist() == [0, 1, 5]
    assert outcomes.chance is not None
    assert RunFolder.open(tmp_path / "run").head() == HEAD


def test_an_unfinished_part_does_not_count(tmp_path: Path) -> None:
    ledger = RunFolder.create(tmp_path / "run", HEAD)
    ledger.add(rows(3))
    (tmp_path / "run" / "outcomes" / ".000001").write_bytes(b"half")
    assert len(ledger.read()[0]) == 1
    ledger.add(rows(4))
    assert ledger.read()[0].tests.tolist() == [3, 4]


def test_an_empty_run_has_no_outcomes(tmp_path: Path) -> None:
    assert len(RunFolder.create(tmp_path / "run", HEAD).read()[0]) == 0


def test_a_run_without_outcomes_may_begin_again(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", HEAD)
    RunFolder.create(tmp_path / "run", {**HEAD, "seed": 2})
    assert RunFolder.open(tmp_path / "run").head()["seed"] == 2


def test_a_run_goes_on_only_as_it_began(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", HEAD).add(rows(1))
    RunFolder.create(tmp_path / "run", HEAD, resume=True)
    with pytest.raises(SpaceError):
        RunFolder.create(tmp_path / "run", HEAD)
    with pytest.raises(SpaceError, match="another seed"):
        RunFolder.create(tmp_path / "run", {**HEAD, "seed": 2}, resume=True)


def test_a_run_may_be_asked_for_more(tmp_path: Path) -> None:
    head = {**HEAD, "budget": 10, "width": None, "earlier": []}
    RunFolder.create(tmp_path / "run", head).add(rows(1))
    for budget in (30, 30, None):
        found = RunFolder.create(tmp_path / "run", {**head, "budget": budget}, resume=True).head()
        assert found["budget"] == budget
    assert found["earlier"] == [{"budget": 10, "width": None}, {"budget": 30, "width": None}]
    with pytest.raises(SpaceError, match="20 are fewer"):
        RunFolder.create(tmp_path / "run", {**head, "budget": 20}, resume=True)
    with pytest.raises(SpaceError, match="holds a run"):
        RunFolder.create(tmp_path / "run", {**head, "budget": None})
    assert RunFolder.open(tmp_path / "run").head() == found


def test_a_run_may_be_asked_for_narrower_intervals(tmp_path: Path) -> None:
    head = {**HEAD, "budget": None, "width": 0.02, "earlier": []}
    RunFolder.create(tmp_path / "run", head).add(rows(1))
    with pytest.raises(SpaceError, match="is wider"):
        RunFolder.create(tmp_path / "run", {**head, "width": 0.03}, resume=True)
    narrower = RunFolder.create(tmp_path / "run", {**head, "width": 0.01}, resume=True)
    assert narrower.head()["earlier"] == [{"budget": None, "width": 0.02}]


def test_what_changed_is_named(tmp_path: Path) -> None:
    head = {**HEAD, "subject": {"model": "a", "data": "b"}}
    RunFolder.create(tmp_path / "run", head).add(rows(1))
    with pytest.raises(SpaceError, match="another data"):
        RunFolder.create(tmp_path / "run", {**head, "subject": {"model": "a", "data": "c"}}, resume=True)


def test_what_is_not_a_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SpaceError):
        RunFolder.create(tmp_path, HEAD)
    with pytest.raises(SpaceError):
        RunFolder.open(tmp_path)
    with pytest.raises(SpaceError):
        RunFolder.create(tmp_path / "notes.txt", HEAD)


def test_damage_is_named(tmp_path: Path) -> None:
    ledger = RunFolder.create(tmp_path / "run", HEAD)
    for test in range(3):
        ledger.add(rows(test))
    parts = ledger.parts()
    parts[1].write_bytes(b"nonsense")
    with pytest.raises(SpaceError, match="000001"):
        ledger.read()
    parts[1].unlink()
    with pytest.raises(SpaceError, match="part 1 is missing"):
        ledger.read()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(SpaceError, match="newer"):
        ledger.head()
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(SpaceError, match=r"run\.json"):
        ledger.head()
