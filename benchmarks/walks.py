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
from fieldcheck.accuracy.comparison.simulate import simulate_comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.words import counted

ROOT = Path(fc.__file__).parent
HERE = Path(__file__).parent
BELOW = ("core", "numerics")
"""Folders that everything stands on: they are not counted."""

BYTES = "files"
"""Opening and writing: its modules are counted, but going back and forth between it and a reader is one visit."""


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
        return [folder for folder, _ in groupby(one for one in entered if one not in (*BELOW, BYTES))]

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
    """What one person told the store, to the estimate that another one sees."""
    items = pool(0)
    fc.save(items, folder / "pool.csv")
    with (
        Campaign.create(folder / "campaign.db", folder / "pool.csv", "waves", budget=60) as one,
        Campaign.open(folder / "campaign.db") as other,
    ):
        *waiting, last = one.ask("Ada", n=60)
        for item in waiting:
            one.tell(item, truth_of(items, item), by="Ada")
        other.refresh()
        other.estimate()
        one.tell(last, truth_of(items, last), by="Ada")
        with walking("a label: store to estimate") as walk:
            other.refresh()
            other.estimate()
    return walk


def of_a_campaign(folder: Path) -> Walk:
    """A campaign that nobody has open: its file, its pool, its labels, the estimate."""
    items = pool(0)
    fc.save(items, folder / "pool.csv")
    with Campaign.create(folder / "campaign.db", folder / "pool.csv", "waves", budget=60) as one:
        for item in one.ask("Ada", n=60):
            one.tell(item, truth_of(items, item), by="Ada")
    with walking("a campaign: opened, pool read, estimated") as walk, Campaign.open(folder / "campaign.db") as other:
        other.estimate()
    return walk


def truth_of(items: fc.Pool, item: str) -> str:
    """The true class of an item."""
    assert items.target is not None
    return items.classes[int(items.target[items.position_of([item])[0]])]


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
        simulate_comparison([other, one], budget=60, seed=1)
    return walk


WALKS: tuple[Callable[[Path], Walk], ...] = (of_a_label, of_a_table, of_a_comparison, of_a_campaign)


def walks() -> list[Walk]:
    """Each walked twice: the first time modules are loaded, the second time counts."""
    return [[_walked(walk) for _ in range(2)][-1] for walk in WALKS]


def _walked(walk: Callable[[Path], Walk]) -> Walk:
    with tempfile.TemporaryDirectory() as folder:
        return walk(Path(folder))


def table(found: list[Walk]) -> str:
    """The record, in Markdown."""
    lines = [
        "# Walks",
        "",
        "`python benchmarks/walks.py`: modules outside of `core` and `numerics` that are called, and how often",
        "a folder is entered again that had been left (`files`, where bytes are opened, aside).",
        "The figure is `docs/figures/walks.svg`.",
        "",
        "| walk | modules | returns | folders |",
        "|---|---|---|---|",
    ]
    lines += [f"| {walk.name} | {len(walk.counted)} | {walk.returns} | {len(set(walk.folders))} |" for walk in found]
    for walk in found:
        lines += ["", f"## {walk.name}", "", *(f"{at}. `{one}`" for at, one in enumerate(walk.counted, 1))]
    return "\n".join(lines) + "\n"


LANES = {
    "campaign": "#4477aa",
    "accuracy": "#ee6677",
    "sources": "#228833",
    "files": "#66ccee",
}
"""Colours of folders (Tol's bright scheme, which the colour-blind can tell apart)."""


def figure(found: list[Walk]) -> str:
    """One row a walk, a box a module in the order of the first call, coloured by folder."""
    rows = [row for at, walk in enumerate(found) for row in _drawn(walk, top=30 + 140 * at)]
    legend = [
        f'<rect x="{20 + 120 * at}" y="{140 * len(found) + 24}" width="12" height="12" fill="{colour}"/>'
        f'<text x="{38 + 120 * at}" y="{140 * len(found) + 34}">{folder}</text>'
        for at, (folder, colour) in enumerate(LANES.items())
    ]
    wide = 60 + 26 * max(len(walk.counted) for walk in found)
    size = f'viewBox="0 0 {wide} {140 * len(found) + 50}" font-family="sans-serif" font-size="12"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            '<rect width="100%" height="100%" fill="white"/>',
            *rows,
            *legend,
            "</svg>\n",
        ]
    )


def _drawn(walk: Walk, *, top: int) -> Iterator[str]:
    yield (
        f'<text x="20" y="{top}" font-weight="bold">{walk.name}: {len(walk.counted)} modules, '
        f"{counted(walk.returns, 'return')}</text>"
    )
    for at, module in enumerate(walk.counted):
        x, y = 24 + 26 * at, top + 112
        colour = LANES.get(module.split("/")[0], "#bbbbbb")
        yield f'<rect x="{x - 8}" y="{y - 4}" width="16" height="8" fill="{colour}"/>'
        yield f'<text transform="translate({x},{y - 8}) rotate(-68)" font-size="9">{_short(module)}</text>'


def _short(module: str) -> str:
    *folder, name = module.removesuffix("/__init__").split("/")
    return "/".join((*folder[-1:], name))


if __name__ == "__main__":
    result = walks()
    (HERE / "results" / "walks.md").write_text(table(result), encoding="utf-8")
    (HERE.parent / "docs" / "figures" / "walks.svg").write_text(figure(result), encoding="utf-8")
    for one in result:
        print(f"{one.name}: {len(one.counted)} modules, {counted(one.returns, 'return')}: {' > '.join(one.folders)}")
