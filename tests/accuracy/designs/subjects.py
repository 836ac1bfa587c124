"""Pools to simulate on: one that is hard by construction, and the published ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.sources import load

AUXILIARY = ("confidence", "dsa", "lsa")


@cache
def subject(path: Path, auxiliary: tuple[str, ...] = AUXILIARY) -> Field:
    return Field.of(load(path), auxiliary=auxiliary)


def hard_pool(task: str = "classification") -> tuple[Frame, np.ndarray]:
    """2,000 items; a third has no auxiliary value at all, and a tenth of those fails as well."""
    chi = np.maximum(uniforms(stream(0, "chi"), 2000) * 1.5 - 0.5, 0.0)
    failed = uniforms(stream(0, "failed"), 2000) < np.where(chi > 0, chi * 0.6, 0.1)
    size = 1.0 if task == "classification" else 0.2 + 3 * uniforms(stream(0, "loss"), 2000)
    frame = Frame(2000, task, dict.fromkeys(AUXILIARY, chi), traits=derived.traits())
    return frame, np.where(failed, size, 0.0)


def estimate_values(frame: Frame, losses, design: Design | str, *, auxiliary: str | None, budget: int, repeats: int):
    """The estimates of independent campaigns."""
    made = designs.registry.build(design, auxiliary=auxiliary) if isinstance(design, str) else design
    values = np.empty(repeats)
    for seed in range(repeats):
        sample = made.draw(frame, losses, budget=budget, seed=seed)
        drawn = losses[sample.items]
        values[seed] = estimators.estimate(Labelled(sample, drawn, drawn > 0, frame.task)).value
    return values
