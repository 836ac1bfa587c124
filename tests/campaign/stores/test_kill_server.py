"""Six people label through a server that is killed at work: what was acknowledged is there, once.

``FIELDCHECK_KILLS`` and ``FIELDCHECK_KILL_RESULT`` as for ``test_kill``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import fieldcheck as fc
from fieldcheck.campaign.campaign import Campaign

from .people import CLASSES, pool
from .test_kill import PATIENCE, report

KILLS = int(os.environ.get("FIELDCHECK_KILLS", "2"))
CODE = {"PYTHONPATH": str(Path(fc.__file__).parents[1])}
ITEMS_PER_KILL = 800
"""More than six people label between two kills."""


NAMES = ("Ann", "Bob", "Cay", "Dan", "Eve", "Fay")
"""Several: what they send at once is stored at one go."""


class Server:
    """``fieldcheck label``, started again after it was killed."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "fieldcheck", "label", self.place, "--port", "0", "--no-browser"]
        self.process = subprocess.Popen(command, env=os.environ | CODE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = re.findall(r"http://\S+", self.process.stdout.readline())[0]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


class Person(threading.Thread):
    """Somebody whose page sends again, under the same key, whatever was not acknowledged."""

    def __init__(self, name: str, server: Server) -> None:
        super().__init__()
        self.by, self.server = name, server
        self.web = httpx.Client(timeout=PATIENCE)
        campaign = self.web.get(f"{server.address}api/campaign").json()["campaign"]
        self.who = {"campaign": campaign, "by": name}
        self.sent = dict[str, tuple[str, str]]()
        self.acknowledged = dict[str, int]()
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.is_set():
            for item in (self.post("next", n=4) or {"items": []})["items"]:
                key, label = uuid.uuid4().hex, CLASSES[len(self.sent) % 3]
                self.sent[key] = item["id"], label
                if (said := self.post("label", key=key, item=item["id"], label=label)) is not None:
                    self.acknowledged[key] = said["number"]

    def post(self, path: str, **fields: Any) -> Any:
        """The answer, however often the server is killed before it comes; None at the end of the day."""
        while not self.done.is_set():
            try:
                answer = self.web.post(f"{self.server.address}api/{path}", json=self.who | fields)
            except httpx.HTTPError:
                time.sleep(0.02)
                continue
            assert answer.status_code == 200, answer.text
            return answer.json()
        return None


def test_a_server_that_is_killed_at_work(kind: str, place: str, tmp_path: Path) -> None:
    fc.save(pool(ITEMS_PER_KILL * (KILLS + 1)), tmp_path / "pool.csv")
    Campaign.create(place, tmp_path / "pool.csv", "srs", budget=ITEMS_PER_KILL * KILLS, lease_seconds=600).disconnect()
    server = Server(place)
    people = [Person(name, server) for name in NAMES]
    try:
        for person in people:
            person.start()
        killed = sum(
            killed_at_work(server, people, pause) for pause in np.random.default_rng(KILLS).uniform(0, 0.5, KILLS)
        )
    finally:
        for person in people:
            person.done.set()
        for person in people:
            person.join()
        server.kill()
    assert killed == KILLS
    check(place, people, kind)


def killed_at_work(server: Server, people: list[Person], pause: float) -> bool:
    """Kill it some time after the first label that it acknowledged; whether it was running until then."""
    before, end = count(people), time.monotonic() + PATIENCE
    while count(people) == before:
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(pause)
    running = server.process.poll() is None
    server.kill()
    server.start()
    return running


def count(people: list[Person]) -> int:
    return sum(len(person.acknowledged) for person in people)


def check(place: str, people: list[Person], kind: str) -> None:
    with Campaign.open(place) as campaign:
        stored = [event for event in campaign.log.events() if event.kind == "labelled"]
    times = Counter(event.key for event in stored)
    found = {(event.key, event.by, event.item, event.data["label"]["class"], event.number) for event in stored}
    acknowledged = {(key, one.by, *one.sent[key], number) for one in people for key, number in one.acknowledged.items()}
    numbers = {
        "kills at work": KILLS,
        "acknowledged": len(acknowledged),
        "stored": len(stored),
        "lost": len(acknowledged - found),
        "doubled": sum(many > 1 for many in times.values()),
    }
    report(f"{kind} server", numbers)
    assert acknowledged
    assert acknowledged <= found
    assert len(times) == len(stored)
    assert set(times) <= {key for person in people for key in person.sent}
