"""Workers that die in the middle of an answer: it is in the pipe by half, and Python waits for the rest of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from fieldcheck.core.pool.engine import Engine, Keeping
from fieldcheck.engines import engine_of, let_go, processes

LONG = 1 << 20
"""Bytes of an answer: more than a pipe holds."""


def answer(shard: int, folder: Path) -> bytes:
    """The first worker that comes to shard 3 writes half of its answer, and is killed."""
    mark = folder / "died"
    if shard == 3 and not mark.exists():
        mark.touch()

        def half(self: Any, content: bytes, write: Any = os.write) -> None:
            write(self.fileno(), bytes(content)[: max(len(content) // 2, 8)])
            os.kill(os.getpid(), signal.SIGKILL)

        Connection._send = half  # type: ignore[attr-defined]
    return bytes([shard]) * LONG


@pytest.fixture(params=["started anew", "kept"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.syspath_prepend(Path(__file__).parents[1])  # other processes find the steps of this file
    made = engine_of("processes:workers=2")
    assert isinstance(made, Keeping)
    yield made.kept() if request.param == "kept" else made
    let_go()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signal 9 on Windows")
def test_another_worker_answers_instead(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "IDLE", 0.5)
    assert list(engine.map(answer, list(range(8)), tmp_path)) == [bytes([one]) * LONG for one in range(8)]
    assert (tmp_path / "died").exists()


def slow(shard: int, _: None) -> bytes:
    time.sleep(0.05)
    return bytes(64 * LONG)


def test_who_stops_in_the_middle_of_answers_does_not_wait(engine: Engine) -> None:
    """Ctrl-C while long answers come: nothing hangs, whatever was under way."""
    for wait in (0.0, 0.01, 0.03):
        coming = engine.map(slow, list(range(6)), None)
        next(coming)
        time.sleep(wait)
        ended = threading.Thread(target=coming.close, daemon=True)  # type: ignore[attr-defined]
        ended.start()
        ended.join(60)
        assert not ended.is_alive()


def test_processes_that_wait_end_with_the_command(engine: Engine) -> None:
    both = [processes.Processes(2).kept(), processes.Processes(2).kept()]
    for one in both:
        assert len(list(one.map(slow, [0, 1], None))) == 2
    let_go()
    assert [one._held for one in both] == [{}, {}]
    assert len(list(engine.map(slow, [0, 1], None))) == 2  # others are started, should there be more to do
