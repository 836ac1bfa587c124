"""Commands that are killed on their way: ``killed.py MOMENTS WORD ...`` in the folder to work in.

The command is first run whole in a folder of its own, to count the functions of ours that it calls; then it is killed
(``kill -9``) after so many of them, at evenly spaced moments, each time in a fresh copy. Prints the folders as JSON.
Processes are forked: what takes long is to import everything.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any


def run(words: list[str], folder: Path, die_at: int | None) -> int:
    """The command in a process of its own; how many of our functions it called, where it lived."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as told:
            said = told.read()
        os.waitpid(child, 0)
        return int(said or 0)
    os.chdir(folder)
    calls = 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        if event == "call" and "fieldcheck" in frame.f_code.co_filename:
            calls += 1
            if calls == die_at:
                os.kill(os.getpid(), signal.SIGKILL)

    from fieldcheck.cli import main

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.argv = ["fieldcheck", *words]
    sys.setprofile(count)
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        os.write(writing, str(calls).encode())
        os._exit(0)


def main() -> None:
    moments, words, here = int(sys.argv[1]), sys.argv[2:], Path.cwd()
    import pyarrow.csv  # noqa: F401

    import fieldcheck.cli  # noqa: F401 -- before the forks

    folders = []
    total = 1
    for at in range(moments + 1):
        folder = here.parent / f"{here.name}-{at}"
        shutil.copytree(here, folder)
        folders.append(str(folder))
        die_at = None if at == 0 else max(1, total * at // (moments + 1))
        called = run(words, folder, die_at)
        if (die_at is None) != (called > 0):
            sys.exit(f"{'it lived' if called else 'it died'} at {die_at} of {total}")
        total = called or total
    print(json.dumps(folders))


if __name__ == "__main__":
    main()
