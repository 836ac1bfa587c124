"""Which modules a label, a table and a comparison walk through, and how often they come back to a folder they left.

python benchmarks/walks.py            # writes benchmarks/results/walks.md and docs/figures/walks.svg
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import fieldcheck as fc
from fieldcheck.accuracy.comparison.simulate import compare
from fieldcheck.campaign.campaign import Campaign

ROOT = Path(fc.__file__).parent
HERE = Path(__file__).parent
BELOW = ("core", "numerics")
"""Folders that everything stands on: they are not counted."""


@dataclass
class Walk:
    """Modules in the order in which their functions were called."""

    name: str
    modules: list[str] = field(default_factory=list)

    def seen(self, frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT) and frame.f_code.co_name != "<module>":
            self.modules.append(path.relative_to(ROOT).with_suffix("").as_posix())

    @property
    def counted(self) -> list[str]:
        """Those above the ground, each once, in the order of the first call."""
        return [one for one in dict.fromkeys(self.modules) if one.split("/")[0] not in BELOW]

    @property
    def folders(self) -> list[str]:
        """Folders in the order in which they were entered; staying in one counts once."""
        entered = (one.split("/")[0] for one in self.modules)
        return [folder for folder, _ in groupby(one for one in entered if one not in BELOW)]

    @property
    def returns(self) -> int:
        """How often a folder was entered again that had been left."""
        return len(self.folders) - len(set(self.folders))


@contextmanager
def walking(name: str) -> Iterator[Walk]:
    """Record what is called inside."""
    walk = Walk(name)
    sys.setprofile(walk.seen)
    try:
        yield walk
    finally:
        sys.setprofile(None)


def pool(seed: int, name: str = "pool") -> fc.Pool:
    """Four hundred items with confidences and truths."""
    rng = np.random.default_rng(seed)
    sure = rng.uniform(0.4, 1, 400)
    truth = np.arange(400) % 3
    said = np.where(rng.random(400) < sure, truth, (truth + 1) % 3)
    return fc.from_arrays(y_pred=said, y_true=truth, confidence=sure, name=name)


def of_a_label(folder: Path) -> Walk:
    """From the store to the estimate."""
    items = pool(0)
    fc.save(items, folder / "campaign.csv")
    campaign = Campaign.create(folder / "campaign.db", folder / "campaign.csv", "waves", budget=60)
    while waiting := campaign.next("Ada", 10):
        for item in waiting:
            campaign.label(item, str(items.target[items.position_of([item])[0]]), "Ada")  # type: ignore[index]
    campaign.disconnect()
    again = Campaign.open(folder / "campaign.db")
    with walking("a label: store to estimate") as walk:
        again.refresh() if hasattr(again, "refresh") else None
        again.view.estimate()
    again.disconnect()
    return walk


def of_a_table(folder: Path) -> Walk:
    """From a CSV to the items of the first wave."""
    fc.save(pool(0), folder / "pool.csv")
    with walking("a table: CSV to first wave") as walk:
        fc.sample(folder / "pool.csv", budget=40, seed=1)
    return walk


def of_a_comparison(folder: Path) -> Walk:
    """Two models on one pool, to the statement."""
    one, other = pool(0), pool(1, "challenger")
    with walking("a comparison: two pools to statement") as walk:
        compare(other, one, budget=60, seed=1)
    return walk


WALKS: tuple[Callable[[Path], Walk], ...] = (of_a_label, of_a_table, of_a_comparison)


def walks() -> list[Walk]:
    """Each walked twice: the first time modules are loaded, the second time counts."""
    found = []
    for walk in WALKS:
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                last = walk(Path(folder))
        found.append(last)
    return found


def table(found: list[Walk]) -> str:
    """The record, in Markdown."""
    lines = [
        "# Walks",
        "",
        "`python benchmarks/walks.py`: modules outside of `core` and `numerics` whose functions are called, and how often",
        "a folder is entered again that had been left. The figure is `docs/figures/walks.svg`.",
        "",
        "| walk | modules | returns | folders |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {walk.name} | {len(walk.counted)} | {walk.returns} | {len(set(walk.folders))} |" for walk in found
    ]
    for walk in found:
        lines += ["", f"## {walk.name}", "", *(f"{at}. `{one}`" for at, one in enumerate(walk.counted, 1))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    result = walks()
    print(table(result))
    for one in result:
        print(one.name, one.folders[:60])
