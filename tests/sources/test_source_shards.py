"""Pools in a folder of shards: the same pool, campaign and estimate as in one file, however it is cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.campaign import Campaign
from fieldcheck.core.errors import FieldcheckError, PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.engines import engine_of
from fieldcheck.files.scratch import Scratch
from fieldcheck.sources import sharded

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


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["shards"][0].update(file="a" * 5000 + ".parquet"),
        lambda said: said["shards"][0].update(file="a\0.parquet"),
        lambda said: said["shards"][0].update(file="..", rows=1),
        lambda said: said["shards"][0].update(digest=None),
        lambda said: said.update(shards=[], rows=0),
    ],
)
def test_a_list_that_was_edited_is_refused(whole: Path, tmp_path: Path, change: Callable[[Any], None]) -> None:
    sources.shard(whole, tmp_path / "cut", rows=320)
    place = tmp_path / "cut" / "manifest.json"
    said = json.loads(place.read_text())
    change(said)
    place.write_text(json.dumps(said))
    with pytest.raises(PoolError, match="try:"):
        sources.load(tmp_path / "cut")


def test_files_of_others_are_not_written_over(whole: Path, tmp_path: Path) -> None:
    """Though they are called as shards are."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "000000.parquet").write_bytes(b"mine")
    with pytest.raises(PoolError, match=r"is there already, with 000000\.parquet in it"):
        sources.shard(whole, tmp_path / "own", rows=320)
    assert [(one.name, one.read_bytes()) for one in (tmp_path / "own").iterdir()] == [("000000.parquet", b"mine")]


def test_an_unfinished_folder_goes_on_with_the_same_only(whole: Path, tmp_path: Path) -> None:
    sources.shard(whole, tmp_path / "cut", rows=320)
    (tmp_path / "cut" / "manifest.json").unlink()
    (tmp_path / "cut" / "000001.parquet").unlink()
    pq.write_table(pq.read_table(whole).slice(1), tmp_path / "other.parquet")
    for source, rows, said in ((tmp_path / "other.parquet", 320, "differs in pool"), (whole, 100, "differs in rows")):
        with pytest.raises(FieldcheckError, match=said):
            sources.shard(source, tmp_path / "cut", rows=rows)
    assert len(sources.shard(whole, tmp_path / "cut", rows=320).shards) == 2


