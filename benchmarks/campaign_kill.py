"""Four people label while their processes are killed with kill -9 at random moments, on both stores.

    python benchmarks/campaign_kill.py [KILLS]

50 kills by default, and four more at the end; then as many of a server (``fieldcheck label``) through which two people
label. Only a process that had a label acknowledged since it started counts. It runs ``tests/stores/test_kill.py`` and
``test_kill_server.py``, which fail if one acknowledged label is lost or doubled, and prints what they counted;
PostgreSQL must be installed for the second store.
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
        tests = [str(ROOT / "tests" / "stores" / name) for name in ("test_kill.py", "test_kill_server.py")]
        command = [sys.executable, "-m", "pytest", "-q", *tests]
        code = subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode
        for path in sorted(Path(folder).glob("*.json")):
            found = json.loads(path.read_text())
            print(f"{path.stem:<16} " + ", ".join(f"{name} {count:,}" for name, count in found.items()))
    return code


if __name__ == "__main__":
    sys.exit(main())
