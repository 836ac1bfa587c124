"""DSA and LSA on 60,000 reference items: CPU, memory, exactness, and growth with the pool and the reference.

    OMP_NUM_THREADS=1 python benchmarks/auxiliary_speed.py

Traces are made up: ten classes, each around its own centre in a space of lower dimension, then ReLU. Every
measurement runs in a process of its own, so that its peak memory is its own (data included). DSA is set beside the
bare single-precision matrix products of the same sizes (each item with the reference of its class, each distinct
nearest trace with the reference of the other classes), LSA beside the bare double-precision products, in the same
process. "By predict": the pool comes in batches of 256, which ``fieldcheck predict`` puts together into blocks before
the variable sees them. Values of some items are compared with the definition, computed item by item in double
precision (LSA: ``scipy.stats.gaussian_kde``).
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary import Dsa, Lsa
from fieldcheck.accuracy.auxiliary.base import FittedAuxiliary, Trace
from fieldcheck.accuracy.predict.blocks import Column, FittedVariable, Gathered

CLASSES = 10
CHECKED = 50
BLOCK = 1_024


@dataclass(frozen=True)
class Measured:
    """CPU seconds of fit and values together and of the bare products; peak GB; largest relative error."""

    seconds: float
    bare: float
    peak: float
    error: float


def traces(items: int, neurons: int, seed: int) -> Trace:
    shape = np.random.default_rng(0)
    centres, mixing = shape.standard_normal((CLASSES, 40)), shape.standard_normal((40, neurons)) / 6
    rng = np.random.default_rng(seed)
    said = rng.integers(0, CLASSES, items)
    rows = (centres[said] + rng.standard_normal((items, 40))).astype(np.float32) @ mixing.astype(np.float32)
    rows += 0.3 * rng.standard_normal((items, neurons), dtype=np.float32)
    return Trace("classification", said, activations=np.maximum(rows, 0, out=rows))


def dsa(items: int, known: int, neurons: int, batch: int | None = None) -> Measured:
    reference, pool = traces(known, neurons, 1), traces(items, neurons, 2)

    def work() -> tuple[Any, npt.NDArray[np.float64]]:
        fitted = Dsa().fit(reference, seed=0)
        return fitted, fitted.values(pool) if batch is None else by_predict(fitted, pool, batch)

    seconds, (fitted, values) = timed(work)
    peak = memory()
    asked = np.flatnonzero(~np.isnan(fitted.known))
    bare = bare_products(reference, pool, asked)
    return Measured(seconds, bare, peak, relative(values[:CHECKED], defined_dsa(reference, pool)))


def by_predict(fitted: FittedAuxiliary, pool: Trace, batch: int) -> npt.NDArray[np.float64]:
    gathered = Gathered(FittedVariable(fitted, Dsa.needs), pool.task, Column(len(pool)))
    for at in range(0, len(pool), batch):
        gathered.add(part(pool, slice(at, at + batch)))
    return gathered.finish()


def bare_products(reference: Trace, pool: Trace, asked: npt.NDArray[np.int64]) -> float:
    """Seconds of the single-precision products that DSA needs, into one buffer that fits the cache."""
    rows, buffer, total = table(reference), np.empty(BLOCK * BLOCK, np.float32), 0.0
    for code in range(CLASSES):
        own = reference.predictions == code
        inside, outside = rows[own], rows[~own]
        total += product_seconds(inside, table(pool)[pool.predictions == code], buffer)
        total += product_seconds(outside, rows[asked[own[asked]]], buffer)
    return total


def product_seconds(
    rows: npt.NDArray[np.float32], columns: npt.NDArray[np.float32], buffer: npt.NDArray[np.float32]
) -> float:
    start = time.process_time()
    for left in range(0, len(columns), BLOCK):
        some = columns[left : left + BLOCK].T
        for top in range(0, len(rows), BLOCK):
            block = rows[top : top + BLOCK]
            np.matmul(block, some, out=buffer[: block.shape[0] * some.shape[1]].reshape(-1, some.shape[1]))
    return time.process_time() - start


def defined_dsa(reference: Trace, pool: Trace) -> npt.NDArray[np.float64]:
    rows, result = table(reference).astype(np.float64), []
    for item, said in zip(table(pool)[:CHECKED], pool.predictions[:CHECKED], strict=True):
        same = np.flatnonzero(reference.predictions == said)
        away = np.sqrt(np.square(rows[same] - item).sum(axis=1))
        nearest = rows[same[away.argmin()]]
        other = np.sqrt(np.square(rows[reference.predictions != said] - nearest).sum(axis=1))
        result.append(away.min() / other.min())
    return np.array(result)


def lsa(items: int, known: int, neurons: int) -> Measured:
    import scipy.linalg  # noqa: F401  (its import is not part of the work)

    reference, pool = traces(known, neurons, 1), traces(items, neurons, 2)

    def work() -> tuple[Any, npt.NDArray[np.float64]]:
        fitted = Lsa().fit(reference, seed=0)
        return fitted, fitted.values(pool)

    seconds, (fitted, values) = timed(work)
    peak = memory()
    far = Trace("classification", np.arange(CLASSES), activations=np.full((CLASSES, neurons), 3e38, np.float32))
    assert np.isfinite(fitted.values(far)).all()
    mine = pool.predictions == 0
    golden = golden_lsa(table(reference)[reference.predictions == 0], table(pool)[mine][:CHECKED])
    bare = sum(double_products(reference, pool, code) for code in range(CLASSES))
    return Measured(seconds, bare, peak, relative(values[mine][:CHECKED], golden))


def golden_lsa(known: npt.NDArray[np.float32], asked: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """By SciPy, in the neurons that vary; it takes items in small parts because it keeps all differences."""
    from scipy.stats import gaussian_kde

    vary = known.var(axis=0, dtype=np.float64) >= 1e-5
    density = gaussian_kde(known[:, vary].T.astype(np.float64))
    parts = [-density.logpdf(asked[at : at + 5, vary].T.astype(np.float64)) for at in range(0, len(asked), 5)]
    return np.concatenate(parts)


def double_products(reference: Trace, pool: Trace, code: int) -> float:
    """Seconds of the double-precision products: covariance, items with reference."""
    rows = table(reference)[reference.predictions == code].astype(np.float64)
    columns = table(pool)[pool.predictions == code].astype(np.float64)
    return timed(lambda: (rows.T @ rows, rows @ columns.T))[0]


def table(trace: Trace) -> npt.NDArray[np.float32]:
    return np.asarray(trace.activations)


def part(trace: Trace, chosen: slice) -> Trace:
    return Trace(trace.task, trace.predictions[chosen], activations=table(trace)[chosen])


def relative(found: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> float:
    return float(np.abs(found / expected - 1).max())


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    print(f"{'variable':42} {'cpu s':>7} {'x bare products':>16} {'peak GB':>8} {'error':>8}")
    cases: list[tuple[str, Callable[..., Measured], tuple[int, ...]]] = [
        ("DSA, 60,000 x 10,000 x 84", dsa, (10_000, 60_000, 84)),
        ("DSA, 60,000 x 10,000 x 512", dsa, (10_000, 60_000, 512)),
        ("DSA, 60,000 x 10,000 x 84, by predict", dsa, (10_000, 60_000, 84, 256)),
        ("DSA, 60,000 x 10,000 x 512, by predict", dsa, (10_000, 60_000, 512, 256)),
        ("LSA, 60,000 x 10,000 x 84", lsa, (10_000, 60_000, 84)),
        ("LSA, 60,000 x 10,000 x 512", lsa, (10_000, 60_000, 512)),
    ]
    for name, work in (("DSA", dsa), ("LSA", lsa)):
        cases += [(f"{name}, 60,000 x {items:,} x 84", work, (items, 60_000, 84)) for items in (5_000, 20_000)]
        cases += [(f"{name}, {known:,} x 10,000 x 84", work, (10_000, known, 84)) for known in (30_000, 120_000)]
    for name, work, arguments in cases:
        with multiprocessing.get_context("spawn").Pool(1) as workers:
            found = workers.apply(work, arguments)
        ratio = found.seconds / found.bare
        print(f"{name:42} {found.seconds:7.2f} {ratio:16.2f} {found.peak:8.2f} {found.error:8.0e}", flush=True)


if __name__ == "__main__":
    main()
