"""From a pool and a design to the items to label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy import designs
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design, auxiliaries_of, auxiliary_of, extended
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray


def build_design(design: Design | str, auxiliary: str | None = None, *, earlier: tuple[int, ...] = ()) -> Design:
    """A design from ``name:parameter=value``; one that uses an auxiliary variable gets the one that is named.

    earlier
        Budgets that it had before it was extended, in order.
    """
    name = None if auxiliary is None else auxiliary.strip().lower()
    return extended(designs.registry.build(design, auxiliary=name) if isinstance(design, str) else design, earlier)


def auxiliary_names(design: Design, pool: Pool) -> list[str]:
    """The columns of the pool that the design looks at."""
    return auxiliaries_of(design, derived.automatic(pool))


def choose(
    pool: Pool | str | Path,
    design: Design | str = "waves",
    *,
    budget: int,
    seed: int,
    auxiliary: str | None = None,
    losses: FloatArray | None = None,
    activations: npt.NDArray[Any] | None = None,
) -> Sample:
    """The items to label.

    losses
        What is known so far, one per item of the pool and nan elsewhere: designs that learn on the way (GBS) then go
        on from there.
    """
    pool = sources.load(pool)
    pool.check_budget(budget)
    chosen = build_design(design, auxiliary)
    return chosen.draw(frame_for(pool, chosen, activations), losses, budget=budget, seed=seed)


def frame_for(pool: Pool, design: Design, activations: npt.NDArray[Any] | None) -> Frame:
    """What the design may look at."""
    names = auxiliary_names(design, pool)
    frame = derived.frame(pool, names, activations if design.needs == "activations" else None)
    return frame if auxiliary_of(design) != "auto" else replace(frame, constant=derived.constant(pool))
