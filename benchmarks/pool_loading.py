"""Time and memory of loading a large Parquet pool, beside a bare ``pyarrow.parquet.read_table`` of the same file.

Every measurement is a process of its own, so that peak memory is its own (Linux: from /proc); bare and pool take
turns and the best of three counts, so that a busy machine slows both.

    python benchmarks/pool_loading.py
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

CASES = {
    "integers": 10_000_000,
    "integers, shuffled": 10_000_000,
    "text": 2_000_000,
    "text, shuffled": 2_000_000,
}
ROUNDS = 3


def write_pool(path: Path, case: str, size: int) -> None:
    """A pool of ids, predictions of ten classes, confidence and two auxiliary variables."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    ids = np.arange(size)
    if case.endswith("shuffled"):
        ids = rng.permutation(size)
    columns: dict[str, Any] = {
        "id": pa.array([f"img_{i:08d}.png" for i in ids]) if case.startswith("text") else ids,
        "prediction": rng.integers(0, 10, size),
        "confidence": rng.random(size),
        "dsa": rng.random(size),
        "lsa": rng.random(size),
    }
    parquet.write_table(pa.table(columns), path)


def measure(how: str, path: str) -> dict[str, float]:
    """In this process: seconds of wall clock, and megabytes above what the imports take."""
    from pyarrow import compute, parquet  # noqa: F401 -- imported before the clock starts

    from fieldcheck import sources

    before = memory("VmRSS")
    start = time.perf_counter()
    kept = parquet.read_table(path) if how == "bare" else sources.load(path)
    seconds = time.perf_counter() - start
    return {"rows": len(kept), "seconds": seconds, "megabytes": memory("VmHWM") - before}


def memory(field: str) -> float:
    """Megabytes of this process: resident now (VmRSS) or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(field))) / 1024


def in_a_process(how: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, how, str(path)]
    result: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


def best(how_often: list[dict[str, float]], key: str) -> float:
    return min(one[key] for one in how_often)


def report(case: str, size: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.parquet"
        write_pool(path, case, size)
        turns = [(in_a_process("bare", path), in_a_process("pool", path)) for _ in range(ROUNDS)]
    bare, pool = [turn[0] for turn in turns], [turn[1] for turn in turns]
    cells = [case, f"{size:,}"]
    for key, digits in (("seconds", 2), ("megabytes", 0)):
        low, own = best(bare, key), best(pool, key)
        cells += [f"{low:,.{digits}f}", f"{own:,.{digits}f}", f"{own / low:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}\n")
    print("| ids | rows | read_table, s | Pool, s | ratio | read_table, MB | Pool, MB | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for case, size in CASES.items():
        print(report(case, size), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], sys.argv[2])))
    else:
        main()
