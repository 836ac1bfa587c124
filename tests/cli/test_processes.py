"""Ctrl-C, closed pipes and fresh processes: what only shows from outside."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .sheets import CODE

BENCH = ("--design", "srs,gbs,deepest", "--budget", "20,40,60,80", "--repetitions", "150")
LINES = 13
"""Of the journal of that bench: one to begin with, and one for each cell."""

PATIENCE = 300.0
"""Seconds that a busy machine may take for anything."""


def start(*words: object, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fieldcheck", *map(str, words)],
        cwd=folder,
        env=os.environ | CODE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_hear,  # noqa: PLW1509 -- no threads here
    )


def _hear() -> None:
    """A shell that runs the tests in the background makes its children deaf to Ctrl-C; ours are not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def lines_of(journal: Path) -> int:
    return len(journal.read_bytes().splitlines()) if journal.exists() else 0


def interrupted(*words: object, folder: Path, whole_group: bool) -> tuple[subprocess.Popen[str], str, str]:
    """A bench that was interrupted after two cells, as it ended. It is run again where all were done too soon."""
    for _ in range(10):
        child = start(*words, folder=folder)
        while child.poll() is None and lines_of(folder / "journal") <= 2:
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if whole_group else os.kill)(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE)
        if lines_of(folder / "journal") < LINES:
            return child, out, err
        for name in ("journal", "rows.json"):
            (folder / name).unlink(missing_ok=True)
    pytest.fail(f"done before it could be interrupted: {err}")


def members(group: int) -> list[str]:
    """Processes of a group that still run."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat=,args="], capture_output=True, text=True, check=True)  # noqa: S607
    lines = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [line[2] for line in lines if line[0] == str(group) and not line[1].startswith("Z")]


def left_behind(group: int) -> list[str]:
    """Processes of a group that do not end: one that is being torn down needs a moment."""
    end = time.monotonic() + PATIENCE
    while (found := members(group)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def rows(path: Path) -> list[dict[str, object]]:
    found = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return [{key: value for key, value in row.items() if key != "cpu_seconds"} for row in found]


@pytest.mark.parametrize(("jobs", "whole_group"), [(1, True), (2, False), (2, True)])
def test_an_interrupted_bench_stops_at_once_and_goes_on_later(
    tea: Path, tmp_path: Path, jobs: int, whole_group: bool
) -> None:
    asked = (
        "bench",
        tea,
        *BENCH,
        "--engine",
        f"processes:workers={jobs}",
        "--json",
        "rows.json",
        "--resume",
        "journal",
    )
    child, out, err = interrupted(*asked, folder=tmp_path, whole_group=whole_group)
    assert (child.returncode, out) == (130, "")
    said = [line for line in err.splitlines() if not line.startswith("cells: ")]  # progress, where it takes long
    assert said == ["interrupted; files that were complete are kept"]
    assert left_behind(child.pid) == []
    assert not (tmp_path / "rows.json").exists()
    kept = lines_of(tmp_path / "journal")
    resumed = start(*asked, folder=tmp_path)
    assert resumed.communicate(timeout=PATIENCE)[1].splitlines()[-1] == "rows: rows.json"
    assert 3 <= kept < lines_of(tmp_path / "journal") == LINES
    if jobs == 1:
        whole = start("bench", tea, *BENCH, "--json", "whole.json", folder=tmp_path)
        whole.communicate(timeout=PATIENCE)
        assert rows(tmp_path / "rows.json") == rows(tmp_path / "whole.json")


@pytest.mark.parametrize("words", ["designs", "designs --json", "simulate tea.csv -n 20", "--version", "bench -h"])
def test_a_closed_pipe_is_not_an_error_to_talk_about(tea: Path, tmp_path: Path, words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "fieldcheck", *words.split()]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | CODE
    done = subprocess.run(command, cwd=tmp_path, env=env, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.stderr == b""


def test_bad_input_from_outside(tmp_path: Path) -> None:
    child = start("simulate", "nowhere.csv", folder=tmp_path)
    out, err = child.communicate(timeout=PATIENCE)
    assert (child.returncode, out) == (2, "")
    assert err.startswith("PoolError: nowhere.csv")
    assert "Traceback" not in err


def test_an_unexpected_error_is_short_unless_asked_for(tmp_path: Path) -> None:
    code = "import fieldcheck.cli as c, sys; c.app = lambda **_: 1 / 0; c.main()"
    for debug, traceback in (("", False), ("1", True)):
        env = {**os.environ, **CODE, "FIELDCHECK_DEBUG": debug}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
        assert ("Traceback" in done.stderr) is traceback
        assert "ZeroDivisionError" in done.stderr
        assert traceback or done.returncode == 3
