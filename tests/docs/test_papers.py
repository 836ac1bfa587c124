"""The pages of the papers: every line's command runs, in a short form, and every block has its part."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ("fse19", "icse21", "icse24", "icse26")
LINE = re.compile(r"^\| .*`python benchmarks/papers/(\w+)\.py DATA ([\w-]+)` \|", re.MULTILINE)
BLOCK = re.compile(r"^<!-- ([\w-]+) -->\n(.*?)<!-- /\1 -->", re.MULTILINE | re.DOTALL)
SEPARATOR = "|---|---|---|---|---|"


def page(name: str) -> str:
    return (ROOT / "docs" / "papers" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAPERS)
def test_every_line_has_a_command_and_every_part_a_block(name: str) -> None:
    text = page(name)
    lines = text.partition(SEPARATOR)[2].strip().partition("\n\n")[0].splitlines()
    commands = LINE.findall(text)
    assert len(commands) == len(lines)
    assert {paper for paper, _ in commands} == {name}
    blocks = dict(BLOCK.findall(text))
    assert {part for _, part in commands} == set(blocks)
    assert all("| --- |" in block for block in blocks.values())
    assert "see code" not in text.lower()


@pytest.mark.parametrize("name", PAPERS)
def test_every_command_runs(name: str, published_data: Path) -> None:
    if name == "fse19" and not (published_data / "ces_fse19").is_dir():
        pytest.skip(f"the activations of the FSE'19 networks are not in {published_data}")
    parts = sorted({part for _, part in LINE.findall(page(name))})
    script = ROOT / "benchmarks" / "papers" / f"{name}.py"
    words = [sys.executable, str(script), str(published_data), *parts, "--short"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^<!-- ([\w-]+) -->$", done.stdout, re.MULTILINE) == parts
