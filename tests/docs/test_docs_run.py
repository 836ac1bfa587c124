"""Every command and every Python block of the README and the docs runs as it is written."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fieldcheck as fc
from fieldcheck.cli.demo import demo

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
COMMAND = re.compile(r"^\$ (fieldcheck .*?)(?:\s+#.*)?$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)\)")


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "demo"
    demo(out=folder, seed=0)
    return folder


@pytest.fixture
def workplace(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the pages assume it: the demo's results, and a pool under the name that the README uses."""
    shutil.copytree(demo_folder, tmp_path / "demo")
    shutil.copy(demo_folder / "pool.csv", tmp_path / "pool.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill_in(sheet: Path, pool: fc.Pool) -> None:
    """Label what is not labelled yet, as a person would who knows the truth."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = pool.classes[int(pool.target[pool.position_of([row["id"]])[0]])]
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def steps(text: str) -> list[tuple[int, bool, str]]:
    """Commands and Python blocks in the order of the page: where, whether it is Python, and what to run."""
    commands = [(match.start(), False, match[1]) for match in COMMAND.finditer(text)]
    return sorted(commands + [(match.start(), True, match[1]) for match in PYTHON.finditer(text)])


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_run_from_top_to_bottom(page: Path, workplace: Path) -> None:
    pool = fc.load(workplace / "pool.csv")
    for _, is_python, text in steps(page.read_text(encoding="utf-8")):
        words = shlex.split(text) if not is_python else []
        done = run("-c", text) if is_python else run("-m", "fieldcheck", *words[1:])
        assert done.returncode == 0, f"{text}\n{done.stderr}"
        out = Path(words[words.index("--out") + 1]) if "--out" in words else Path()
        if out.suffix == ".csv" and words[1] in ("sample", "compare", "reuse", "next"):
            fill_in(out, pool)
        if words and words[-1] == "--json":
            json.loads(done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in targets if not (page.parent / link).exists()] == []


def test_every_verb_and_option_is_in_the_docs() -> None:
    """A verb without a line in the docs, or a documented one that is gone, fails here."""
    from fieldcheck.cli.app import VERBS
    from fieldcheck.cli.tomography import tomography

    verbs = set(VERBS) - {"tomography"} | {f"tomography {one.name}" for one in tomography.registered_commands}
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `fieldcheck ((?:tomography )?\w+)", text, re.MULTILINE)) == verbs


def test_every_design_is_in_the_docs() -> None:
    text = (ROOT / "docs" / "techniques.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(fc.designs.registry)
