"""Commands that look at large pools for more than two seconds say how far they are, where a person looks."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fieldcheck import sources
from fieldcheck.cli import show
from fieldcheck.core.pool.watching import counted

from .sheets import CODE

SLOW = """
import time
from fieldcheck import sources
from fieldcheck.cli import main, show
from fieldcheck.sources import sharded
facts = sharded._facts
def slow(shard, given):
    time.sleep(.1)
    return facts(shard, given)
sources.LARGE, sharded._facts, show.SLOW = 100, slow, .1
main()
"""
"""The command line, for which 600 items are many, and which takes its time to open a pool."""


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = {"id": np.arange(600), "prediction": rng.integers(0, 4, 600), "confidence": rng.random(600)}
    parquet.write_table(pa.table(rows), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=100)
    return tmp_path / "cut"


def on_a_terminal(*words: object) -> tuple[str, str]:
    """What a command prints, and what a person sees beside it."""
    here, there = pty.openpty()
    command = [sys.executable, "-c", SLOW, *map(str, words)]
    environment = os.environ | CODE | {"TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=there, text=True, env=environment)
    os.close(there)
    seen = b""
    while True:
        try:
            some = os.read(here, 4096)
        except OSError:  # the other end is gone
            break
        if not some:
            break
        seen += some
    os.close(here)
    out, _ = process.communicate()
    assert process.returncode == 0, (out, seen)
    return out, seen.decode()


def test_a_bar_while_a_campaign_is_started(cut: Path, tmp_path: Path) -> None:
    out, seen = on_a_terminal("start", cut, "--campaign", tmp_path / "c.db", "--budget", "40", "--items", "none")
    assert "drawn" in out
    assert show.STEPS in seen
    assert "/6" in seen
    assert "\x1b[2K" in seen[seen.rindex(show.STEPS) :]  # and it goes


def test_lines_now_and_then_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(show, "PLAIN_EVERY", 0.0)
    with show.steps_shown():
        list(counted(iter("abc"), 3))
        with show.progress("own"):
            list(counted(iter("abc"), 3))
    said = capsys.readouterr().err.splitlines()
    assert said[:3] == [f"{show.STEPS}: {done} of 3" for done in range(3)]
    assert len(said) == 5


def test_an_error_between_two_parts_leaves_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[str]()

    @contextmanager
    def bar(title: str) -> Iterator[show.Report]:
        shown.append(title)
        try:
            yield lambda *_: None
        finally:
            shown.remove(title)

    monkeypatch.setattr(show, "_bar", bar)
    monkeypatch.setattr(show, "SLOW", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    parts = None
    with suppress(KeyboardInterrupt), show.steps_shown():
        parts = counted(iter("abc"), 3)  # who caught the error may still hold it
        next(parts)
        assert shown == [show.STEPS]
        raise KeyboardInterrupt
    assert parts is not None
    assert not shown
