"""One campaign on big pools: waves and DeepEST on a million items, CES on two sizes of activations.

    python benchmarks/design_scale.py

Each measurement runs in a process of its own, so that its peak memory is its own. CES is set beside one pass over the
activations (their minimum and maximum), measured in the same process; DeepEST beside the running sum of its auxiliary
variable.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable

import numpy as np

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import Ces, DeepEst, Waves
from fieldcheck.accuracy.estimators import estimate
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled


def deepest(items: int, budget: int) -> tuple[float, float, float]:
    chi = np.random.default_rng(0).random(items) ** 3
    frame = Frame(items, "classification", {"confidence": chi}, traits=derived.traits())
    unit = seconds(lambda: np.cumsum(chi))
    return seconds(lambda: DeepEst().draw(frame, None, budget=budget, seed=1)), unit, memory()


def waves(items: int, budget: int, labels: int) -> tuple[float, float, float]:
    """A campaign with its estimate; without labels, its first wave."""
    rng = np.random.default_rng(0)
    doubt = rng.beta(0.4, 2.0, items)
    losses = (rng.random(items) < doubt).astype(np.float64)
    signals = {"confidence": doubt, "dsa": doubt + rng.random(items), "lsa": rng.random(items)}
    frame = Frame(items, "classification", signals, predictions=rng.integers(0, 10, items))
    unit = seconds(lambda: np.sort(doubt))

    def campaign() -> None:
        sample = Waves().draw(frame, losses if labels else None, budget=budget, seed=1)
        if sample.complete:
            known = losses[sample.items]
            estimate(Labelled(sample, known, known > 0))

    return seconds(campaign), unit, memory()


def ces(items: int, neurons: int, budget: int) -> tuple[float, float, float]:
    activations = np.random.default_rng(0).standard_normal((items, neurons), dtype=np.float32)
    np.maximum(activations, 0, out=activations)
    frame = Frame(items, "classification", {}, activations, traits=derived.traits())
    unit = seconds(lambda: (activations.min(axis=0), activations.max(axis=0)))
    return seconds(lambda: Ces().draw(frame, None, budget=budget, seed=1)), unit, memory()


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    cases: list[tuple[str, Callable[..., tuple[float, float, float]], tuple[int, ...]]] = [
        ("waves, N = 33,500, n = 800, estimate", waves, (33_500, 800, 1)),
        ("waves, N = 1,000,000, first wave", waves, (1_000_000, 800, 0)),
        ("DeepEST, N = 100,000, n = 800", deepest, (100_000, 800)),
        ("DeepEST, N = 1,000,000, n = 800", deepest, (1_000_000, 800)),
        ("DeepEST, N = 10,000,000, n = 800", deepest, (10_000_000, 800)),
        ("CES, 10,000 x 84, n = 200", ces, (10_000, 84, 200)),
        ("CES, 50,000 x 4,096, n = 100", ces, (50_000, 4_096, 100)),
    ]
    print(f"{'campaign':36} {'cpu s':>8} {'x one pass':>11} {'peak GB':>8}")
    for name, work, arguments in cases:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            cpu, unit, peak = pool.apply(work, arguments)
        print(f"{name:36} {cpu:8.3f} {cpu / max(unit, 1e-9):11.1f} {peak:8.2f}")


if __name__ == "__main__":
    main()
