"""Four people label while their processes are killed with kill -9 at random moments, on both stores.

    python benchmarks/campaign_kill.py [KILLS]

50 kills by default, and four more at the end; each of a process that had a label acknowledged since it started: others
would not count. It runs ``tests/stores/test_kill.py``, which fails if one acknowledged
label is lost or doubled, and prints what it counted; PostgreSQL must be installed for the second store.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    kills = sys.argv[1] if len(sys.argv) > 1 else "50"
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "FIELDCHECK_KILLS": kills, "FIELDCHECK_KILL_RESULT": folder}
        command = [sys.executable, "-m", "pytest", "-q", str(ROOT / "tests" / "stores" / "test_kill.py")]
        code = subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode
        for path in sorted(Path(folder).glob("*.json")):
            found = json.loads(path.read_text())
            print(f"{path.stem:<10} " + ", ".join(f"{name} {count:,}" for name, count in found.items()))
    return code


if __name__ == "__main__":
    sys.exit(main())
