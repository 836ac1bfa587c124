"""Studies that go on where they stopped: one line per campaign, written as soon as it has been played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Play = Callable[[range], Sequence[Sequence[float]]]
"""What campaigns with these seeds gave: a row of numbers for each."""


def campaigns(
    journal: Path | None, cell: tuple[str, ...], seeds: range, play: Play, *, together: int = 1
) -> FloatArray:
    """A row for each seed. Campaigns of this cell that the journal has are not played again.

    together
        So many are played in one call of ``play``, and written after it.
    """
    known = journal.read_text(encoding="utf-8").splitlines() if journal and journal.exists() else []
    head = len(cell) + 1
    lines = [line.split("\t") for line in known]
    rows = {
        int(one[head - 1]): [float(value) for value in one[head:]] for one in lines if tuple(one[: head - 1]) == cell
    }
    for first in range(seeds.start, seeds.stop, together):
        part = range(first, min(first + together, seeds.stop))
        if all(seed in rows for seed in part):
            continue
        found = {seed: [float(value) for value in row] for seed, row in zip(part, play(part), strict=True)}
        rows |= found
        if journal:
            with journal.open("a", encoding="utf-8") as file:
                file.writelines(
                    "\t".join((*cell, str(seed), *(f"{one:.6g}" for one in row))) + "\n" for seed, row in found.items()
                )
    return np.array([rows[seed] for seed in seeds], dtype=np.float64)
