"""Variables get blocks of one size: neither their values nor their speed depend on the size of the batches."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace
from fieldcheck.accuracy.predict import blocks, predict
from fieldcheck.accuracy.predict.blocks import Column, FittedVariable, Gathered, block_size
from fieldcheck.core.types import FloatArray

from .subjects import Linear, labelled, rows


@dataclass(frozen=True)
class Sums(AsIs):
    """The sum of each item's activations, and a record of what was given."""

    sizes: list[int] = field(default_factory=list)
    seen: list[frozenset[str]] = field(default_factory=list)

    def values(self, trace: Trace) -> FloatArray:
        self.sizes.append(len(trace))
        self.seen.append(trace.has())
        return np.asarray(trace.activations, dtype=np.float64).sum(axis=1)


def gathered(fitted: Sums, size: int, parts: frozenset[str] = frozenset({"activations"})) -> Gathered:
    return Gathered(FittedVariable(fitted, parts), "classification", Column(size))


@pytest.mark.parametrize("batch", [1, 3, 4, 7, 10, 25])
def test_blocks_have_one_size_whatever_the_batches(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 10)
    items, fitted = rows(25).astype(np.float32), Sums()
    one = gathered(fitted, 25)
    for start in range(0, 25, batch):
        part = items[start : start + batch]
        one.add(Trace("classification", np.zeros(len(part)), np.ones((len(part), 3)), part))
    np.testing.assert_array_equal(one.finish(), np.maximum(items.astype(np.float64).sum(axis=1), 0))
    assert fitted.sizes == [10, 10, 5]
    assert set(fitted.seen) == {frozenset({"task", "predictions", "activations"})}  # the rest is not kept


def test_a_model_may_write_its_next_answer_over_the_last() -> None:
    fitted, buffer = Sums(), np.empty((2, 2), dtype=np.float32)
    one = gathered(fitted, 6)
    for number in range(3):
        buffer[:] = number
        one.add(Trace("classification", np.zeros(2), activations=buffer))
    assert one.finish().tolist() == [0, 0, 2, 2, 4, 4]


def test_large_items_make_small_blocks() -> None:
    codes = np.zeros(8, dtype=np.int64)
    assert block_size({"predictions": codes, "activations": np.zeros((8, 512), np.float32)}) == blocks.BLOCK
    photos = np.zeros((8, 3, 224, 224), np.float32)
    assert block_size({"predictions": codes, "inputs": photos}) == blocks.BYTES // (8 + 4 * 3 * 224 * 224)
    assert block_size({"predictions": codes, "inputs": np.zeros((1, blocks.BYTES), np.float32)}) == 1
    assert block_size({"predictions": codes, "inputs": ["a text"] * 8}) == blocks.BLOCK


def test_texts_are_gathered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 3)

    @dataclass(frozen=True)
    class Lengths(AsIs):
        def values(self, trace: Trace) -> FloatArray:
            return np.array([len(text) for text in trace.inputs], dtype=np.float64)

    one = Gathered(FittedVariable(Lengths(), frozenset({"inputs"})), "classification", Column(5))
    for part in (["a", "bb"], ["ccc", "dddd", "eeeee"]):
        one.add(Trace("classification", np.zeros(len(part)), inputs=part))
    assert one.finish().tolist() == [1, 2, 3, 4, 5]


def test_distances_are_the_same_floats_in_every_batch_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 16)
    names = ["dsa", "lsa", "mdsa", "knn", "knn_disagreement"]
    first, *others = (
        predict(Linear(), rows(50), reference=labelled(40, seed=9), auxiliary=names, batch=batch)
        for batch in (50, 1, 7, 16, 33)
    )
    for other in others:
        for name in names:
            np.testing.assert_array_equal(first.columns[name], other.columns[name])
