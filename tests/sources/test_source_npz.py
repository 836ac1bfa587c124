"""npz: arrays by name, matrices of probabilities, and files that lie."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.errors import PoolError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "field.npz"


def written(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, **arrays)
    return path


def test_probabilities_and_classes(path: Path) -> None:
    pred_probs = np.array([[0.25, 0.75], [1.0, 0.0]], dtype=np.float32)
    pool = sources.load(
        written(path, pred_probs=pred_probs, classes=np.array(["cat", "dog"]), labels=np.array(["cat", "cat"]))
    )
    assert pool.name == "field"
    assert pool.classes == ("cat", "dog")
    assert pool.losses().tolist() == [1.0, 0.0]
    assert pool.probabilities is not None
    assert pool.probabilities.dtype == np.float32


def test_flat_probability_is_confidence(path: Path) -> None:
    pool = sources.load(written(path, y_pred=np.array([0, 1, 2]), y_pred_proba=np.array([0.5, 0.25, 1.0])))
    assert pool.confidence is not None
    assert pool.confidence.tolist() == [0.5, 0.25, 1.0]


def test_mapped_matrix(path: Path) -> None:
    arrays = written(path, soft=np.array([[0.5, 0.5]]), cls=np.array([1]))
    pool = sources.load(arrays, columns={"probabilities": "soft", "prediction": "cls"})
    assert derived.values(pool, "margin").tolist() == [1.0]
    with pytest.raises(PoolError, match="'sofd'"):
        sources.load(arrays, columns={"probabilities": "sofd"})


def test_other_shapes_are_left_out_with_a_note(path: Path) -> None:
    pool = sources.load(written(path, y_pred=np.array([1, 2]), activations=np.zeros((2, 3)), version=np.array(1)))
    assert "activations" in " ".join(pool.notes)
    assert "version" in " ".join(pool.notes)


def test_bytes_are_text(path: Path) -> None:
    assert sources.load(written(path, y_pred=np.array([b"a", b"b"]))).classes == ("a", "b")


def test_lengths_differ(path: Path) -> None:
    with pytest.raises(PoolError, match=r"field\.npz.*'y_true' has 3.*'y_pred' has 2"):
        sources.load(written(path, y_pred=np.array([1, 2]), y_true=np.array([1, 2, 3])))


def test_nothing_is_unpickled(path: Path) -> None:
    with pytest.raises(PoolError, match="'y_pred' holds Python objects"):
        sources.load(written(path, y_pred=np.array([{"a": 1}], dtype=object)))


@pytest.mark.parametrize("keep", [1, 40, 150])
def test_cut_off(path: Path, keep: int) -> None:
    written(path, y_pred=np.arange(100))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(PoolError, match="npz"):
        sources.load(path)


def lying(path: Path, shape: str) -> Path:
    head = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(16)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("y_pred.npy", content)
    return path


@pytest.mark.parametrize(
    "shape", ["(1000000000000000,)", "(-5,)", "(9223372036854775807, 9223372036854775807)", "('a',)"]
)
def test_a_header_that_promises_too_much(path: Path, shape: str) -> None:
    with pytest.raises(PoolError, match=r"field\.npz"):
        sources.load(lying(path, shape))


def test_an_honest_header_made_the_same_way_is_read(path: Path) -> None:
    assert len(sources.load(lying(path, "(2,)"))) == 2


def test_other_members_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello, this is no array")
    with pytest.raises(PoolError, match="npz"):
        sources.load(path)


@pytest.mark.parametrize("at", range(0, 300, 11))
def test_a_damaged_byte_gives_no_traceback(path: Path, at: int) -> None:
    stream = io.BytesIO()
    np.savez(stream, y_pred=np.arange(5), id=np.arange(5))
    content = bytearray(stream.getvalue())
    content[at % len(content)] ^= 0xFF
    path.write_bytes(bytes(content))
    try:
        sources.load(path)
    except PoolError as error:
        assert "field.npz" in str(error)  # noqa: PT017 -- either outcome is right


def test_pools_are_not_written_as_npz(path: Path) -> None:
    pool = sources.load(written(path, y_pred=np.arange(5)))
    with pytest.raises(PoolError, match=r"\.npz"):
        sources.save(pool, path)


def test_the_byte_order_of_another_machine(path: Path) -> None:
    said = {"id": np.array(["a", "b"]), "prediction": np.array([0, 1]), "target": np.array([1, 1])}
    arrays = {**said, "confidence": np.array([0.5, 0.75]), "probs": np.array([[0.75, 0.25], [0.5, 0.5]])}
    swapped = {name: values.astype(values.dtype.newbyteorder("S")) for name, values in arrays.items()}
    one, other = (sources.load(written(path, **made)) for made in (arrays, swapped))
    assert other.digest() == one.digest()
    assert other.losses().tolist() == one.losses().tolist() == [1.0, 0.0]
    assert np.array_equal(other.probabilities, one.probabilities)
