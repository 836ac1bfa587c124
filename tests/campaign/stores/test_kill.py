"""Four people label while their processes are killed at random moments: no acknowledged label is lost or doubled.

``FIELDCHECK_KILLS`` says how often; ``FIELDCHECK_KILL_RESULT`` names a folder to leave the numbers in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import fieldcheck as fc
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.stores.base import Event

from .people import pool
from .worker import MOST

PEOPLE = ("Ann", "Bob", "Cy", "Di")
WORKER = Path(__file__).with_name("worker.py")
KILLS = int(os.environ.get("FIELDCHECK_KILLS", "4"))
PATIENCE = 300.0
"""Seconds in which a process must have been at work."""


class Person:
    """A process that labels, and starts again after it was killed."""

    def __init__(self, name: str, place: str, folder: Path) -> None:
        self.name, self.place, self.journal = name, place, folder / f"{name}.journal"
        self.killed_at_work = 0
        self.journal.touch()
        self.start()

    def start(self) -> None:
        self.before = len(self.acknowledged())
        command = [sys.executable, WORKER, self.place, self.name, self.journal]
        self.process = subprocess.Popen(command)

    def await_work(self) -> None:
        """Until it has had something acknowledged since it started."""
        end = time.monotonic() + PATIENCE
        while len(self.acknowledged()) == self.before:
            assert self.process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)

    def kill(self) -> None:
        """It counts if it was running, and had something acknowledged since it started."""
        running = self.process.poll() is None
        self.process.kill()
        self.process.wait()
        self.killed_at_work += running and len(self.acknowledged()) > self.before

    def entries(self) -> list[dict[str, Any]]:
        lines = self.journal.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def acknowledged(self) -> list[dict[str, Any]]:
        return [entry for entry in self.entries() if "number" in entry]


def test_nothing_acknowledged_is_lost_or_doubled(kind: str, place: str, tmp_path: Path) -> None:
    # More than all processes together label: nobody is done before the last of them is killed.
    size = (MOST + 10) * (len(PEOPLE) + KILLS)
    fc.save(pool(size), tmp_path / "pool.csv")
    # Short leases: what somebody had in their hands when they were killed is soon somebody else's.
    Campaign.create(place, tmp_path / "pool.csv", seed=1, lease_seconds=0.5).disconnect()
    people = [Person(name, place, tmp_path) for name in PEOPLE]
    try:
        labour(people, np.random.default_rng(KILLS))
    finally:
        for person in people:
            person.kill()
    with Campaign.open(place) as campaign:
        check(campaign, people, kind)


def labour(people: list[Person], rng: np.random.Generator) -> None:
    """One after the other is killed, each at a random moment of its work; all of them once more at the end, at work."""
    for kill in range(KILLS):
        person = people[kill % len(people)]
        person.await_work()
        time.sleep(float(rng.uniform(0, 0.5)))
        person.kill()
        person.start()
    for person in people:
        person.await_work()


def check(campaign: Campaign, people: list[Person], kind: str) -> None:
    stored = [event for event in campaign.log.events() if event.kind == "labelled"]
    times = Counter(event.key for event in stored)
    acknowledged = {entry["key"]: (person.name, entry) for person in people for entry in person.acknowledged()}
    announced = {entry["key"] for person in people for entry in person.entries()}
    by_key = {event.key: event for event in stored}
    lost = [key for key, (name, entry) in acknowledged.items() if not is_same(by_key.get(key), name, entry)]
    doubled = [key for key, count in times.items() if count > 1]
    marks = [mark for item in campaign.state.items.values() for mark in item.labels]
    killed = sum(person.killed_at_work for person in people)
    report(
        kind,
        {
            "kills at work": killed,
            "acknowledged": len(acknowledged),
            "stored": len(stored),
            "stored, acknowledgement lost with the process": len(stored) - len(acknowledged),
            "lost": len(lost),
            "doubled": len(doubled),
        },
    )
    assert killed == KILLS + len(people)
    assert lost == []
    assert doubled == []
    assert set(times) <= announced
    assert len(marks) == len(stored)


def is_same(event: Event | None, name: str, entry: dict[str, Any]) -> bool:
    found = event and (event.by, event.item, event.data["label"]["class"], event.number)
    return found == (name, entry["item"], entry["label"], entry["number"])


def report(kind: str, numbers: dict[str, int]) -> None:
    folder = os.environ.get("FIELDCHECK_KILL_RESULT")
    if folder:
        (Path(folder) / f"{kind}.json").write_text(json.dumps(numbers))
