"""Many people label through one server: how long a label takes until it is acknowledged, beside a bare commit.

    python benchmarks/labelling_load.py [--people 50] [--labels 20000] [--items 1000000] [--pause 0.25]
                                        [--design waves] [--storage postgresql://...]

The server is a process of its own, as `fieldcheck label --invite` starts it. Everybody has a link, asks for items as
the page does, thinks for --pause seconds on average, and labels; another process listens, once for each person, to the
progress, and once, as the lead, to the desk with its live estimate. Before and after, a bare commit of one event to
the same kind of store is timed. The server's CPU time and memory are read from /proc at each tenth of the labels.
Afterwards every acknowledged label is looked for in the store. The table is printed as Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
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

CLASSES = 10
COMMITS = 200


@dataclass
class Tally:
    """What all people together have seen. Times in milliseconds."""

    left: int
    all: int
    child: int
    label_times: list[float] = field(default_factory=list)
    next_times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)
    costs: list[tuple[float, float]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> bool:
        """Whether one more label is wanted; if so, it counts as given. At each tenth, what the server took is noted."""
        with self.lock:
            if self.left % (self.all // 10) == 0 and self.left >= 0:
                self.costs.append(cost_of(self.child))
            self.left -= 1
            return self.left >= 0


def cost_of(child: int) -> tuple[float, float]:
    """CPU seconds of a process so far, and its memory in MB."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    ticks, pages = int(fields[11]) + int(fields[12]), int(fields[21])
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def make_pool(rng: np.random.Generator, items: int) -> tuple[Pool, list[str]]:
    """A pool whose doubts say something about its failures, and its truth."""
    truth = rng.integers(0, CLASSES, items)
    confidence = 0.5 + 0.5 * rng.beta(4, 1, items)
    wrong = rng.random(items) > confidence
    said = np.where(wrong, (truth + 1) % CLASSES, truth)
    names = [f"class {code}" for code in range(CLASSES)]
    pool = from_arrays(
        ids=[f"item-{at:07d}" for at in range(items)],
        y_pred=[names[code] for code in said],
        confidence=confidence,
        metadata={"text": [f"the text of item {at}" for at in range(items)]},
        name="load",
    )
    return pool, [names[code] for code in truth]


class Visitor:
    """One page: a connection that is kept, and the times of what was sent over it."""

    def __init__(self, name: str, link: str, tally: Tally) -> None:
        self.name, self.tally = name, tally
        address, _, token = link.partition("?token=")
        self.headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        self.connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        self.campaign = self.send("GET", "/api/campaign")["campaign"]

    def send(self, method: str, path: str, **fields: Any) -> dict[str, Any]:
        body = json.dumps({"campaign": self.campaign, "by": self.name, **fields}) if fields else None
        self.connection.request(method, path, body, self.headers)
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
                    self.tell(item["id"], truth[int(item["id"][-7:])])

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


async def listen(link: str, path: str) -> None:
    """What a page does beside labelling: hear how far it is, or, as the lead, each new estimate."""
    address, _, token = link.partition("?token=")
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(base_url=address, headers=headers) as web,
        web.stream("GET", f"/api/{path}/events", timeout=None) as stream,
    ):
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                json.loads(line[6:])


def audience(links: dict[str, str]) -> None:
    """All the listening, in a process of its own: it must not delay those whose requests are timed."""

    async def all_of_them() -> None:
        paths = {name: "desk/state" if name == "lead" else "progress" for name in links}
        await asyncio.gather(*(listen(links[name], path) for name, path in paths.items()), return_exceptions=True)

    asyncio.run(all_of_them())


def everybody(links: dict[str, str], child: int, truth: list[str], options: argparse.Namespace) -> tuple[Tally, float]:
    tally = Tally(left=options.labels, all=options.labels, child=child)
    listeners = multiprocessing.get_context("spawn").Process(target=audience, args=(links,))
    listeners.start()
    visitors = [Visitor(name, link, tally) for name, link in links.items() if name != "lead"]
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
def server(storage: str, pool: Path, people: list[str]) -> Iterator[tuple[dict[str, str], int]]:
    """The links by name, and the process, of a server as a person would start it."""
    command = [sys.executable, "-m", "fieldcheck", "label", storage, "--port", "0", "--no-browser", "--pool", str(pool)]
    with subprocess.Popen([*command, "--invite", ",".join(people)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(len(people) + 1)]
        found = [re.match(r"(.+?)(?: at|:) (http\S+)", line) for line in lines]
        yield {one[1]: one[2] for one in found if one is not None}, child.pid
        child.terminate()


def bare_commits(storage: str) -> list[float]:
    """Milliseconds of one event each, in a store that nobody else uses."""
    store = open_store(storage, create=True)
    seen, times = max((event.number for event in store.read()), default=0), []
    for _ in range(COMMITS):
        event = Event("labelled", uuid.uuid4().hex, item="item-0000000", by="person", at=0.0, data={"label": "class 1"})
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
        given = Counter(event.item for event in campaign.log.events() if event.kind == "labelled")
        standing = {item.id: str(item.label) for item in campaign.state.items.values() if item.standing == "labelled"}
    wanted = tally.acknowledged.items()
    return sum(given[item] != 1 or standing.get(item) != label for item, label in wanted)


def row(name: str, times: list[float]) -> str:
    p50, p99 = np.percentile(times, [50, 99])
    return f"| {name} | {len(times):,} | {p50:.1f} | {p99:.1f} | {max(times):.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--pause", type=float, default=0.25)
    parser.add_argument("--design", default="waves")
    parser.add_argument("--storage", default="")
    options = parser.parse_args()
    pool, truth = make_pool(np.random.default_rng(1), options.items)
    people = [f"person {at:02d}" for at in range(options.people)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pool.parquet"
        save(pool, file)
        storage = options.storage or str(Path(folder) / "c.db")
        budget = options.labels + 20 * options.people
        Campaign.create(storage, file, options.design, budget=budget, seed=1).disconnect()
        commits = bare_commits(beside(storage, f"bare{uuid.uuid4().hex[:8]}"))
        with server(storage, file, people) as (links, child):
            tally, took = everybody(links, child, truth, options)
        commits += bare_commits(beside(storage, f"bare{uuid.uuid4().hex[:8]}"))
        lost = check(storage, pool, tally)
    show(options, tally, commits, took=took, lost=lost)


def show(options: argparse.Namespace, tally: Tally, commits: list[float], *, took: float, lost: int) -> None:
    p50, p99 = np.percentile(tally.label_times, [50, 99])
    kind = "PostgreSQL" if options.storage else "SQLite"
    cpu, memory = ([cost[at] for cost in tally.costs] for at in (0, 1))
    print(f"{kind}, {options.design}, pool of {options.items:,}: {options.people} people,")
    print(f"{len(tally.acknowledged):,} labels in {took:.0f} s, {len(tally.errors)} errors, {lost} acknowledged lost.")
    print(f"p99 of a label over the median: {p99 / p50:.1f}; that over a bare commit: {p50 / np.median(commits):.1f}.")
    print(f"CPU of the server: {1e3 * (cpu[-1] - cpu[0]) / options.labels:.2f} ms a label.")
    print("Memory in MB at each tenth:", ", ".join(f"{size:.0f}" for size in memory) + ".\n")
    print("| ms | requests | p50 | p99 | longest |\n|---|---|---|---|---|")
    print(row("label", tally.label_times))
    print(row("next items", tally.next_times))
    print(row("bare commit", commits))
    for text in tally.errors[:5]:
        print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
