"""Damaged bytes: what was found once stays mended, and a little of the fuzzing runs every time."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def load() -> ModuleType:
    """The command, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("fuzz", HERE.parents[1] / "benchmarks" / "fuzz.py")
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules["fuzz"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


fuzz = load()
TARGETS = fuzz.targets()
FOUND = sorted(path for path in (HERE / "found").glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_stays_mended(path: Path, tmp_path: Path) -> None:
    trial = fuzz.Trial(TARGETS[path.parent.name], tmp_path / "here", tmp_path)
    trial(path.read_bytes())
    assert not trial.failures


@pytest.mark.filterwarnings("ignore")  # what decoders warn of is no failure
@pytest.mark.parametrize("name", TARGETS)
def test_damage_never_surprises(name: str, tmp_path: Path) -> None:
    trial = fuzz.Trial(TARGETS[name], tmp_path / "here", tmp_path)
    seeds = TARGETS[name].seeds()
    for data in (*seeds, *fuzz.mutated(seeds, 60, seed=7)):
        trial(data)
    assert not trial.failures


def test_a_surprise_is_seen(tmp_path: Path) -> None:
    """The fuzzer itself: what is no error of ours is one, whatever it is."""

    def read(path: Path) -> None:
        raise KeyError("x")

    trial = fuzz.Trial(fuzz.Target("bad", "x", lambda: [b""], read), tmp_path / "here", tmp_path)
    trial(b"bytes")
    assert len(trial.failures) == 1
    assert [one.read_bytes() for one in (tmp_path / "bad").iterdir()] == [b"bytes"]
