"""How long the command line takes to start: CPU seconds of whole processes, the best of five.

Byte code is kept between the runs, as it is wherever a package is installed. Reading the pool is measured apart, with
all that it imports (numpy, pyarrow, and pandas, which pyarrow takes where it is installed).

python benchmarks/start_up.py
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COMMANDS = ("--version", "--help", "start --help", "status c.db", "inspect pool.csv")
READING = "from fieldcheck.sources import open_table; open_table('pool.csv')"


def cpu(words: list[str], folder: Path) -> float:
    """Seconds of user and system time of one run of Python with these words."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(folder / "byte_code")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], capture_output=True, check=True, cwd=folder, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (f"{at},{'abc'[at % 3]},{one:.4f}" for at, one in enumerate(rng.beta(8, 1, 5_000)))
        (folder / "pool.csv").write_text("id,prediction,confidence\n" + "\n".join(rows) + "\n")
        cpu(["-m", "fieldcheck", "start", "pool.csv", "--campaign", "c.db", "--budget", "100"], folder)
        print("| command | CPU, s |\n|---|---|")
        for words in COMMANDS:
            print(f"| `fieldcheck {words}` | {best(['-m', 'fieldcheck', *words.split()], folder):.2f} |")
        print(f"| reading the pool alone | {best(['-c', READING], folder):.2f} |")


def best(words: list[str], folder: Path) -> float:
    cpu(words, folder)
    return min(cpu(words, folder) for _ in range(5))


if __name__ == "__main__":
    main()
