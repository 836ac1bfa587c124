"""Small subjects and rows to test comparisons with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.bench.rows import Row


def write_subject(
    path: Path, *, size: int = 400, accuracy: float = 0.8, seed: int = 1, regression: bool = False, third: str = ""
) -> Path:
    """A labelled pool as a CSV file; its auxiliary variables, two or three, know something about failures."""
    rng = np.random.default_rng(seed)
    failed = rng.random(size) > accuracy
    confidence = np.round(np.clip(1 - 0.3 * failed - 0.5 * rng.random(size), 0, 1), 4)
    surprise = np.round(rng.random(size) + 0.5 * failed, 4)
    if regression:
        target = rng.normal(size=size)
        guess = target + np.where(failed, 0.8, 0.1) * rng.normal(size=size)
        header, columns = "id,prediction,target,lsa,sae", (guess, target, surprise, confidence)
    else:
        outcome = np.where(failed, "Fail", "Pass")
        header, columns = (
            "id,prediction,outcome,confidence,dsa",
            (rng.integers(0, 5, size), outcome, confidence, surprise),
        )
    if third:
        header, columns = f"{header},{third}", (*columns, np.round(rng.random(size) + 0.2 * failed, 4))
    lines = [",".join(map(str, (i, *values))) for i, values in enumerate(zip(*columns, strict=True))]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def make_row(design: str, rmse: float, failures: float, **other: Any) -> Row:
    """A row with what a test cares about."""
    base: dict[str, Any] = {
        "subject": "s",
        "group": other.get("subject", "s"),
        "task": "classification",
        "design": design,
        "auxiliary": "none" if design.partition(":")[0] in ("srs", "ces") else "confidence",
        "budget": 200,
        "repetitions": 30,
        "truth": 0.8,
        "failing": 100,
        "mean": 0.8,
        "bias": 0.0,
        "bias_se": rmse / 30**0.5,
        "rmse": rmse,
        "rmedse": rmse / 2,
        "failures_mean": failures,
        "failures_sd": 1.0,
        "exposed_mean": failures,
        "coverage": 0.95,
        "trusted_share": 1.0,
        "width_mean": 4 * rmse,
        "cpu_seconds": 0.1,
    }
    return Row(**{**base, **other})  # type: ignore[typeddict-item]
