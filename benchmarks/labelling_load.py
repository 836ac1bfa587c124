"""Many people label through one server: how long a label takes until it is acknowledged, beside a bare commit.

    python benchmarks/labelling_load.py [--people 20] [--labels 5000] [--pause 0.5] [--storage postgresql://...]

A pool of 20,000 items, technique waves. The server is a process of its own, as `fieldcheck label` starts it, with its
live estimate. Everybody asks for items as the page does, thinks for --pause seconds on average, and labels; another
process listens, once for each person, to the live estimate and fetches the failures, as the pages do. Before and after,
a bare commit of one event to the same kind of store is timed. Afterwards every acknowledged label is looked for in the
store. The table is printed as Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.stores import open_store
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources import save
from fieldcheck.sources.pools.arrays import from_arrays

ITEMS = 20_000
CLASSES = 10
COMMITS = 200


@dataclass
class Tally:
    """What all people together have seen. Times in milliseconds."""

    left: int
    label_times: list[float] = field(default_factory=list)
    next_times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> bool:
        """Whether one more label is wanted; if so, it counts as given."""
        with self.lock:
            self.left -= 1
            return self.left >= 0


def make_pool(rng: np.random.Generator) -> tuple[Pool, list[str]]:
    """A pool whose doubts say something about its failures, and its truth."""
    truth = rng.integers(0, CLASSES, ITEMS)
    confidence = 0.5 + 0.5 * rng.beta(4, 1, ITEMS)
    wrong = rng.random(ITEMS) > confidence
    said = np.where(wrong, (truth + 1) % CLASSES, truth)
    names = [f"class {code}" for code in range(CLASSES)]
    pool = from_arrays(
        ids=[f"item-{at:05d}" for at in range(ITEMS)],
        y_pred=[names[code] for code in said],
        confidence=confidence,
        metadata={"text": [f"the text of item {at}" for at in range(ITEMS)]},
        name="load",
    )
    return pool, [names[code] for code in truth]


class Visitor:
    """One page: a connection that is kept, and the times of what was sent over it."""

    def __init__(self, name: str, address: str, tally: Tally) -> None:
        self.name, self.tally = name, tally
        self.connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        self.campaign = self.send("GET", "/api/campaign")["campaign"]

    def send(self, method: str, path: str, **fields: Any) -> dict[str, Any]:
        body = json.dumps({"campaign": self.campaign, "by": self.name, **fields}) if fields else None
        self.connection.request(method, path, body, {"content-type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            self.tally.errors.append(text)
        return dict(json.loads(text))

    def work(self, truth: list[str], pause: float) -> None:
        """Ask, think, label, until enough is labelled."""
        rng = np.random.default_rng(int(self.name[-2:]))
        while self.tally.left > 0:
            items = self.ask()
            if not items:
                time.sleep(0.2)
            for item in items:
                time.sleep(rng.exponential(pause))
                if self.tally.take():
                    self.tell(item["id"], truth[int(item["id"][-5:])])

    def ask(self) -> list[dict[str, Any]]:
        begun = time.perf_counter()
        items = self.send("POST", "/api/next", n=5).get("items", [])
        self.tally.next_times.append(1e3 * (time.perf_counter() - begun))
        return list(items)

    def tell(self, item: str, label: str) -> None:
        begun = time.perf_counter()
        said = self.send("POST", "/api/label", key=str(uuid.uuid4()), item=item, label=label)
        self.tally.label_times.append(1e3 * (time.perf_counter() - begun))
        if said.get("saved"):
            self.tally.acknowledged[item] = label


async def listen(web: httpx.AsyncClient) -> None:
    """What a page does beside labelling: hear each new estimate, and fetch the failures when there are more."""
    failures = 0
    async with web.stream("GET", "/api/events", timeout=None) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                found = json.loads(line[6:])["progress"]["failures"]
                if found != failures:
                    failures = found
                    await web.get("/api/failures")


def audience(address: str, people: int) -> None:
    """All the listening, in a process of its own: it must not delay those whose requests are timed."""

    async def all_of_them() -> None:
        async with httpx.AsyncClient(base_url=address, timeout=60, limits=httpx.Limits(max_connections=None)) as web:
            await asyncio.gather(*(listen(web) for _ in range(people)), return_exceptions=True)

    asyncio.run(all_of_them())


def everybody(address: str, truth: list[str], options: argparse.Namespace) -> tuple[Tally, float]:
    tally = Tally(left=options.labels)
    listeners = multiprocessing.get_context("spawn").Process(target=audience, args=(address, options.people))
    listeners.start()
    visitors = [Visitor(f"person {at:02d}", address, tally) for at in range(options.people)]
    threads = [threading.Thread(target=one.work, args=(truth, options.pause)) for one in visitors]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begun
    listeners.terminate()
    listeners.join()
    return tally, took


@contextmanager
def server(storage: str, pool: Path) -> Iterator[str]:
    """The address of a server, as a person would start it."""
    command = [sys.executable, "-m", "fieldcheck", "label", storage, "--port", "0", "--no-browser", "--pool", str(pool)]
    with subprocess.Popen([*command], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        found = re.findall(r"http://\S+", child.stdout.readline())
        yield found[0]
        child.terminate()


def bare_commits(storage: str) -> list[float]:
    """Milliseconds of one event each, in a store that nobody else uses."""
    store = open_store(storage, create=True)
    seen, times = max((event.number for event in store.read()), default=0), []
    for _ in range(COMMITS):
        event = Event("labelled", uuid.uuid4().hex, item="item-00000", by="person", at=0.0, data={"label": "class 1"})
        begun = time.perf_counter()
        store.append([event], seen=seen)
        times.append(1e3 * (time.perf_counter() - begun))
        seen += 1
    store.close()
    return times


def beside(storage: str, name: str) -> str:
    """Another store of the same kind."""
    if "://" in storage:
        return re.sub(r"campaign=[^&]*", f"campaign={name}", storage)
    return str(Path(storage).with_name(f"{name}.db"))


def check(storage: str, pool: Pool, tally: Tally) -> int:
    """Acknowledged labels that are not in the store, exactly once."""
    with Campaign.open(storage, pool=pool) as campaign:
        stored = [(event.item, event.data["label"]) for event in campaign.log.events() if event.kind == "labelled"]
    assert len(stored) == len(set(stored))
    return sum((item, label) not in set(stored) for item, label in tally.acknowledged.items())


def row(name: str, times: list[float]) -> str:
    p50, p99 = np.percentile(times, [50, 99])
    return f"| {name} | {len(times):,} | {p50:.1f} | {p99:.1f} | {max(times):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--labels", type=int, default=5_000)
    parser.add_argument("--pause", type=float, default=0.5)
    parser.add_argument("--storage", default="")
    options = parser.parse_args()
    pool, truth = make_pool(np.random.default_rng(1))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pool.parquet"
        save(pool, file)
        storage = options.storage or str(Path(folder) / "c.db")
        Campaign.create(storage, file, budget=options.labels + 20 * options.people, seed=1).disconnect()
        commits = bare_commits(beside(storage, f"bare{uuid.uuid4().hex[:8]}"))
        with server(storage, file) as address:
            tally, took = everybody(address, truth, options)
        commits += bare_commits(beside(storage, f"bare{uuid.uuid4().hex[:8]}"))
        lost = check(storage, pool, tally)
    show(options, tally, commits, took=took, lost=lost)


def show(options: argparse.Namespace, tally: Tally, commits: list[float], *, took: float, lost: int) -> None:
    ratio = np.median(tally.label_times) / np.median(commits)
    kind = "PostgreSQL" if options.storage else "SQLite"
    print(f"{kind}: {options.people} people, {len(tally.acknowledged):,} labels in {took:.0f} s,")
    print(f"{len(tally.errors)} errors, {lost} acknowledged labels lost.")
    print(f"Median of a label request over that of a bare commit: {ratio:.1f}.\n")
    print("| ms | requests | p50 | p99 | longest |\n|---|---|---|---|---|")
    print(row("label", tally.label_times))
    print(row("next items", tally.next_times))
    print(row("bare commit", commits))
    for text in tally.errors[:5]:
        print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