def test_a_folder_that_came_to_nothing_is_free(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(FieldcheckError, match="no cluster"):
        sources.shard(whole, tmp_path / "cut", rows=320, engine=Broken())
    assert len(sources.shard(whole, tmp_path / "cut", rows=100).shards) == 7


@pytest.mark.parametrize("place", ["pool.parquet/cut", "cut"])
def test_what_cannot_be_cut_leaves_nothing(whole: Path, tmp_path: Path, place: str) -> None:
    if place == "cut":
        pq.write_table(pq.read_table(whole).slice(0, 0), whole)
    with pytest.raises(FieldcheckError, match="rule:"):
        sources.shard(whole, tmp_path / place, rows=320)
    assert [one.name for one in tmp_path.iterdir()] == ["pool.parquet"]


class Broken:
    name, title = "broken", "an engine that does not start"

    def map(self, *_: Any) -> Iterator[Any]:
        raise FieldcheckError("no cluster")


def probabilities(kind: str) -> pa.Table:
    rng = np.random.default_rng(5)
    shares = rng.dirichlet((4, 1, 1), SIZE)
    names = np.array(["cat", "dog", "eel"])
    columns = {f"proba_{name}": shares[:, at] for at, name in enumerate(names)}
    if kind == "matrix":
        columns = {"y_proba": pa.FixedSizeListArray.from_arrays(pa.array(shares.ravel()), 3)}
    if kind == "predicted":
        columns["prediction"] = names[shares.argmax(axis=1)]
    if kind == "one class of two":
        columns = {"prediction": (shares[:, 0] > 0.5).astype(int), "score": shares[:, 0]}
    if kind == "right or wrong":
        columns = {"correct": rng.random(SIZE) < 0.9, "confidence": shares.max(axis=1)}
    if kind == "gaps":
        columns = {"prediction": names[shares.argmax(axis=1)], "confidence": shares.max(axis=1)}
        columns["dsa"] = pa.array([1.0] * (SIZE - 9) + [None] * 9)
    if kind == "whole numbers":
        columns = {"prediction": np.append(np.zeros(300, dtype=int), rng.integers(0, 10**6, SIZE - 300))}
    return pa.table({"id": np.arange(SIZE), "age": rng.random(SIZE), **columns})


@pytest.mark.parametrize("room", [True, False])
@pytest.mark.parametrize(
    "kind", ["alone", "predicted", "matrix", "one class of two", "right or wrong", "gaps", "whole numbers"]
)
def test_a_pool_that_stays_in_its_shards_is_the_same(
    tmp_path: Path, kind: str, room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(probabilities(kind), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=200)
    if not room:
        monkeypatch.setattr(Scratch, "beside", lambda *_: None)
    one, other = sources.load(tmp_path / "pool.parquet"), sources.load(tmp_path / "cut", engine=engine_of("local"))
    assert (one.task, one.classes, one.notes) == (other.task, other.classes, other.notes)
    names = tuple(name for name in derived.names(one) if name != "combined")  # which needs the pool in memory
    assert names == derived.names(other)
    assert derived.constant(one) == derived.constant(other)
    assert derived.digest(one, names) == derived.digest(other, names)
    drawn = []
    for pool in (one, other):
        with Campaign.create(tmp_path / f"{len(drawn)}.db", pool, budget=80, seed=7) as held:
            drawn.append((held.settings.pool_digest, held.ask("Eva", n=80)))
    assert drawn[0] == drawn[1]


def test_the_first_shards_say_what_columns_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that hold enough items; a note says how many that were."""
    monkeypatch.setattr(sharded, "HEAD", 300)
    pq.write_table(probabilities("one class of two").drop_columns("id"), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=200)
    pool = sources.load(tmp_path / "cut", engine=engine_of("local"))
    assert pool.notes[0] == "of the first 400 items: no id column: items are numbered from 0"
    assert pool.origin.settings["confidence"] == "score:1"


def test_what_the_first_shards_say_holds_where_the_pool_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few different whole numbers are classes, many are not: but a pool is read in one way."""
    monkeypatch.setattr(sharded, "HEAD", 200)
    rows = {"id": np.arange(900), "prediction": np.where(np.arange(900) < 300, np.arange(900) % 4, np.arange(900) * 97)}
    pq.write_table(pa.table(rows), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=100)
    assert sources.load(tmp_path / "pool.parquet").task == "regression"
    pool = sources.load(tmp_path / "cut", engine=engine_of("local"))
    assert pool.task == pool.in_memory().task == "classification"
    assert pool.predictions_at(range(900)) == pool.in_memory().predictions_at(range(900))


def test_a_bad_value_is_found_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded, "HEAD", 1)
    rows = {"id": np.arange(SIZE), "prediction": ["a", "b"] * (SIZE // 2), "confidence": np.full(SIZE, 0.9)}
    rows["confidence"][405] = 1.7
    pq.write_table(pa.table(rows), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=200)
    with pytest.raises(PoolError, match=r"000002\.parquet: .* first '405' with 1.7 \(row 6\)"):
        sources.load(tmp_path / "cut", engine=engine_of("local")).id_of(0)


def test_nothing_is_written_over(whole: Path, tmp_path: Path) -> None:
    sources.shard(whole, tmp_path / "cut", rows=320)
    with pytest.raises(PoolError, match="is there already"):
        sources.shard(whole, tmp_path / "cut", rows=100)
    with pytest.raises(PoolError, match="is there already"):
        sources.shard(whole, tmp_path, rows=100)
    (tmp_path / "cut" / "manifest.json").unlink()  # as if it had been killed
    assert len(sources.shard(whole, tmp_path / "cut", rows=320).shards) == 2
