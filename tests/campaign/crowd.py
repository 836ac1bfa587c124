"""Pools with people who know the truth about them, and a clock that only moves when told to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import fieldcheck as fc
from fieldcheck.campaign.campaign import Campaign

NAMES = ("cat", "dog", "owl")


@cache
def animals(size: int = 300) -> fc.Pool:
    """Three classes, a seventh mispredicted, mostly those of low confidence; with the truth."""
    rng = np.random.default_rng(11)
    doubt = rng.random(size) ** 4
    predicted = rng.integers(0, 3, size)
    right = rng.random(size) > 0.03 + 0.6 * doubt
    return fc.from_arrays(
        ids=[f"img_{at:03d}" for at in range(size)],
        y_pred=np.array(NAMES)[predicted],
        y_true=np.array(NAMES)[np.where(right, predicted, (predicted + 1) % 3)],
        confidence=1 - doubt,
        auxiliary={"dsa": doubt + 0.3 * rng.random(size)},
    )


@cache
def houses(size: int = 200) -> fc.Pool:
    rng = np.random.default_rng(12)
    predicted = rng.normal(0, 2, size)
    spread = rng.random(size)
    return fc.from_arrays(
        ids=[f"house {at}" for at in range(size)],
        y_pred=predicted,
        y_true=predicted + rng.normal(0, 0.2 + spread),
        auxiliary={"lsa": spread},
    )


def blank(pool: fc.Pool) -> fc.Pool:
    """The pool as the people have it: without the truth."""
    return replace(pool, target=None, failed=None)


def truth(pool: fc.Pool, item: str) -> str:
    assert pool.target is not None
    said = pool.target[pool.position_of([item])[0]]
    return pool.classes[int(said)] if pool.task == "classification" else repr(float(said))


def prediction(pool: fc.Pool, item: str) -> str:
    assert pool.predictions is not None
    return pool.classes[int(pool.predictions[pool.position_of([item])[0]])]


def other(pool: fc.Pool, item: str) -> str:
    """A class that the model did not say."""
    return NAMES[(NAMES.index(prediction(pool, item)) + 1) % 3]


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


def start(folder: Path, pool: fc.Pool, design: str = "waves", **options: object) -> Campaign:
    """A campaign on a pool without its truth."""
    settings: dict[str, object] = {"budget": 60, "seed": 5, **options}
    return Campaign.create(folder / "campaign.db", blank(pool), design, **settings)  # type: ignore[arg-type]


def work(campaign: Campaign, by: str = "Ann", *, n: int = 1) -> Iterator[str]:
    """Items one after the other, until there are none left."""
    while given := campaign.ask(by, n=n):
        yield from given


def label_all(campaign: Campaign, pool: fc.Pool, *, by: str = "Ann") -> None:
    for item in work(campaign, by, n=5):
        campaign.tell(item, truth(pool, item), by=by)
