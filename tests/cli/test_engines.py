"""Commands over engines: the same as here, with a worker killed on the way, and after a kill of the command itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fieldcheck import sources

from .sheets import CODE, Run
from .test_tomography import outcomes

WORKERS = "processes:workers=2"
PATIENCE = 120.0

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")


def started(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fieldcheck", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=os.environ | CODE)


def until(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Its processes that import our code; Python's own that watches over them is no worker."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(one) for one in children if b"resource_tracker" not in Path(f"/proc/{one}/cmdline").read_bytes()]


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "outcomes").glob("[0-9]*.npz"))


@pytest.fixture(scope="module")
def words(network: Path) -> list[str]:
    return ["tomography", "run", str(network / "space.toml"), "--inferences", "6000"]


@linux
def test_tomography_with_a_worker_killed_is_the_same(words: list[str], run: Run, tmp_path: Path) -> None:
    assert run(*words, "--out", tmp_path / "here").code == 0
    process = started(*words, "--out", tmp_path / "there", "--engine", WORKERS)
    until(lambda: len(parts(tmp_path / "there")) > 1, process)
    for worker in workers_of(process)[:1]:
        os.kill(worker, signal.SIGKILL)
    said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert outcomes(tmp_path / "there") == outcomes(tmp_path / "here")
    assert "the model took nan" not in said[0]


def test_tomography_killed_goes_on_with_what_was_done(words: list[str], run: Run, tmp_path: Path) -> None:
    process = started(*words, "--out", tmp_path / "broken", "--engine", WORKERS)
    until(lambda: len(parts(tmp_path / "broken")) > 2, process)
    process.kill()
    process.communicate()
    kept = outcomes(tmp_path / "broken")
    assert 0 < len(kept) < 6000
    stamps = {one: one.stat().st_mtime_ns for one in parts(tmp_path / "broken")}
    assert run(*words, "--out", tmp_path / "broken", "--resume", "--engine", WORKERS).code == 0
    assert {one: one.stat().st_mtime_ns for one in parts(tmp_path / "broken") if one in stamps} == stamps
    assert run(*words, "--out", tmp_path / "whole").code == 0
    assert outcomes(tmp_path / "broken") == outcomes(tmp_path / "whole")
    assert kept == outcomes(tmp_path / "whole")[: len(kept)]


@pytest.mark.parametrize("engine", ["local", WORKERS])
def test_predict_killed_loses_the_shards_under_way(network: Path, run: Run, tmp_path: Path, engine: str) -> None:
    images = np.load(network / "digits.npz")["images"]
    np.save(tmp_path / "many.npy", np.tile(images, (20, 1, 1)))
    asked = ["predict", str(network / "digits.onnx"), str(tmp_path / "many.npy"), "--rows", "1000", "--batch", "8"]
    asked += ["--auxiliary", "confidence,margin", "--engine", engine, "--out"]
    process, folder = started(*asked, tmp_path / "cut"), tmp_path / "cut"
    done = lambda: sorted(one for one in folder.glob(".unfinished-0*.parquet"))  # noqa: E731
    until(lambda: len(done()) > 3, process)
    process.kill()
    process.communicate()
    kept = {one: one.stat().st_mtime_ns for one in done()}
    assert 3 < len(kept) < 16
    again = started(*asked, folder)
    until(lambda: len(done()) > len(kept) + 3, again)
    assert {one: one.stat().st_mtime_ns for one in kept if one.exists()} == {
        one: stamp for one, stamp in kept.items() if one.exists()
    }
    assert again.communicate(timeout=PATIENCE) is not None
    assert again.returncode == 0
    assert not list(folder.glob(".unfinished*"))
    assert run(*asked, tmp_path / "whole").code == 0
    assert sources.load(folder).digest() == sources.load(tmp_path / "whole").digest()


def test_engines_that_are_not_there(run: Run, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Ray other commands work, and what needs it says how to get it."""
    monkeypatch.setitem(sys.modules, "ray", None)
    space = network / "space.toml"
    done = run("tomography", "run", space, "--out", "r", "--engine", "ray")
    assert done.code == 2
    assert 'pip install "fieldcheck[ray]"' in done.err
    assert run("tomography", "run", space, "--out", "s", "--inferences", 400).code == 0
    refused = run("tomography", "run", space, "--out", "t", "--engine", "spark")
    assert refused.code == 2
    assert "ray" in refused.err
