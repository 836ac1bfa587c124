"""What a campaign survives: kill -9 at random moments, on both stores, and a file that is taken away.

    python benchmarks/campaign_kill.py [KILLS]

Four people label while their processes are killed: 50 kills by default, and four more at the end. Then as many of a
server (``fieldcheck label``) through which six people label. Only a process that had a label acknowledged since it
started counts. It runs ``tests/campaign/stores/test_kill.py`` and ``test_kill_server.py``, which fail if one
acknowledged label is lost or doubled, and prints what they counted; PostgreSQL must be installed for the second store.

Then, for each fault, a server on SQLite takes 8 labels; the fault happens; 12 more labels are sent, by four people at
once; the server is stopped. An acknowledged label is lost where nobody who opens the path afterwards finds it, and
(for those of before the fault) no other file in the folder, the rescued copy among them, has it. 0 kills: only that.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.sources import save
from fieldcheck.sources.pools.arrays import from_arrays

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "campaign" / "stores"
NOBODY = 65534
PARTS = ("", "-wal", "-shm")
BEFORE, AFTER = 8, 12


def killed(kills: str) -> int:
    """Run the tests, and print what they counted."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "FIELDCHECK_KILLS": kills, "FIELDCHECK_KILL_RESULT": folder}
        tests = [str(TESTS / name) for name in ("test_kill.py", "test_kill_server.py")]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        code = subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode
        for path in sorted(Path(folder).glob("*.json")):
            found = json.loads(path.read_text())
            print(f"{path.stem:<16} " + ", ".join(f"{name} {count:,}" for name, count in found.items()), flush=True)
    return code


def beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def removed(path: Path, *ends: str) -> None:
    for end in ends:
        beside(path, end).unlink()


def over(path: Path, by: str) -> None:
    """The backup of before the labels over the file, in a process of its own."""
    subprocess.run([by, beside(path, ".backup"), path], check=True)


def no_more_room(server: subprocess.Popen[str], path: Path) -> None:
    """No file of the server may grow beyond what the log has now."""
    limit = max(beside(path, "-wal").stat().st_size, path.stat().st_size)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


Fault = Callable[[Path, "subprocess.Popen[str]"], object]


FAULTS: Mapping[str, Fault] = {
    "mv c.db d.db": lambda path, _: path.rename(path.with_name("d.db")),
    "rm c.db": lambda path, _: removed(path, ""),
    "rm c.db-wal": lambda path, _: removed(path, "-wal"),
    "rm c.db-shm": lambda path, _: removed(path, "-shm"),
    "rm c.db*": lambda path, _: removed(path, *PARTS),
    "mv folder other": lambda path, _: path.parent.rename(path.parent.with_name("other")),
    "mv backup c.db": lambda path, _: over(path, "/bin/mv"),
    "cp backup c.db": lambda path, _: over(path, "/bin/cp"),
    "chmod 444 c.db": lambda path, _: path.chmod(0o444),
    "chmod 000 c.db": lambda path, _: path.chmod(0o000),
    "disk full": lambda path, server: no_more_room(server, path),
}


@contextmanager
def served(path: Path, *, anybody: bool) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server; ``anybody``: that a person without rights started: permissions mean nothing to root."""
    command = [sys.executable, "-m", "fieldcheck", "label", str(path), "--port", "0", "--no-browser"]
    user = {"user": NOBODY, "group": NOBODY} if anybody and os.geteuid() == 0 else {}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", **user)  # type: ignore[call-overload]
    assert child.stdout is not None
    yield re.findall(r"http://\S+", child.stdout.readline())[0], child
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)


def label(web: httpx.Client, campaign: str, item: str, by: str) -> str | None:
    """The item, if its label was acknowledged; None where the page would keep it."""
    said = {"campaign": campaign, "by": by, "key": str(uuid.uuid4()), "item": item, "label": "dog"}
    return item if web.post("/api/label", json=said).status_code == 200 else None


def found_in(path: Path, pool: Path) -> set[str]:
    """Items with a label, as somebody finds them who opens a file."""
    try:
        with Campaign.open(path, pool=pool) as campaign:
            return {item.id for item in campaign.state.items.values() if item.done}
    except FieldcheckError:
        return set()


def fault(name: str) -> tuple[int, int, int, int]:
    """Labels acknowledged before, those of them found anywhere, acknowledged after, those of them found at the path."""
    root = Path(tempfile.mkdtemp(prefix="fieldcheck-fault-"))
    try:
        folder, pool = root / "folder", root / "pool.csv"
        folder.mkdir()
        save(from_arrays(ids=[f"item {at}" for at in range(200)], y_pred=["cat", "dog"] * 100, name="animals"), pool)
        path = folder / "c.db"
        Campaign.create(path, pool, "srs", budget=100, seed=1).disconnect()
        shutil.copy(path, beside(path, ".backup"))
        for one in (root, folder, path, pool, beside(path, ".backup")):
            one.chmod(0o777)
        with (
            served(path, anybody="chmod" in name) as (address, server),
            httpx.Client(base_url=address, timeout=60) as web,
        ):
            campaign = web.get("/api/campaign").json()["campaign"]
            asked = {"campaign": campaign, "by": "Ann", "n": BEFORE + AFTER}
            items = [item["id"] for item in web.post("/api/next", json=asked).json()["items"]]
            before = {label(web, campaign, item, "Ann") for item in items[:BEFORE]} - {None}
            FAULTS[name](path, server)
            with ThreadPoolExecutor(4) as people:
                after = set(people.map(lambda item: label(web, campaign, item, "Ann"), items[BEFORE:])) - {None}
        if path.exists():
            path.chmod(0o666)
        at_the_path = found_in(path, pool)
        files = [one for one in root.rglob("*") if one.suffix in (".db", ".rescued")]
        anywhere = set.union(at_the_path, *(found_in(one, pool) for one in files))
        return len(before), len(before & anywhere), len(after), len(after & at_the_path)
    finally:
        shutil.rmtree(root)


def faults() -> int:
    """A row for each, as Markdown; how many acknowledged labels were lost."""
    print(
        "| what happens | acknowledged before | found | acknowledged after | found at the path |\n|---|---|---|---|---|"
    )
    lost = 0
    for name in FAULTS:
        before, found, after, at_the_path = fault(name)
        lost += before - found + after - at_the_path
        print(f"| `{name}` | {before} | {found} | {after} | {at_the_path} |", flush=True)
    return lost


def main() -> int:
    kills = sys.argv[1] if len(sys.argv) > 1 else "50"
    code = killed(kills) if kills != "0" else 0
    return faults() or code


if __name__ == "__main__":
    sys.exit(main())
