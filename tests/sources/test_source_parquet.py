"""Parquet: types of all kinds, chunks, and damaged files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.errors import PoolError


def written(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "field.parquet"


def test_types_of_all_kinds(path: Path) -> None:
    columns = {
        "ID": pa.array([3, 1, 2], pa.uint32()),
        "y_pred": pa.array(["a", "b", "a"]).dictionary_encode(),
        "target": pa.array(["a", "a", "a"], pa.large_string()),
        "confidence": pa.array([0.5, 0.25, 1.0], pa.float32()),
        "dsa": pa.array([Decimal("1.50"), Decimal("0.00"), Decimal("2.00")]),
        "count": pa.array([1, None, 3]),
        "when": pa.array([0, 1, 2], pa.timestamp("s")),
        "nothing": pa.nulls(3),
    }
    pool = sources.load(written(path, columns))
    assert pool.ids.tolist() == [3, 1, 2]
    assert pool.losses().tolist() == [0.0, 1.0, 0.0]
    assert derived.values(pool, "dsa").tolist() == [1.5, 0.0, 2.0]
    assert np.isnan(pool.column("count")[1])
    assert derived.names(pool) == ("confidence", "combined", "dsa")


@pytest.mark.parametrize("ids", [list(range(100)), [f"img_{i}" for i in range(100)]])
def test_many_chunks_are_one_pool(path: Path, ids: list[Any]) -> None:
    columns = {"id": ids, "prediction": [i % 7 for i in range(100)], "lsa": [float(i) for i in range(100)]}
    pool = sources.load(written(path, columns, row_group_size=9))
    assert [pool.id_of(i) for i in range(100)] == [str(one) for one in ids]
    assert pool.predictions is not None
    assert pool.predictions.tolist() == [i % 7 for i in range(100)]
    assert derived.values(pool, "lsa").tolist() == columns["lsa"]


def test_duplicate_across_chunks_is_found(path: Path) -> None:
    ids = [*range(50), 3]
    with pytest.raises(PoolError, match=r"field\.parquet.*'id'.*with 3 \(row 51\)"):
        sources.load(written(path, {"id": ids, "prediction": ids}, row_group_size=9))


def test_bad_value_is_named_with_its_row(path: Path) -> None:
    columns = {"id": ["x", "y"], "prediction": [1, 2], "confidence": [0.5, None]}
    with pytest.raises(PoolError, match=r"field\.parquet.*'confidence'.*'y' with nan \(row 2\)"):
        sources.load(written(path, columns))


def test_empty_table(path: Path) -> None:
    with pytest.raises(PoolError, match="empty"):
        sources.load(written(path, {"id": pa.array([], pa.int64()), "prediction": pa.array([], pa.int64())}))


def test_duplicate_column(path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(PoolError, match="'a'"):
        sources.load(path)


@pytest.mark.parametrize("keep", [4, 100, 300, -20])
def test_cut_off(path: Path, keep: int) -> None:
    written(path, {"id": list(range(500)), "prediction": list(range(500))})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(PoolError, match="Parquet"):
        sources.load(path)


@pytest.mark.parametrize("at", range(4, 400, 13))
def test_a_damaged_byte_is_refused_or_harmless(path: Path, at: int) -> None:
    """Parquet has no checksums by default, so a changed value may pass; only a PoolError may come out."""
    written(path, {"id": list(range(50)), "prediction": ["a", "b"] * 25})
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 0xFF
    path.write_bytes(bytes(content))
    try:
        sources.load(path)
    except PoolError as error:
        assert "field.parquet" in str(error)  # noqa: PT017 -- either outcome is right
