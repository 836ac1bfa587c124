"""Fingerprints of pools: the same for any cut, another for any change."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from fieldcheck.core.pool import fingerprint as fingerprints
from fieldcheck.core.pool.fingerprint import fingerprint

IDS = {
    "numbers": np.arange(100) * 3,
    "text": pa.chunked_array([[f"é{at}" for at in range(37)], [f"item {at}" for at in range(63)]]),
}


def made(ids: object, places: list[int], *, change: int | None = None) -> str:
    """Of rows that are cut at some places, and put together from the last part to the first."""
    chance, codes = np.random.default_rng(0).random(100), np.arange(100) % 3
    if change is not None:
        chance[change] += 1e-12
    ends, parts = [0, *places, 100], []
    for first, last in pairwise(ends):
        rows = slice(first, last)
        parts.append(fingerprint([ids[rows], chance[rows]], codes[rows], ("a", "b", "c"), "classification", first))  # type: ignore[index]
    total = parts[-1]
    for part in parts[-2::-1]:
        total = total + part
    return total.short(["dsa"])


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_the_same_for_any_cut(ids: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "ROWS", 16)
    whole = made(ids, [])
    assert all(made(ids, places) == whole for places in ([1], [16], [50], [5, 17, 18, 64, 99], list(range(1, 100))))
    assert all(made(ids, [50], change=at) != whole for at in (0, 15, 16, 99))


def test_names_count() -> None:
    ids, codes = np.arange(4), np.array([0, 1, 0, 1])
    first, second = (fingerprint([ids], codes, names, "classification", 0) for names in (("a", "b"), ("a", "c")))
    assert first.short(()) != second.short(())
    assert first.short(("dsa",)) != first.short(("lsa",))
