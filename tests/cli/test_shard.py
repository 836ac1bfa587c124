"""``shard`` on what is no single file: the way there from an error, and what is said at the end."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .conftest import Run


@pytest.fixture
def spark(tmp_path: Path) -> Path:
    """A folder as Spark leaves it, and somebody's file in it, whose name would clear the terminal."""
    for at, day in enumerate(("monday", "tuesday")):
        folder = tmp_path / "it's daily" / f"day={day}"
        folder.mkdir(parents=True)
        ids = list(range(50 * at, 50 * at + 50))
        said = pa.table({"id": ids, "prediction": ["cat", "dog"] * 25, "confidence": [0.9, 0.6] * 25})
        pq.write_table(said, folder / "part-00000.snappy.parquet")
    (tmp_path / "it's daily" / "a\x1b[2J.md").write_text("by day")
    return tmp_path / "it's daily"


def test_the_hint_for_a_folder_works_when_pasted(run: Run, spark: Path) -> None:
    refused = run("inspect", spark.name)
    assert refused.code == 2
    words = shlex.split(next(line for line in refused.err.splitlines() if "try:" in line).partition("try:")[2])
    assert words[:2] == ["fieldcheck", "shard"]
    done = run(*words[1:], "--rows", 30)
    assert "100 items in 4 shards" in done.out
    assert "note: 1 other file not looked at, such as a" in done.out
    assert "\x1b" not in done.out
    said = json.loads(run("inspect", words[-1], "--json").out)
    assert said["items"] == 100
    assert run("start", words[-1], "--budget", 20, "--campaign", "c.db").code == 0
    assert run("next", "c.db", "--out", "sheet.csv").code == 0
