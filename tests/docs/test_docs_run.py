"""Every command and every Python block of the README and the docs runs as it is written."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fieldcheck as fc
from fieldcheck.cli.demo import demo

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
COMMAND = re.compile(
    r"^(?:\$ |  (?=fieldcheck label)|(?=fieldcheck label))((?:fieldcheck|python|for) .*?)(?:\s+#.*)?$", re.MULTILINE
)
"""What is run, by the shell; pages to label on are served until they answer."""

PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"# (\w+\.py)\n")
"""The first line of what is to be saved, not run."""

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


@pytest.fixture
def shell(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run a line as it is written: ``fieldcheck`` and ``python`` are those that are tested."""
    folder = tmp_path_factory.mktemp("bin")
    for name, words in (("python", ""), ("fieldcheck", "-m fieldcheck ")):
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words}"$@"\n')
        (folder / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def call(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, check=False, env=env)

    return call


def python(text: str) -> subprocess.CompletedProcess[str]:
    """Run a block, or save it where its first line names a file."""
    if script := SCRIPT.match(text):
        Path(script[1]).write_text(text)
        return subprocess.CompletedProcess([], 0, "", "")
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


def serve(line: str) -> subprocess.CompletedProcess[str]:
    """Serve a page until it says where it is."""
    words = [sys.executable, "-m", "fieldcheck", *shlex.split(line)[1:], "--no-browser", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        said = list(itertools.takewhile(lambda one: "http" not in one, server.stdout))
        code = server.poll()
        server.terminate()
    return subprocess.CompletedProcess(words, code or 0, "", "".join(said))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_run_from_top_to_bottom(
    page: Path, workplace: Path, shell: Callable[[str], subprocess.CompletedProcess[str]]
) -> None:
    pool = fc.load(workplace / "pool.csv")
    for _, is_python, text in steps(page.read_text(encoding="utf-8")):
        words = shlex.split(text) if not is_python else []
        run = python if is_python else serve if words[:2] == ["fieldcheck", "label"] else shell
        done = run(text)
        assert done.returncode == 0, f"{text}\n{done.stderr}"
        out = Path(words[words.index("--out") + 1]) if "--out" in words else Path()
        if out.suffix == ".csv" and words[1] in ("sample", "compare", "reuse", "next") and "answers.py" not in text:
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
