"""CSV, Parquet and frames as inputs: texts or rows, streamed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from fieldcheck.core.errors import InputsError
from fieldcheck.sources import open_inputs
from fieldcheck.sources.inputs import tables

SIZE = 30


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": [f"item {at}" for at in range(SIZE)],
            "height": rng.normal(size=SIZE),
            "count": rng.integers(0, 9, SIZE),
            "label": rng.choice(["yes", "no"], SIZE),
        }
    )


def write(path: Path, table: pd.DataFrame) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path, row_group_size=7)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.fixture(params=["t.csv", "t.tsv", "t.parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Blocks are small, so that batches go across them."""
    monkeypatch.setattr(tables, "ROWS", 4)
    monkeypatch.setattr(tables, "BLOCK", 200)
    return write(tmp_path / request.param, frame())


def test_rows(path: Path) -> None:
    inputs = open_inputs(path)
    want = frame()
    assert (inputs.kind, inputs.columns, len(inputs)) == ("row", ("height", "count"), SIZE)
    assert inputs.ids.to_pylist() == want["id"].tolist()
    assert inputs.labels.tolist() == want["label"].tolist()
    np.testing.assert_array_equal(inputs.batch(0, SIZE), want[["height", "count"]].to_numpy())


def test_any_order_of_batches(path: Path) -> None:
    inputs, want = open_inputs(path, columns=["count", "height"]), frame()[["count", "height"]].to_numpy()
    for start, stop in ((0, 3), (3, 11), (25, 30), (2, 9), (0, 30), (29, 40)):
        np.testing.assert_array_equal(inputs.batch(start, stop), want[start:stop])


def test_texts(tmp_path: Path) -> None:
    table = pd.DataFrame({"review": ['good, "very"', "two\nlines", "ümläut", ""], "stars": [5, 1, 3, 2]})
    path = write(tmp_path / "t.parquet", table)
    inputs = open_inputs(path, label="stars")
    assert (inputs.kind, inputs.batch(0, 9)) == ("text", table["review"].tolist())
    assert inputs.labels.tolist() == [5, 1, 3, 2]
    table.iloc[:3].to_csv(tmp_path / "t.csv", index=False)
    assert open_inputs(tmp_path / "t.csv").batch(1, 3) == ["two\nlines", "ümläut"]


def test_the_column_of_texts_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}))
    assert open_inputs(path, text="B").batch(0, 2) == ["u", "v"]
    with pytest.raises(InputsError, match="which column"):
        open_inputs(path)
    with pytest.raises(InputsError, match="no column 'c'"):
        open_inputs(path, text="c")


def test_a_missing_text_names_the_item(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", pd.DataFrame({"id": ["p", "q"], "text": ["x", None]}))
    with pytest.raises(InputsError, match=r"'q' \(row 2\)"):
        open_inputs(path).batch(0, 2)


def test_a_word_among_numbers_names_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", 64)
    (tmp_path / "t.csv").write_text("height\n" + "1.5\n" * 40 + "tall\n")
    with pytest.raises(InputsError, match=r"'height' is not a number .*row 41"):
        open_inputs(tmp_path / "t.csv").batch(35, 41)


@pytest.mark.parametrize("content", ["", "a,b\n", "a,a\n1,2\n", "a,b\n1\n", "a\n\xe9\n"])
def test_bad_csv(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_text(content, encoding="latin-1")
    with pytest.raises(InputsError):
        open_inputs(tmp_path / "t.csv")


def test_a_label_that_need_not_be_there() -> None:
    table = pd.DataFrame({"u": [0.5, 1.5], "grade": [1, 2]})
    assert open_inputs(table, label="grade", label_required=False).columns == ("u",)
    assert open_inputs(table.drop(columns="grade"), label="grade", label_required=False).labels is None
    with pytest.raises(InputsError, match="grade"):
        open_inputs(table.drop(columns="grade"), label="grade")


def test_encoding(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("text;label\ncafé;1\n", encoding="latin-1")
    assert open_inputs(tmp_path / "t.csv", encoding="latin-1").batch(0, 1) == ["café"]


def test_damaged_parquet(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(InputsError, match="Parquet"):
        open_inputs(tmp_path / "t.parquet")


def test_frames_and_tables() -> None:
    want = frame()
    for source in (want, pa.Table.from_pandas(want, preserve_index=False)):
        np.testing.assert_array_equal(open_inputs(source).batch(3, 5), want[["height", "count"]].to_numpy()[3:5])


@given(
    blocks=st.lists(st.integers(1, 5), min_size=1, max_size=6),
    asked=st.lists(st.tuples(st.integers(0, 29), st.integers(1, 9)), max_size=8),
)
def test_cursor_gives_any_rows(blocks: list[int], asked: list[tuple[int, int]]) -> None:
    """Whatever the blocks of the stream and the order of the questions, rows are those of the whole."""
    ends = np.cumsum(blocks)
    size = int(ends[-1])

    def stream() -> object:
        return iter([pa.table({"a": np.arange(end - length, end)}) for end, length in zip(ends, blocks, strict=True)])

    cursor = tables.Cursor(stream)  # type: ignore[arg-type]
    for start, length in asked:
        if start < size:
            stop = min(start + length, size)
            assert cursor.rows(start, stop).column(0).to_pylist() == list(range(start, stop))
