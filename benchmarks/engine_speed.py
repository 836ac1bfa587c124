"""Ray with two workers against one: items a second of ``predict`` on a model that takes two milliseconds an item.

    python benchmarks/engine_speed.py [SECONDS]

A cluster of one node is started once; each number of workers runs a network of convolutions over images in shards, one
thread each. Shards come one after the other; the time runs from the first shard that is done for SECONDS (190), so that
starting Ray and opening the model are apart. There are more shards than can be done in that time.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

SHARD = 256


FIRST = 30.0
"""Seconds of a first run, which says how many images there must be."""


LAYERS = 14
"""Of the network in the first run."""


LEAST = 0.0022
"""Seconds an item on one worker, at least: the network of the long runs has as many layers as that takes."""


def write(folder: Path, items: int, layers: int) -> None:
    """A network of so many layers, and images for it."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    parts: list[Any] = [nn.Conv2d(3, 32, 3, padding=1), nn.ReLU()]
    for _ in range(layers):
        parts += [nn.Conv2d(32, 32, 3, padding=1), nn.ReLU()]
    network = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).eval()
    example = torch.zeros(2, 3, 32, 32)
    torch.onnx.export(
        network, (example,), folder / "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "n"}}, dynamo=False
    )
    rng = np.random.default_rng(0)
    np.save(folder / "images.npy", rng.integers(0, 256, (items, 32, 32, 3), dtype=np.uint8))


def run(folder: Path, workers: int, seconds: float) -> tuple[float, float, int]:
    """Seconds before the first shard was done, from there on, and items of that time."""
    from fieldcheck import models, sources
    from fieldcheck.accuracy.predict import Prediction
    from fieldcheck.accuracy.predict.shards import Measuring, measure_step
    from fieldcheck.engines import engine_of
    from fieldcheck.sources.pools.shards import cutting

    out = folder / f"out-{workers}"
    out.mkdir()
    began = time.perf_counter()
    opening = models.Opening(threads=1)
    asked = Prediction(str(folder / "net.onnx"), str(folder / "images.npy"), batch=64, opening=opening)
    size = len(sources.open_inputs(str(folder / "images.npy")))
    ranges = cutting.row_ranges(size, SHARD)
    fitted = {name: one.fitted for name, one in asked.prepared().asked.items()}
    job = Measuring(asked, out, fitted)
    first, done = 0.0, 0
    for _ in engine_of(f"ray:workers={workers}").map(measure_step, ranges, job):
        now = time.perf_counter()
        if not first:
            first = now
            continue
        done += SHARD
        if now - first >= seconds:
            break
    return first - began, now - first, done


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 190.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder, SHARD * round(6 + 2 * FIRST / (0.001 * SHARD)), LAYERS)
        _, took, items = run(folder, 1, min(seconds, FIRST))
        layers = max(LAYERS, math.ceil(LAYERS * LEAST * items / took))
        each = took / items * layers / LAYERS
        print(f"{layers} layers, about {1000 * each:.2f} ms an item on one worker", flush=True)
        shutil.rmtree(folder / "out-1")
        write(folder, SHARD * (6 + round(4 * seconds / each / SHARD)), layers)
        speeds = []
        for workers in (1, 2):
            start, took, items = run(folder, workers, seconds)
            speeds.append(items / took)
            print(
                f"{workers} worker(s): {items:,} items in {took:.0f} s, {items / took:.0f} a second; "
                f"{start:.1f} s before the first shard",
                flush=True,
            )
        print(f"two workers against one: {speeds[1] / speeds[0]:.2f} x")


if __name__ == "__main__":
    main()
