"""Folders of Parquet files as Spark and Dask write them, and shards that are cut anew: one pool, like one file."""

from __future__ import annotations

import json
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


def log_of_delta(folder: Path) -> None:
    (folder / "_delta_log").mkdir()
    (folder / "_delta_log" / "00000000000000000000.json").write_text("{}")


def metadata_of_iceberg(folder: Path) -> None:
    (folder / "metadata").mkdir()
    (folder / "metadata" / "v1.metadata.json").write_text("{}")


def shards_inside(folder: Path) -> None:
    sources.shard(folder / "country=de", folder.parent / "cut within")
    (folder.parent / "cut within").rename(folder / "out")


def link_to_a_folder(folder: Path) -> None:
    (folder / "more").symlink_to(folder / "country=de")


def link_to_nothing(folder: Path) -> None:
    (folder / "z.parquet").symlink_to(folder / "nowhere.parquet")


def name_without_letters(folder: Path) -> None:
    Path(f"{folder}/country=\udce9").mkdir()
    pq.write_table(table(0, 3), folder / "0.parquet")
    (folder / "0.parquet").rename(f"{folder}/country=\udce9/0.parquet")


def other_classes(folder: Path) -> None:
    """As the package datasets writes them: numbers, and in the schema what they stand for."""
    no_files(folder)
    for at, names in enumerate((["cat", "dog"], ["dog", "cat"])):
        feature = {"prediction": {"names": names, "_type": "ClassLabel"}}
        about = {b"huggingface": json.dumps({"info": {"features": feature}}).encode()}
        rows = pa.table({"id": [at], "prediction": [0]}).replace_schema_metadata(about)
        pq.write_table(rows, folder / f"{at}.parquet")


def numbers_that_no_type_holds(folder: Path) -> None:
    no_files(folder)
    pq.write_table(pa.table({"id": [2**62 + 1], "prediction": ["a"]}), folder / "0.parquet")
    pq.write_table(pa.table({"id": [0.5], "prediction": ["a"]}), folder / "1.parquet")


def no_parquet(folder: Path) -> None:
    (folder / "z.parquet").write_bytes(b"PAR1 but no more")


def unfinished(folder: Path) -> None:
    (folder / ".predict.json").write_text("{}")


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (no_files, "no Parquet files"),
        (no_rows, "is empty"),
        (no_parquet, r"z\.parquet"),
        (log_of_delta, "Delta Lake"),
        (metadata_of_iceberg, "Iceberg"),
        (shards_inside, "shards of their own"),
        (link_to_a_folder, "link to a folder"),
        (link_to_nothing, r"z\.parquet: no such file"),
        (name_without_letters, "not UTF-8"),
        (other_classes, r"1\.parquet: numbers stand for other classes"),
        (numbers_that_no_type_holds, r"0\.parquet: (?s:.*)one table"),
        (unfinished, "may not be finished"),
    ],
)
def test_a_folder_without_a_pool_is_refused(
    spark: Path, tmp_path: Path, harm: Callable[[Path], None], problem: str
) -> None:
    harm(spark)
    with pytest.raises(PoolError, match=problem):
        sources.shard(spark, tmp_path / "cut")


def test_folders_with_a_value_are_not_hidden(spark: Path, tmp_path: Path) -> None:
    """Spark hides names that begin with ``_``, but not where they say something."""
    (spark / "country=de").rename(tmp_path / "kept")
    shutil.rmtree(spark)
    spark.mkdir()
    (tmp_path / "kept").rename(spark / "_year=2020")
    made = sources.shard(spark, tmp_path / "cut")
    assert (made.rows, "_year" in made.schema) == (200, True)


def test_shards_are_not_written_into_what_is_cut(spark: Path) -> None:
    with pytest.raises(PoolError, match="beside the files"):
        sources.shard(spark, spark / "out")
    assert not (spark / "out").exists()


def test_types_that_are_read_otherwise_than_written_are_read(tmp_path: Path) -> None:
    """Lists whose inner field has another name, as older writers have it."""
    shares = pa.array([[0.5, 0.5], [0.2, 0.8]], pa.list_(pa.field("item", pa.float64())))
    rows = pa.table({"id": [1, 2], "prediction": ["a", "b"], "y_proba": shares})
    pq.write_table(rows, tmp_path / "pool.parquet", use_compliant_nested_type=False)
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=1)
    assert sources.load(tmp_path / "cut").ids.tolist() == [1, 2]


def test_codes_into_dictionaries_go_with_texts(tmp_path: Path) -> None:
    (tmp_path / "pool").mkdir()
    said = (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]))
    for at, one in enumerate(said):
        pq.write_table(pa.table({"id": [2 * at, 2 * at + 1], "prediction": one}), tmp_path / "pool" / f"{at}.parquet")
    sources.shard(tmp_path / "pool", tmp_path / "cut")
    read = pq.read_table(tmp_path / "cut" / "000000.parquet")
    assert read.column("prediction").to_pylist() == ["a", "b", "b", "c"]


def test_a_changed_shard_is_not_cut_anew(whole: Path, tmp_path: Path) -> None:
    sources.shard(whole, tmp_path / "cut", rows=200)
    (tmp_path / "cut" / "000000.parquet").write_bytes((tmp_path / "cut" / "000001.parquet").read_bytes())
    with pytest.raises(PoolError, match="is not the one that was written"):
        sources.shard(tmp_path / "cut", tmp_path / "anew")
