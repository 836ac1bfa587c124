"""Campaigns to look at, and a real server for them."""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.web import create_app
from fieldcheck.web.serve import _bound, _config, _Server

SIZE = 200
TRUTH = np.arange(SIZE) % 3
CLASSES = ("cat", "dog", "owl")

LEADS = "the-token-of-the-lead"

PATIENCE = 120.0
"""Seconds that a busy machine may take for anything."""


def animals(**metadata: list[str]) -> Pool:
    """A pool whose truth is the position modulo 3; every fifth item is a failure, and looks a little like one."""
    wrong = np.arange(SIZE) % 5 == 0
    said = np.where(wrong, (TRUTH + 1) % 3, TRUTH)
    rng = np.random.default_rng(7)
    return from_arrays(
        ids=[f"item-{at:03d}" for at in range(SIZE)],
        y_pred=[CLASSES[code] for code in said],
        confidence=np.where(wrong, 0.6, 0.8) + 0.15 * rng.random(SIZE),
        metadata=metadata or {"text": [f"the sound of number {at}" for at in range(SIZE)]},
        name="animals",
    )


def truth_of(item: str) -> str:
    return CLASSES[TRUTH[int(item[-3:])]]


@dataclass(frozen=True)
class Site:
    """A campaign that is being served.

    tokens
        By name, those of the people who were invited, and of the lead.
    """

    url: str
    campaign: Campaign
    name: str
    tokens: Mapping[str, str] = field(default_factory=dict)

    def body(self, **fields: Any) -> dict[str, Any]:
        return {"campaign": self.name, "by": "Ada", **fields}

    def act(self, **fields: Any) -> dict[str, Any]:
        return self.body(key=str(uuid.uuid4()), **fields)

    def visitor(self, name: str = "") -> httpx.Client:
        """A program that asks: as a person, or without saying who."""
        headers = {"authorization": f"Bearer {self.tokens[name]}"} if name else {}
        return httpx.Client(base_url=self.url, timeout=PATIENCE, headers=headers)

    def link(self, name: str) -> str:
        return f"{self.url}/?token={self.tokens[name]}" if self.tokens else self.url


@contextlib.contextmanager
def served(campaign: Campaign, *, people: Sequence[str] = (), **options: Any) -> Iterator[Site]:
    """A server; with people, they and the lead have links of their own."""
    tokens = {**campaign.invite(people), "lead": LEADS} if people else {}
    app = create_app(campaign, **({"token": LEADS, "lead": "lead"} if people else {}), **options)
    with _bound("127.0.0.1", 0) as listener:
        server = _Server(_config(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield Site(f"http://127.0.0.1:{listener.getsockname()[1]}", campaign, app.state.campaign, tokens)
        finally:
            for watch in app.state.watches:
                watch.let_go()
            server.should_exit = True
            thread.join()


Start = Callable[..., Site]


@contextlib.contextmanager
def starting(folder: Path) -> Iterator[Start]:
    """Start campaigns in a folder and serve them: options of both."""
    with contextlib.ExitStack() as stack:

        def make(
            pool: Pool | None = None, *, people: Sequence[str] = (), serve: dict[str, Any] | None = None, **options: Any
        ) -> Site:
            place = folder / f"{uuid.uuid4().hex}.db"
            campaign = Campaign.create(place, pool or animals(), **{"budget": 40, "seed": 1, **options})
            stack.callback(campaign.disconnect)
            return stack.enter_context(served(campaign, people=people, **(serve or {})))

        yield make
