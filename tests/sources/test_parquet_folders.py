"""Folders of Parquet files as Spark and Dask write them, and shards that are cut anew: one pool, like one file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.campaign import Campaign
from fieldcheck.core.errors import PoolError
from fieldcheck.engines import engine_of

SIZE = 600


def table(first: int, last: int) -> pa.Table:
    rng = np.random.default_rng(8)
    doubt, said = rng.beta(0.5, 2.0, SIZE), rng.integers(0, 3, SIZE)
    ids = [f"img_{at:04d}" for at in range(SIZE)]
    full = pa.table({"id": ids, "prediction": np.array(["cat", "dog", "eel"])[said], "confidence": 1 - doubt})
    return full.slice(first, last - first)


@pytest.fixture
def spark(tmp_path: Path) -> Path:
    """Three countries, one of them without a name; a file without rows; marks and checksums."""
    folder = tmp_path / "by country"
    for name, first, last in (("country=de", 0, 200), ("country=C%C3%B4te d%27Ivoire", 200, 350)):
        (folder / name).mkdir(parents=True)
        middle = (first + last) // 2
        pq.write_table(table(first, middle), folder / name / "part-00000.snappy.parquet", row_group_size=37)
        pq.write_table(table(middle, last), folder / name / "part-00001.snappy.parquet")
        pq.write_table(table(0, 0), folder / name / "part-00002.snappy.parquet")
        (folder / name / ".part-00000.snappy.parquet.crc").write_bytes(b"crc")
    nobody = folder / "country=__HIVE_DEFAULT_PARTITION__"
    nobody.mkdir()
    pq.write_table(table(350, SIZE), nobody / "part-00000.parquet")
    (folder / "_SUCCESS").write_text("")
    return folder


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """The same in one file: folders in the order of their names, capitals first."""
    order = [table(200, 350), table(350, SIZE), table(0, 200)]
    countries = ["Côte d'Ivoire"] * 150 + [None] * 250 + ["de"] * 200
    pq.write_table(pa.concat_tables(order).append_column("country", pa.array(countries)), tmp_path / "whole.parquet")
    return tmp_path / "whole.parquet"


@pytest.mark.parametrize("rows", [90, 600])
def test_a_folder_is_cut_like_one_file(spark: Path, whole: Path, tmp_path: Path, rows: int) -> None:
    made = sources.shard(spark, tmp_path / "cut", rows=rows)
    same = sources.shard(whole, tmp_path / "same", rows=rows)
    assert (made.rows, made.schema) == (SIZE, same.schema)
    one, other = sources.load(tmp_path / "cut"), sources.load(whole)
    assert derived.digest(one, derived.names(one)) == derived.digest(other, derived.names(other))
    assert one.ids.to_pylist() == other.ids.to_pylist()
    assert one.columns["country"].to_pylist() == other.columns["country"].to_pylist()
    drawn = []
    for at, place in enumerate((tmp_path / "cut", whole)):
        with Campaign.create(tmp_path / f"{at}.db", place, budget=40, seed=3) as held:
            drawn.append(held.ask("Eva", n=40))
    assert drawn[0] == drawn[1]


def test_only_folders_in_the_folder_say_something(spark: Path, tmp_path: Path) -> None:
    made = sources.shard(spark / "country=de", tmp_path / "cut", rows=1)
    assert (made.rows, len(made.shards), list(made.schema)) == (200, 200, ["id", "prediction", "confidence"])


def test_processes_cut_the_same(spark: Path, tmp_path: Path) -> None:
    here = sources.shard(spark, tmp_path / "here", rows=100)
    told: list[tuple[int, int]] = []
    there = sources.shard(
        spark,
        tmp_path / "there",
        rows=100,
        engine=engine_of("processes:workers=2"),
        progress=lambda done, of: told.append((done, of)),
    )
    assert here == there
    assert (7, 7) in told
    assert told[-1] == (6, 6)


def test_shards_are_cut_anew(whole: Path, tmp_path: Path) -> None:
    direct = sources.shard(whole, tmp_path / "direct", rows=70)
    sources.shard(whole, tmp_path / "small", rows=11)
    assert sources.shard(tmp_path / "small", tmp_path / "anew", rows=70) == direct


def test_what_a_file_says_itself_its_folder_need_not_say(tmp_path: Path) -> None:
    folder = tmp_path / "pool" / "prediction=wrong"
    folder.mkdir(parents=True)
    pq.write_table(table(0, 20), folder / "0.parquet")
    sources.shard(tmp_path / "pool", tmp_path / "cut")
    assert pq.read_table(tmp_path / "cut" / "000000.parquet").equals(table(0, 20))


def test_types_of_single_files_are_brought_together(tmp_path: Path) -> None:
    """A column is empty in one file, whole numbers in another, in another order in a third."""
    folder = tmp_path / "pool"
    folder.mkdir()
    pq.write_table(pa.table({"id": [1], "prediction": ["a"], "age": pa.nulls(1)}), folder / "0.parquet")
    pq.write_table(pa.table({"id": [2], "prediction": ["b"], "age": [30]}), folder / "1.parquet")
    pq.write_table(pa.table({"age": [30.5], "prediction": ["a"], "id": [3]}), folder / "2.parquet")
    sources.shard(folder, tmp_path / "cut", rows=2)
    cut = pq.read_table([tmp_path / "cut" / name for name in ("000000.parquet", "000001.parquet")])
    assert cut.to_pydict() == {"id": [1, 2, 3], "prediction": ["a", "b", "a"], "age": [None, 30.0, 30.5]}


@pytest.mark.parametrize(
    ("strange", "problem"),
    [
        (pa.table({"id": ["x"], "prediction": ["cat"]}), "only one of .*confidence"),
        (pa.table({"id": ["x"], "prediction": ["cat"], "confidence": ["high"]}), "confidence.*double vs string"),
    ],
)
def test_files_of_two_tables_are_refused(tmp_path: Path, strange: pa.Table, problem: str) -> None:
    (tmp_path / "pool").mkdir()
    pq.write_table(table(0, 20), tmp_path / "pool" / "a.parquet")
    pq.write_table(strange, tmp_path / "pool" / "b.parquet")
    with pytest.raises(PoolError, match=rf"b\.parquet: .*{problem}"):
        sources.shard(tmp_path / "pool", tmp_path / "cut")
    assert not (tmp_path / "cut").exists()


def no_files(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "notes.txt").write_text("nothing")


def no_rows(folder: Path) -> None:
    no_files(folder)
    pq.write_table(table(0, 0), folder / "0.parquet")


def no_parquet(folder: Path) -> None:
    (folder / "z.parquet").write_bytes(b"PAR1 but no more")


def unfinished(folder: Path) -> None:
    (folder / ".predict.json").write_text("{}")


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (no_files, "without manifest"),
        (no_rows, "is empty"),
        (no_parquet, r"z\.parquet"),
        (unfinished, "may not be finished"),
    ],
)
def test_a_folder_without_a_pool_is_refused(
    spark: Path, tmp_path: Path, harm: Callable[[Path], None], problem: str
) -> None:
    harm(spark)
    with pytest.raises(PoolError, match=problem):
        sources.shard(spark, tmp_path / "cut")


def test_a_changed_shard_is_not_cut_anew(whole: Path, tmp_path: Path) -> None:
    sources.shard(whole, tmp_path / "cut", rows=200)
    (tmp_path / "cut" / "000000.parquet").write_bytes((tmp_path / "cut" / "000001.parquet").read_bytes())
    with pytest.raises(PoolError, match="is not the one that was written"):
        sources.shard(tmp_path / "cut", tmp_path / "anew")
