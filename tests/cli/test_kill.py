"""``kill -9`` on the way of commands that write: nothing is lost, and the next run works."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .sheets import CODE, Run, fill, read, truth_of
from .test_predict import digits

__all__ = ["digits"]

MOMENTS = 5


def killed(folder: Path, *words: object) -> list[Path]:
    """Folders: the first of a run that was left alone, then of runs that were killed."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("killed.py"), str(MOMENTS), *map(str, words)],
        cwd=folder,
        env=os.environ | CODE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Path(one) for one in json.loads(done.stdout.splitlines()[-1])]


@pytest.fixture
def work(tmp_path: Path, tea: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    tea.rename(folder / "tea.csv")
    return folder


def test_start(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("start", "tea.csv", "--campaign", "c.db", "--budget", 20, "--seed", 5, "--design", "srs")
    for folder in killed(work, *words):
        monkeypatch.chdir(folder)
        if run("status", "c.db").code:
            assert run(*words).code == 0, folder
        assert run("status", "c.db", "--json").json["open"] == 20


def test_next(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    assert run("start", "tea.csv", "--campaign", "c.db", "--budget", 20, "--seed", 5, "--design", "srs").code == 0
    for folder in killed(work, "next", "c.db", "-n", 20, "--out", "n.csv", "--by", "Eva"):
        monkeypatch.chdir(folder)
        done = run("next", "c.db", "-n", 20, "--out", "again.csv", "--by", "Eva")
        assert done.code == 0, done.err
        assert len(read(Path("again.csv"))) == 20
        assert not Path("n.csv").exists() or len(read(Path("n.csv"))) == 20  # whole or not there


def test_import(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    assert run("start", "tea.csv", "--campaign", "c.db", "--budget", 20, "--seed", 5, "--design", "srs").code == 0
    assert run("next", "c.db", "-n", 20, "--out", "n.csv").code == 0
    fill(Path("n.csv"), truth_of(Path("tea.csv")))
    for folder in killed(work, "import", "c.db", "n.csv"):
        monkeypatch.chdir(folder)
        assert run("import", "c.db", "n.csv").code == 0
        assert run("estimate", "c.db", "--json").json["labels"] == 20


def test_extend(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the old budget or the new one, and goes on to the same items."""
    monkeypatch.chdir(work)
    assert run("start", "tea.csv", "--campaign", "c.db", "--budget", 20, "--seed", 5, "--design", "srs").code == 0
    assert run("next", "c.db", "-n", 20, "--out", "n.csv").code == 0
    fill(Path("n.csv"), truth_of(Path("tea.csv")))
    assert run("import", "c.db", "n.csv").code == 0
    items = []
    for folder in killed(work, "extend", "c.db", "--budget", 30):
        monkeypatch.chdir(folder)
        budget = run("status", "c.db", "--json").json["budget"]
        assert budget in (20, 30)
        assert budget == 30 or run("extend", "c.db", "--budget", 30).code == 0
        assert run("next", "c.db", "-n", 10, "--out", "more.csv").code == 0
        items.append([row["id"] for row in read(Path("more.csv"))])
        assert run("verify", "c.db").code == 0
    assert len(items[0]) == 10
    assert all(one == items[0] for one in items)


def test_bench(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("bench", "tea.csv", "--design", "srs,ssrs", "--budget", "20,40", "--repetitions", 5, "--resume", "journal")
    results = []
    for folder in killed(work, *words):
        monkeypatch.chdir(folder)
        assert run(*words, "--json", "rows.json").code == 0
        rows = json.loads(Path("rows.json").read_text())["rows"]
        results.append([{key: value for key, value in row.items() if key != "cpu_seconds"} for row in rows])
    assert all(one == results[0] for one in results)


def test_predict(run: Run, digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for name in ("net.onnx", "field.npz", "train.npz"):
        (digits / name).rename(work / name)
    words = ("predict", "net.onnx", "field.npz", "--reference", "train.npz", "--auxiliary", "confidence,dsa")
    words += ("--batch", "8", "--activations", "acts.npy", "--out", "pool.csv")
    whole, *others = killed(work, *words)
    outputs = {name: (whole / name).read_bytes() for name in ("acts.npy", "pool.csv")}
    left = 0
    for folder in others:
        monkeypatch.chdir(folder)
        left += any(path.name.startswith(".") for path in folder.iterdir())
        assert all((folder / name).read_bytes() == data for name, data in outputs.items() if (folder / name).exists())
        assert run(*words).code == 0
        assert all((folder / name).read_bytes() == data for name, data in outputs.items())
        assert {path.name for path in folder.iterdir()} == {path.name for path in whole.iterdir()}
    assert left  # some were killed while they wrote


def test_predict_in_shards(run: Run, digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is finished stays, byte for byte; at most one shard is run anew."""
    work = tmp_path / "work"
    work.mkdir()
    for name in ("net.onnx", "field.npz", "train.npz"):
        (digits / name).rename(work / name)
    words = ("predict", "net.onnx", "field.npz", "--reference", "train.npz", "--auxiliary", "confidence,lsa")
    words += ("--batch", "4", "--rows", "8", "--out", "pool")
    whole, *others = killed(work, *words)
    shards = {path.name: path.read_bytes() for path in (whole / "pool").glob("0*.parquet")}
    assert len(shards) == 8
    kept = 0
    for folder in others:
        monkeypatch.chdir(folder)
        before = {path: path.stat().st_mtime_ns for path in folder.glob("pool/0*.parquet")}
        kept += len(before) + len(list(folder.glob("pool/.unfinished-*")))
        assert run(*words).code == 0
        assert all(path.stat().st_mtime_ns == time for path, time in before.items())
        assert {path.name: path.read_bytes() for path in Path("pool").glob("0*.parquet")} == shards
        assert not list(Path("pool").glob(".unfinished-*"))
    assert kept  # some were killed after shards were done


def test_predict_goes_on_in_its_own_folder_only(run: Run, digits: Path, tmp_path: Path) -> None:
    words = ("predict", digits / "net.onnx", digits / "field.npz", "--rows", "8", "--out", tmp_path / "pool")
    assert run(*words).code == 0
    shards = {path.name: path.read_bytes() for path in (tmp_path / "pool").glob("0*.parquet")}
    (tmp_path / "pool" / "000003.parquet").unlink()
    assert run(*words).code == 0  # a run that was done, and lost a file
    assert {path.name: path.read_bytes() for path in (tmp_path / "pool").glob("0*.parquet")} == shards
    (tmp_path / "pool" / "manifest.json").unlink()
    (tmp_path / "pool.csv").write_text("id,prediction\n1,a\n2,b\n")
    assert ".predict.json in it" in run("shard", tmp_path / "pool.csv", "--out", tmp_path / "pool").err
    (tmp_path / "pool" / "000001.parquet").write_bytes(shards["000001.parquet"][:-50])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "000000.parquet").write_bytes(b"mine")
    for folder, said in (("pool", "000001.parquet cannot be read"), ("own", "is there already")):
        refused = run(*words[:-1], tmp_path / folder)
        assert refused.code == 2
        assert said in refused.err
    assert [one.name for one in (tmp_path / "own").iterdir()] == ["000000.parquet"]
    (tmp_path / "pool" / ".predict.json").write_text("{")
    assert "cannot be read" in run(*words).err


def test_two_imports_at_once(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)
    assert run("start", "tea.csv", "--campaign", "c.db", "--budget", 40, "--seed", 5, "--design", "srs").code == 0
    assert run("next", "c.db", "-n", 40, "--out", "n.csv").code == 0
    rows = fill(Path("n.csv"), truth_of(Path("tea.csv")))
    for name, some in (("one.csv", rows[:25]), ("two.csv", rows[15:])):
        with Path(name).open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            writer.writerows(some)
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "fieldcheck", "import", "c.db", name], env=os.environ | CODE, stderr=subprocess.PIPE
        )
        for name in ("one.csv", "two.csv")
    ]
    for one in both:
        _, said = one.communicate(timeout=300)
        assert one.returncode == 0, said
    assert run("estimate", "c.db", "--json").json["labels"] == 40
