"""A whole comparison on one subject: CPU and memory of the command, imports included.

    python benchmarks/comparison_speed.py [SUBJECT.csv]

Without a subject a synthetic one of the same size as the published model_D (33,500 items) is made. The unit is the
time that numpy takes to sort the pool's auxiliary variable once, measured in the same run: ratios to it carry over to
other machines.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DESIGNS = "srs,css,sups,rhc,ssrs,gbs,2ups,deepest"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subject = Path(sys.argv[1]) if len(sys.argv) > 1 else synthetic(Path(folder))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        subprocess.run(
            [
                *(sys.executable, "-m", "fieldcheck", "bench", str(subject), "--design", DESIGNS),
                *("--auxiliary", "confidence,dsa,lsa", "--budget", "50,100,200,400,800", "--repetitions", "30"),
                *("--json", str(Path(folder) / "rows.json")),
            ],
            check=True,
        )
        wall = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    unit = sort_seconds()
    print(f"subject        {subject.stem}")
    print("campaigns      8 designs x 3 auxiliaries x 5 budgets x 30 repetitions (srs once)")
    print(f"cpu            {cpu:.1f} s   (wall {wall:.1f} s, {cpu / unit:,.0f} sorts of 33,500 numbers)")
    print(f"peak memory    {after.ru_maxrss / 1024:.0f} MB")


def synthetic(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    confidence = 1 - rng.beta(0.4, 1.6, 33_500)
    failed = rng.random(33_500) < 0.9 * (1 - confidence) + 0.05
    noise = rng.random((2, 33_500))
    path = folder / "synthetic.csv"
    rows = zip(confidence, 0.5 * failed + noise[0], 0.1 * failed + noise[1], failed, strict=True)
    lines = (f"{i},{c:.9f},{d:.9f},{s:.9f},{'Fail' if f else 'Pass'}" for i, (c, d, s, f) in enumerate(rows))
    path.write_text("id,confidence,dsa,lsa,outcome\n" + "\n".join(lines) + "\n")
    return path


def sort_seconds() -> float:
    values = np.random.default_rng(1).random(33_500)
    times = []
    for _ in range(50):
        start = time.process_time()
        np.sort(values)
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
