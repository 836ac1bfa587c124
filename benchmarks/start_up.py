"""How long the command line takes to start: CPU seconds of whole processes, the best of five.

python benchmarks/start_up.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COMMANDS = ("--version", "--help", "start --help", "status c.db", "inspect pool.csv")


def cpu(words: list[str], folder: Path) -> float:
    """Seconds of user and system time of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "fieldcheck", *words], capture_output=True, check=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (f"{at},{'abc'[at % 3]},{one:.4f}" for at, one in enumerate(rng.beta(8, 1, 5_000)))
        (folder / "pool.csv").write_text("id,prediction,confidence\n" + "\n".join(rows) + "\n")
        cpu(["start", "pool.csv", "--campaign", "c.db", "--budget", "100"], folder)
        print("| command | CPU, s |\n|---|---|")
        for words in COMMANDS:
            print(f"| `fieldcheck {words}` | {min(cpu(words.split(), folder) for _ in range(5)):.2f} |")


if __name__ == "__main__":
    main()
