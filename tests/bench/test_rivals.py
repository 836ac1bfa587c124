"""The rivals' benchmark: the LURE weights are right, and every rival that is installed runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "rivals.py"


@pytest.fixture(scope="module")
def rivals() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rivals", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rivals"] = module
    spec.loader.exec_module(module)
    return module


def field(rivals: ModuleType, size: int = 300):
    rng = np.random.default_rng(3)
    expected = rng.beta(0.5, 3, size)
    return rivals.Field("made up", (rng.random(size) < 0.5 * expected + 0.1).astype(float), expected)


def test_lure_is_unbiased_and_exact_when_all_are_labelled(rivals):
    pool = field(rivals)
    found = np.array([rivals.lure(pool, 40, np.random.default_rng(r)).value for r in range(4000)])
    assert abs(found.mean() - pool.truth) < 4 * found.std() / np.sqrt(len(found))
    assert rivals.lure(pool, 300, np.random.default_rng(0)).value == pytest.approx(pool.truth, abs=1e-12)


def test_every_installed_rival_answers(rivals):
    pool = field(rivals)
    for name, rival in rivals.installed().items():
        line = rivals.row(pool, name, rival, 60, 5)
        assert line[2] == name
        assert 0 <= float(line[3]) < 0.3
