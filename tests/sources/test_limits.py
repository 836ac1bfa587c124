"""Small files that unpack to a lot: refused before they are unpacked, unless that was asked for."""

from __future__ import annotations

import tracemalloc
import zlib
from pathlib import Path
from struct import pack

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fieldcheck.core.errors import FieldcheckError, InputsError, PoolError
from fieldcheck.files import limits
from fieldcheck.files.limits import SETTING, allowed, in_units, read_size
from fieldcheck.sources import load, open_inputs

FEW = 1 << 20
"""Bytes that are allowed here, so that bombs are quickly made."""


LONG = FEW // 8 + 1
"""Numbers of 8 bytes that are too many."""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr(limits, "USUAL", FEW)


def bomb(path: Path, **arrays: object) -> Path:
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    assert path.stat().st_size < FEW // 100
    return path


@pytest.fixture
def zeros(tmp_path: Path) -> Path:
    return bomb(tmp_path / "zeros.npz", prediction=np.zeros(LONG))


@pytest.mark.parametrize(("read", "error"), [(load, PoolError), (open_inputs, InputsError)])
def test_an_npz_is_refused_before_it_is_unpacked(zeros: Path, read: object, error: type[Exception]) -> None:
    tracemalloc.start()
    with pytest.raises(error, match=r"--max-size 2MB"):
        read(f"{zeros}#prediction" if read is open_inputs else zeros)  # type: ignore[operator]
    assert tracemalloc.get_traced_memory()[1] < FEW // 2
    tracemalloc.stop()


def test_arrays_that_are_not_used_are_not_unpacked(tmp_path: Path) -> None:
    path = bomb(tmp_path / "x.npz", prediction=np.arange(4) % 2, wide=np.zeros((1, LONG)))
    pool = load(path)
    assert len(pool) == 4
    assert "'wide' is left out: it has 2 dimensions" in pool.notes


def test_more_can_be_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "x.npz", prediction=np.zeros(1 << 20, dtype=np.int64))
    monkeypatch.setenv(SETTING, "7MB")
    with pytest.raises(PoolError, match=r"unpacks from .* KB to 8 MB"):
        load(path)
    monkeypatch.setenv(SETTING, "8 MB")
    assert len(load(path)) == 1 << 20


def test_a_text_that_recurs_in_a_parquet_file(tmp_path: Path) -> None:
    codes = pa.array(np.zeros(10_000, dtype=np.int32))
    texts = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1000]))
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"text": texts, "prediction": codes}), path)
    assert path.stat().st_size < FEW // 100
    for read, error in ((load, PoolError), (open_inputs, InputsError)):
        with pytest.raises(error, match="--max-size"):
            read(path)


def test_one_long_text_among_short_ones_is_no_bomb(tmp_path: Path) -> None:
    size = 1_000
    texts = ["long " * 400] + [str(at % 7) for at in range(size - 1)]
    parquet.write_table(pa.table({"text": texts, "prediction": [0] * size}), tmp_path / "x.parquet")
    assert len(load(tmp_path / "x.parquet")) == size


def test_numbers_that_recur_in_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"prediction": np.zeros(LONG, dtype=np.int64)}), path)
    assert path.stat().st_size < FEW // 100
    with pytest.raises(PoolError, match="--max-size"):
        load(path)


def test_an_image_of_more_pixels_than_its_file_can_hold(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(700, 600))
    with pytest.raises(InputsError, match="--max-size"):
        open_inputs(tmp_path)


def png(width: int, height: int) -> bytes:
    """An image in colour that promises so many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))

    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(1000), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_large_files_may_unpack_to_more() -> None:
    assert allowed(100) == FEW
    assert allowed(FEW) == 100 * FEW


@pytest.mark.parametrize(
    ("text", "size"), [("5", 5), ("4GB", 4 << 30), ("1.5 mb", 3 << 19), ("2KiB", 2048), ("1T", 1 << 40)]
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "many", "-1", "4 XB", "1e9", "GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(FieldcheckError, match="--max-size 4GB"):
        read_size(text)


def test_sizes_in_words_can_be_read_again() -> None:
    for size in (0, 1, 1023, 1024, 1500, 3 << 20, (1 << 30) + 1, 5 << 40):
        assert read_size(in_units(size, up=True)) >= size
