"""What a label costs in a campaign that has thousands of them, as multiples of a bare commit to the same disk.

    python benchmarks/campaign_speed.py [POSTGRESQL_URL]
    python benchmarks/campaign_speed.py --growth

A campaign of 5,000 labels on a pool of 20,000 items, in SQLite; with a URL, in PostgreSQL too (it leaves a campaign
called ``speed-...`` there). A bare commit is one row written by SQLite with the same settings, to the same folder,
right before each of the labels that are timed.

``--growth``: what asking for an item, telling its label and opening cost at 1,000 and at 100,000 labels, each with its
lease; results/campaign_growth.md. Both campaigns are timed in turns, so that a busy machine slows both.
"""

from __future__ import annotations

import contextlib
import sqlite3
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

import fieldcheck as fc
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.item_state import Annotation
from fieldcheck.core.label import Outcome

T = TypeVar("T")

LABELS, POOL, TIMED = 5_000, 20_000, 300


SIZES = (1_000, 100_000)


def main() -> None:
    if "--growth" in sys.argv:
        growth()
        return
    pool = made_up()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        measure("SQLite", str(Path(folder) / "campaign.db"), pool, Path(folder))
        if len(sys.argv) > 1:
            place = f"{sys.argv[1].partition('?')[0]}?campaign=speed-{uuid.uuid4().hex}"
            measure("PostgreSQL", place, pool, Path(folder))


def measure(name: str, place: str, pool: fc.Pool, folder: Path) -> None:
    campaign = Campaign.create(place, pool, "waves", seed=1, title="speed")
    while len(campaign.state.items) < LABELS:
        for item in campaign.ask("Ann", n=1_000):
            campaign.tell(item, "right", by="Ann")
    campaign.disconnect()
    opened, campaign = timed(lambda: Campaign.open(place, pool=pool))
    with bare(folder / f"{name}.db") as commit:
        commits, asked, told = zip(*(one_label(campaign, commit) for _ in range(TIMED)), strict=True)
    unit = statistics.median(commits)
    say(f"{name}: bare commit (SQLite)", unit, unit)
    say(f"{name}: open, {campaign.state.number - 2 * TIMED:,} events", opened, unit)
    for what, times in (("ask", asked), ("tell", told)):
        say(f"{name}: {what}, median", statistics.median(times), unit)
        say(f"{name}: {what}, 99 of 100", sorted(times)[int(0.99 * TIMED)], unit)
    say(f"{name}: estimate after a label", timed(campaign.estimate)[0], unit)
    say(f"{name}: progress after a label", timed(campaign.progress)[0], unit)
    say(f"{name}: development, first time", timed(campaign.view.development)[0], unit)
    one_label(campaign, lambda: None)
    say(f"{name}: development, one label on", timed(campaign.view.development)[0], unit)
    campaign.disconnect()


def growth() -> None:
    """A table with one row per size, and how much dearer the larger one is."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        campaigns, opened = zip(*(grown(Path(folder) / f"{size}.db", size) for size in SIZES), strict=True)
        turns = [[turn(campaign) for campaign in campaigns] for _ in range(TIMED)]
        print("| labels | ask | tell | both | of these CPU | open, CPU |\n|---|---|---|---|---|---|")
        both, work = list[float](), list[float]()
        for at, size in enumerate(SIZES):
            asked, told, worked = (statistics.median(turn[at][part] for turn in turns) for part in range(3))
            both.append(asked + told)
            work.append(worked)
            cells = [f"{1000 * seconds:.2f} ms" for seconds in (asked, told, asked + told, worked)]
            print(f"| {size:,} | {' | '.join(cells)} | {opened[at]:.2f} s |")
        times = f"{both[1] / both[0]:.2f} times ({work[1] / work[0]:.2f} times the CPU)"
        print(f"\nA label among {SIZES[1]:,} costs {times} of one among {SIZES[0]:,}.")


def turn(campaign: Campaign) -> tuple[float, float, float]:
    """Seconds of asking and of telling, and the CPU seconds of both."""
    begun = time.process_time()
    _, asked, told = one_label(campaign, lambda: None)
    return asked, told, time.process_time() - begun


def grown(path: Path, size: int) -> tuple[Campaign, float]:
    """A campaign with so many labels and as many leases, and the CPU seconds of opening it."""
    pool = made_up(size + TIMED + 100)
    with Campaign.create(path, pool, "srs", budget=len(pool), seed=1) as campaign:
        items = campaign.ask("Ann", n=size)
        campaign.tell_all([Annotation(item, Outcome(right=True), "Ann") for item in items])
    begun = time.process_time()
    campaign = Campaign.open(path, pool=pool)
    return campaign, time.process_time() - begun


def one_label(campaign: Campaign, commit: Callable[[], None]) -> tuple[float, float, float]:
    """Seconds of a bare commit, of asking, and of telling, one right after the other."""
    committed, _ = timed(commit)
    asked, (item,) = timed(lambda: campaign.ask("Ann"))
    told, _ = timed(lambda: campaign.tell(item, "right", by="Ann"))
    return committed, asked, told


def timed(call: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def say(what: str, seconds: float, unit: float) -> None:
    print(f"{what:<40} {1000 * seconds:8.2f} ms  {seconds / unit:8.1f} commits")


@contextlib.contextmanager
def bare(path: Path) -> Iterator[Callable[[], None]]:
    """Writes one row of the size of an event, flushed to disk."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE rows (text TEXT)")

        def commit() -> None:
            connection.execute("INSERT INTO rows VALUES (?)", ("x" * 300,))

        yield commit


def made_up(size: int = POOL) -> fc.Pool:
    rng = np.random.default_rng(1)
    doubt = rng.random(size) ** 4
    return fc.from_arrays(
        ids=[f"img_{at:05d}" for at in range(size)],
        y_pred=np.array(["cat", "dog", "owl"])[rng.integers(0, 3, size)],
        confidence=1 - doubt,
    )


if __name__ == "__main__":
    main()
