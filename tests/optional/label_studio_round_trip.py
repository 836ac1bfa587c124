"""A round trip through a real Label Studio: tasks out, people's annotations in, the same labels as were given there.

Label Studio is a large package with its own pinned dependencies; it gets an environment of its own:

    python3 -m venv /tmp/label-studio && /tmp/label-studio/bin/pip install label-studio
    python3 tests/optional/label_studio_round_trip.py /tmp/label-studio/bin/label-studio

It starts a server on a free port with a throw-away database, makes one project per kind of task (choices, right and
wrong, numbers), annotates through Label Studio's own API as an annotator's browser does, exports as JSON, JSON-MIN and
CSV, imports each, and compares. It ends with "ok", or raises.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.export import as_file, labelling_config
from fieldcheck.campaign.exchange.intake import prepare, take
from fieldcheck.campaign.exchange.reading import read_lines

TOKEN = "0123456789abcdef0123456789abcdef01234567"  # noqa: S105 -- of a server that lives for a minute
CLASSES = ("cat", "dog & wolf", "<b>bird</b>", "grüner Fisch")
QUIET = {
    "COLLECT_ANALYTICS": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "LATEST_VERSION_CHECK": "false",
    "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
    "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
}
FORMATS = {"JSON": "json", "JSON_MIN": "json", "CSV": "csv"}


@dataclass(frozen=True)
class Server:
    """A running Label Studio."""

    address: str

    def call(self, path: str, body: Any = None) -> Any:
        """JSON in, JSON out."""
        return json.loads(self.fetch(path, body))

    def fetch(self, path: str, body: Any = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data=data, headers=headers)  # noqa: S310 -- loopback
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.code} {error.read()[:500]!r}") from error


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("label_studio", type=Path, help="the program label-studio in its own environment")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port = _free_port()
        process = _start(given.label_studio, folder, port)
        try:
            server = Server(f"http://127.0.0.1:{port}")
            print("Label Studio", _wait(server, process))
            for kind in ("numbers", "classes", "outcomes"):
                check(server, folder / kind, kind)
        finally:
            process.terminate()
            process.wait(timeout=30)
    print("ok")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _start(program: Path, folder: Path, port: int) -> subprocess.Popen[bytes]:
    login = ["--username", "ada@example.org", "--password", "correct horse battery", "--user-token", TOKEN]
    command = [program, "start", "--no-browser", "--port", str(port), "--data-dir", str(folder / "data"), *login]
    log = (folder / "server.log").open("wb")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**clean, **QUIET})


def _wait(server: Server, process: subprocess.Popen[bytes]) -> str:
    """Its version, once it answers."""
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"Label Studio ended with code {process.returncode}")
        try:
            return str(server.call("/api/version")["release"])
        except (OSError, RuntimeError):
            time.sleep(1)
    raise RuntimeError("Label Studio does not answer")


def check(server: Server, folder: Path, kind: str) -> None:
    """One project: what is imported is what was annotated."""
    folder.mkdir()
    campaign = Campaign.create(folder / "c.db", _pool(folder, kind), "srs", budget=12, seed=1)
    items = campaign.ask(n=12)
    outcomes = kind == "outcomes"
    interface = labelling_config(campaign, items, predictions=outcomes, outcomes=outcomes)
    project = server.call("/api/projects", {"title": f"round trip {kind}", "label_config": interface})["id"]
    tasks = json.loads(as_file("label_studio", campaign, items, predictions=outcomes))
    server.call(f"/api/projects/{project}/import", tasks)
    given = _annotate(server, project, kind)
    assert len(given) == 12
    for name, ending in FORMATS.items():
        export = folder / f"{name}.{ending}"
        export.write_bytes(server.fetch(f"/api/projects/{project}/export?exportType={name}"))
        _compare(folder, kind, export, given)
        print(f"  {kind}, {name}: {len(given)} items, as annotated")
    campaign.disconnect()


def _pool(folder: Path, kind: str) -> Path:
    path = folder / "pool.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "prediction", "text"])
        for item in range(40):
            said = item + 0.5 if kind == "numbers" else CLASSES[item % 4]
            writer.writerow(
                [f"item/{item:03d} é", said, f"line one of {item}\nline two <script>alert({item})</script>"]
            )
    return path


def _annotate(server: Server, project: int, kind: str) -> dict[str, str | None]:
    """By item, the label that is given; None: skipped."""
    given: dict[str, str | None] = {}
    listed = server.call(f"/api/projects/{project}/tasks?page_size=100")
    for at, task in enumerate(listed):
        item = task["data"]["id"]
        value, given[item] = _value(kind, at)
        if given[item] == "right":
            given[item] = task["data"]["prediction"]
        result = [{"from_name": "label", "to_name": "item", "type": _type(kind), "value": value}]
        body = {"result": [], "was_cancelled": True} if value is None else {"result": result}
        server.call(f"/api/tasks/{task['id']}/annotations", body)
    return given


def _type(kind: str) -> str:
    return "number" if kind == "numbers" else "choices"


def _value(kind: str, at: int) -> tuple[dict[str, Any] | None, str | None]:
    if at % 5 == 4:
        return None, None
    if kind == "numbers":
        return {"number": at + 0.25}, repr(at + 0.25)
    choice = CLASSES[at % 4] if kind == "classes" else ("right", "wrong")[at % 2]
    return {"choices": [choice]}, choice


def _compare(folder: Path, kind: str, export: Path, given: dict[str, str | None]) -> None:
    """A new campaign with the same items takes the export, and knows what was annotated."""
    place = folder / f"{export.stem}.db"
    with Campaign.create(place, folder / "pool.csv", "srs", budget=12, seed=1) as campaign:
        intake = prepare(campaign, read_lines(export))
        assert intake.faulty == 0, intake.faults
        take(campaign, intake)
        found = {item.id: str(item.label) if item.label else None for item in campaign.state.items.values()}
        done = {name: item for name, item in campaign.state.items.items() if item.done}
        # The flat exports leave out what was skipped: these items stay open.
        wanted = given if export.stem == "JSON" else {name: label for name, label in given.items() if label}
        assert {name: found[name] for name in wanted} == wanted, (kind, export.stem, found, given)
        assert set(done) == set(wanted), (kind, export.stem)


if __name__ == "__main__":
    sys.exit(main())
