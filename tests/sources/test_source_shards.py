"""Pools in a folder of shards: the same pool, campaign and estimate as in one file, however it is cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.campaign import Campaign
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.engines import engine_of

SIZE = 640


def columns(rng: np.random.Generator) -> dict[str, Any]:
    doubt = rng.beta(0.5, 2.0, SIZE)
    truth = rng.integers(0, 4, SIZE)
    said = np.where(rng.random(SIZE) < doubt, (truth + 1) % 4, truth)
    names = np.array(["cat", "dog", "eel", "fox"])
    return {
        "id": [f"img_{at}" for at in range(SIZE)],
        "prediction": names[said],
        "confidence": 1 - doubt,
        "dsa": doubt + rng.random(SIZE),
        "target": names[truth],
        "city": np.where(rng.random(SIZE) < 0.5, "Rom", None),
    }


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    table = pa.table(columns(np.random.default_rng(4)))
    pq.write_table(table, tmp_path / "pool.parquet", row_group_size=90)
    return tmp_path / "pool.parquet"


def campaign(place: Path, storage: Path) -> tuple[list[str], str, str]:
    """What a campaign in waves on this pool draws, what it says in the end, and the fingerprint of its pool."""
    truth = dict(zip(columns(np.random.default_rng(4))["id"], columns(np.random.default_rng(4))["target"], strict=True))
    drawn: list[str] = []
    with Campaign.create(storage, place, budget=80, seed=7, auxiliary="confidence+dsa") as held:
        while todo := held.ask("Eva", n=20):
            drawn += todo
            for item in todo:
                held.tell(item, str(truth[item]), by="Eva")
        return drawn, repr(held.estimate()), held.settings.pool_digest


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_a_campaign_is_the_same_however_the_pool_is_cut(whole: Path, tmp_path: Path, count: int) -> None:
    made = sources.shard(whole, tmp_path / "cut", rows=-(-SIZE // count))
    assert (len(made.shards), made.rows) == (count, SIZE)
    assert campaign(tmp_path / "cut", tmp_path / "cut.db") == campaign(whole, tmp_path / "whole.db")


def same(one: Pool, other: Pool) -> bool:
    names = derived.names(one)
    alike = [np.array_equal(derived.values(one, name), derived.values(other, name)) for name in names]
    return derived.digest(one, names) == derived.digest(other, names) and all(alike) and one.classes == other.classes


def test_text_files_keep_their_columns(tmp_path: Path) -> None:
    rows = [f"{at},{'ab'[at % 2]},{90 + at % 10}%,{at / 7},x {at}" for at in range(100)]
    (tmp_path / "pool.csv").write_text("\n".join(["id,prediction,confidence,lsa,note", *rows]))
    sources.shard(tmp_path / "pool.csv", tmp_path / "cut", rows=33)
    one, other = sources.load(tmp_path / "pool.csv"), sources.load(tmp_path / "cut")
    assert same(one, other)
    assert list(one.columns) == list(other.columns)
    assert one.notes == other.notes


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_probabilities_keep_their_digits_and_classes(tmp_path: Path, kind: Any) -> None:
    shares = np.random.default_rng(1).dirichlet(np.ones(3), 50).astype(kind)
    np.savez(tmp_path / "pool.npz", y_proba=shares, classes=["a", "b", "c"], lsa=np.arange(50.0))
    sources.shard(tmp_path / "pool.npz", tmp_path / "cut", rows=20)
    one, other = sources.load(tmp_path / "pool.npz"), sources.load(tmp_path / "cut")
    assert other.probabilities is not None
    assert other.probabilities.dtype == kind
    assert same(one, other)


def test_processes_write_the_same_shards(whole: Path, tmp_path: Path) -> None:
    here = sources.shard(whole, tmp_path / "here", rows=200)
    there = sources.shard(whole, tmp_path / "there", rows=200, engine=engine_of("processes:workers=2"))
    assert here == there


def test_the_manifest_knows_rows_and_ranges(whole: Path, tmp_path: Path) -> None:
    sources.shard(whole, tmp_path / "cut", rows=300)
    said = json.loads((tmp_path / "cut" / "manifest.json").read_text())
    assert [(one["offset"], one["rows"]) for one in said["shards"]] == [(0, 300), (300, 300), (600, 40)]
    dsa = pq.read_table(whole).column("dsa").to_numpy()
    assert said["shards"][1]["ranges"]["dsa"] == [dsa[300:600].min(), dsa[300:600].max()]


def forget(folder: Path) -> None:
    (folder / "000001.parquet").unlink()


def swap(folder: Path) -> None:
    (folder / "000000.parquet").write_bytes((folder / "000001.parquet").read_bytes())


def outside(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace("000001.parquet", "../pool.parquet"))


def shorten(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text[: len(text) // 2])


def unfinished(folder: Path) -> None:
    (folder / "manifest.json").unlink()


@pytest.mark.parametrize("harm", [forget, swap, outside, shorten, unfinished])
def test_a_damaged_folder_is_refused(whole: Path, tmp_path: Path, harm: Callable[[Path], None]) -> None:
    sources.shard(whole, tmp_path / "cut", rows=320)
    harm(tmp_path / "cut")
    with pytest.raises(PoolError, match="rule:"):
        sources.load(tmp_path / "cut")


def test_nothing_is_written_over(whole: Path, tmp_path: Path) -> None:
    sources.shard(whole, tmp_path / "cut", rows=320)
    with pytest.raises(PoolError, match="is there already"):
        sources.shard(whole, tmp_path / "cut", rows=100)
    with pytest.raises(PoolError, match="is there already"):
        sources.shard(whole, tmp_path, rows=100)
    (tmp_path / "cut" / "manifest.json").unlink()  # as if it had been killed
    assert len(sources.shard(whole, tmp_path / "cut", rows=320).shards) == 2
