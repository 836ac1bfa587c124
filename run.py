"""Set up and run fieldcheck from a fresh clone. Needs Python 3.11 or newer with pip and venv, nothing else.

    python3 run.py demo     assess a small network on built-in data; leaves demo/report.html
    python3 run.py test     lint, types and tests
    python3 run.py sweep    the long statistical sweeps
    python3 run.py fuzz     damaged bytes for every loader, guided by coverage (--inputs 100000)
    python3 run.py licences what we depend on, and its licences (--audit: known weaknesses, from pypi.org)
    python3 run.py setup    only install

Everything goes into .venv beside this file, once: it is installed again only when the requirements change. The demo
needs little; the tests also install PyTorch, ONNX Runtime, Keras and transformers, to try real models.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = ENVIRONMENT / "installed"
LEVELS = LIGHT, FULL, FUZZ = "", "[dev]", "[dev,fuzz]"  # each has all that the one before has
WORKERS = min(os.cpu_count() or 1, 4)


def main() -> int:
    verbs = {
        "demo": (demo, LIGHT),
        "test": (test, FULL),
        "sweep": (sweep, FULL),
        "fuzz": (fuzz, FUZZ),
        "licences": (licences, FULL),
        "setup": (lambda _: 0, FULL),
    }
    verb, rest = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if verb not in verbs:
        print(__doc__)
        return 2
    if sys.version_info < (3, 11):  # noqa: UP036 -- whoever runs this may have an older one
        print(f"fieldcheck needs Python 3.11 or newer; this is {sys.version.split()[0]}")
        return 2
    job, extras = verbs[verb]
    install(extras)
    return job(rest)


def demo(rest: list[str]) -> int:
    code = call(PYTHON, "-m", "fieldcheck", "demo", *rest)
    if not code and shutil.which("fieldcheck") is None:
        script = os.path.relpath(BIN / "activate")
        print(f"first:         {'' if os.name == 'nt' else 'source '}{script}     # so that the shell finds fieldcheck")
    return code


def test(rest: list[str]) -> int:
    """Lint, types, then tests; all of them run, so that one failure does not hide another."""
    find_servers()
    # Each worker has a core to itself: threads of the numerical libraries would fight for it.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    codes = [
        call(PYTHON, "-m", "ruff", "check", "."),
        call(PYTHON, "-m", "ruff", "format", "--check", "."),
        call(PYTHON, "-m", "mypy"),
        call(PYTHON, "-m", "pytest", "-m", "not sweep", "-n", str(WORKERS), "--dist", "loadfile", *rest),
    ]
    return max(codes)


def sweep(rest: list[str]) -> int:
    return call(PYTHON, "-m", "pytest", "-m", "sweep", *rest)


def fuzz(rest: list[str]) -> int:
    return call(PYTHON, "benchmarks/fuzz.py", *rest)


def licences(rest: list[str]) -> int:
    return call(PYTHON, "benchmarks/licences.py", *rest)


def install(extras: str) -> None:
    """A virtual environment with the package and what is needed, at the versions in constraints.txt."""
    wanted = hashlib.sha256(
        (ROOT / "pyproject.toml").read_bytes() + (ROOT / "constraints.txt").read_bytes() + str(ROOT).encode()
    ).hexdigest()
    if STAMP.exists() and STAMP.read_text() in [wanted + more for more in LEVELS[LEVELS.index(extras) :]]:
        return
    print("setting up (once): a virtual environment in .venv ...", flush=True)
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    code = call(
        PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--constraint", str(ROOT / "constraints.txt"), "--editable", f"{ROOT}{extras}",
    )  # fmt: skip
    if code:
        sys.exit("the installation failed; see the message above (a network or an index of packages is needed once)")
    STAMP.write_text(wanted + extras)


def find_servers() -> None:
    """The pages are tested in a real browser, campaigns on a real PostgreSQL; on Debian as root both are installed."""
    browsers = ("chromium", "chromium-browser", "google-chrome", "chrome")
    wanted = {
        "chromium": bool(os.environ.get("CHROMIUM")) or any(map(shutil.which, browsers)),
        "postgresql": bool(shutil.which("postgres")) or any(Path("/usr/lib/postgresql").glob("*/bin/postgres")),
    }
    missing = [package for package, there in wanted.items() if not there]
    if missing and shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        print(f"setting up (once): {' and '.join(missing)}, to test with ...", flush=True)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["apt-get", "update"], check=False, **quiet)  # type: ignore[call-overload]  # noqa: S607
        subprocess.run(["apt-get", "install", "-y", *missing], check=False, **quiet)  # type: ignore[call-overload]  # noqa: S607


def call(*command: str | Path) -> int:
    return subprocess.run([str(part) for part in command], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
