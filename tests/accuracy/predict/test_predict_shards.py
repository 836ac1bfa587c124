"""Predictions in shards: the same as in one file, resumed after a kill, and no work twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.predict import Prediction, predict_shards
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.models.base import Response

from .subjects import Linear

RNG = np.random.default_rng(3)
FIELD, TRAIN = RNG.normal(0, 1, (500, 2)), RNG.normal(0, 1, (80, 2))
TRUTH = RNG.integers(0, 3, 500)


@dataclass
class Model(Linear):
    """Counts what it is asked; stops after so many items, where it is told to."""

    limit: int | None = None
    items: int = 0

    def respond(self, batch: Any, *, layers: Sequence[str] = ()) -> Response:
        self.items += len(batch)
        if self.limit is not None and self.items > self.limit:
            raise KeyboardInterrupt
        return super().respond(batch, layers=layers)


def asked(model: Any, auxiliary: list[str] | None, **more: Any) -> Prediction:
    return Prediction(model, FIELD, reference=TRAIN, auxiliary=auxiliary, batch=50, **more)


@pytest.mark.parametrize("auxiliary", [None, ["confidence", "margin", "entropy"], ["confidence", "lsa", "knn:k=3"]])
def test_shards_hold_what_one_file_holds(tmp_path: Path, auxiliary: list[str] | None) -> None:
    predict_shards(asked(Model(), auxiliary, labels=TRUTH), tmp_path / "cut", rows=150)
    sources.save(asked(Model(), auxiliary, labels=TRUTH).pool(), tmp_path / "pool.parquet")
    one, other = sources.load(tmp_path / "pool.parquet"), sources.load(tmp_path / "cut")
    names = derived.names(one)
    assert derived.names(other) == names
    assert other.digest() == one.digest()
    for name in names:
        np.testing.assert_allclose(derived.values(other, name), derived.values(one, name), rtol=1e-12, atol=1e-12)
    assert np.array_equal(one.losses(), other.losses())


def test_a_run_that_stops_goes_on_and_loses_one_shard(tmp_path: Path) -> None:
    plan = {"rows": 100}
    with pytest.raises(KeyboardInterrupt):
        predict_shards(asked(Model(limit=320 + len(TRAIN)), ["confidence", "lsa"]), tmp_path / "cut", **plan)
    with pytest.raises(FieldcheckError, match="may not be finished"):
        sources.load(tmp_path / "cut")
    again = Model()
    made = predict_shards(asked(again, ["confidence", "lsa"]), tmp_path / "cut", **plan)
    reference, opening = len(TRAIN), 2  # the reference is run anew; one item tells how many classes there are
    assert again.items <= 500 - 300 + 100 + reference + opening
    whole = asked(Model(), ["confidence", "lsa"]).pool()
    pool = sources.load(tmp_path / "cut")
    assert made.rows == len(pool) == 500
    np.testing.assert_allclose(derived.values(pool, "lsa"), derived.values(whole, "lsa"), rtol=1e-12)
    last = Model()
    assert predict_shards(asked(last, ["confidence", "lsa"]), tmp_path / "cut", **plan).shards == made.shards
    assert last.items == 0


def test_classes_that_look_like_numbers_in_one_shard(tmp_path: Path) -> None:
    """Only the last shard predicts the class with a name: it must not change the type of the column on the way."""
    field = np.sort(FIELD[:, 0])[:, None]

    def model(batch: Any) -> Any:
        share = np.where(np.asarray(batch)[:, 0] > 1.0, 0.9, 0.2)
        return np.column_stack([1 - share, share])

    want = Prediction(model, field, classes=["7", "many"], keep_probabilities=False, batch=50)
    made = predict_shards(want, tmp_path / "cut", rows=100)
    assert made.schema["prediction"] == "string"
    assert sources.load(tmp_path / "cut").digest() == want.pool().digest()


def test_another_run_does_not_mix_with_it(tmp_path: Path) -> None:
    predict_shards(asked(Model(), None), tmp_path / "cut", rows=100)
    with pytest.raises(FieldcheckError, match="differs in auxiliary"):
        predict_shards(asked(Model(), ["margin"]), tmp_path / "cut", rows=100)
