"""Written and read again, a pool is the same pool."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.pools.arrays import from_arrays

# Words that cannot be taken for numbers, truth values or missing cells: text files mix those up.
letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"))
words = st.text(letters, max_size=6).map(lambda text: "w" + text)
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def arrays(draw: st.DrawFn) -> dict[str, Any]:
    size = draw(st.integers(1, 12))

    def column(values: st.SearchStrategy[Any], **more: Any) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size, **more))

    given_: dict[str, Any] = {}
    if draw(st.booleans()):
        # 2^53 ends the whole numbers that a float keeps; larger ids are tested on their own.
        given_["ids"] = column(draw(st.sampled_from([words, st.integers(-(2**53) + 1, 2**53 - 1)])), unique=True)
    kind = draw(st.sampled_from([words, st.integers(-5, 20), finite.map(lambda value: value + 0.5)]))
    given_["y_pred"] = column(kind)
    given_["y_true"] = column(kind)
    given_["confidence"] = column(st.floats(0, 1))
    given_["auxiliary"] = {"lsa": column(st.floats(0, 1e300)), "note": column(words)}
    return given_


def assert_same(one: Pool, two: Pool) -> None:
    assert (one.task, one.classes, len(one)) == (two.task, two.classes, len(two))
    assert [one.id_of(i) for i in range(len(one))] == [two.id_of(i) for i in range(len(two))]
    for name in ("predictions", "target", "failed", "confidence", "probabilities"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert set(one.columns) == set(two.columns)
    for name in one.columns:
        np.testing.assert_array_equal(np.asarray(one.columns[name]), np.asarray(two.columns[name]), err_msg=name)
    assert derived.digest(one, ["confidence"]) == derived.digest(two, ["confidence"])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@settings(max_examples=60, deadline=None)
@given(given_=arrays())
def test_written_and_read(suffix: str, given_: dict[str, Any]) -> None:
    pool = from_arrays(**given_)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"pool{suffix}"
        sources.save(pool, path)
        assert_same(pool, sources.load(path, task=pool.task))


@settings(max_examples=60, deadline=None)
@given(given_=arrays())
def test_npz(given_: dict[str, Any]) -> None:
    pool = from_arrays(**given_)
    flat = {("id" if key == "ids" else key): v for key, v in given_.items() if key != "auxiliary"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.npz"
        np.savez(path, **flat, **given_["auxiliary"])  # type: ignore[arg-type]
        assert_same(pool, sources.load(path, task=pool.task))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "given_",
    [
        {"outcome": ["Pass", "Fail"], "confidence": [0.5, 0.25]},
        {"y_proba": [[0.25, 0.75], [0.5, 0.5]], "classes": ["x", "y"], "y_true": ["y", "z"]},
        {"y_pred": ["None", "nan"], "confidence": [1.0, 1.0], "ids": ["007", "0x1F"]},
        {"y_pred": [1, 2], "confidence": [1.0, 1.0], "ids": [2**63 - 1, -(2**63)]},
        {"y_pred": [True, False], "y_true": [True, True], "confidence": [1.0, 0.0]},
    ],
)
def test_corners(tmp_path: Path, suffix: str, given_: dict[str, Any]) -> None:
    pool = from_arrays(**given_)
    sources.save(pool, tmp_path / f"pool{suffix}")
    assert_same(pool, sources.load(tmp_path / f"pool{suffix}"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_folder_that_is_not_there(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(PoolError, match="absent"):
        sources.save(from_arrays(y_pred=[1, 2]), tmp_path / "absent" / f"pool{suffix}")
