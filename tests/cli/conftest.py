"""Small made-up pools, and a way to run commands in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldcheck.cli import main

from .sheets import SIZE, Done, Run, price_rows, tea_rows, write


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run ``fieldcheck`` with these words, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["fieldcheck", *map(str, words)])
        capsys.readouterr()
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        shown = capsys.readouterr()
        return Done(int(code or 0), shown.out, shown.err)

    return call


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    """Classification: text ids, classes with blanks, commas and umlauts, a metadata column with formulas."""
    return write(tmp_path / "tea.csv", ["id", "prediction", "confidence", "lsa", "target", "kind"], tea_rows())


@pytest.fixture
def price(tmp_path: Path) -> Path:
    """Regression: whole-number ids."""
    return write(tmp_path / "price.csv", ["id", "prediction", "spread", "target"], price_rows())


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """Activations for either pool."""
    path = tmp_path / "layer.npy"
    np.save(path, np.random.default_rng(13).random((SIZE, 4)))
    return path
