"""Re-use of labels for pools in shards: the same to the last bit for any cut of either, and no pool is read whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fieldcheck import sources
from fieldcheck.campaign import Annotation, Campaign
from fieldcheck.campaign.exchange.training import TrainingSet
from fieldcheck.core.errors import PoolError
from fieldcheck.core.label import Missing, TrueClass, Value
from fieldcheck.core.pool.engine import Engine
from fieldcheck.engines import Processes
from fieldcheck.files.scratch import Scratch
from fieldcheck.sources import sharded

from ..test_shards import AnyOrder

SIZE = 1400

NAMES = ("first", "second", "third")
"""Versions of a model."""

CUTS = ((1, 1, 1), (2, 7, 3), (40, 7, 1), (3, 40, 2))
"""Into how many shards the pools are cut."""

Said = list[tuple[list[str], str]]
"""Of each campaign: its items in their order, and all that it says to the last digit."""


def truth_of(task: str) -> list[Any]:
    """By item, as a person would say it; one item in thirty cannot be labelled."""
    rng = np.random.default_rng(1)
    if task == "classification":
        said: list[Any] = [TrueClass(one) for one in rng.choice(["cat", "dog", "eel"], SIZE).tolist()]
    else:
        said = [Value(one) for one in rng.normal(size=SIZE).tolist()]
    return [Missing("too dark") if at % 30 == 7 else one for at, one in enumerate(said)]


def table(task: str, version: int) -> pa.Table:
    rng = np.random.default_rng(version + 2)
    columns: dict[str, Any] = {"id": [f"item {at * 7:05d}" for at in range(SIZE)]}
    columns["place"] = rng.choice(["here", "there"], SIZE)
    columns["lsa"] = doubt = rng.beta(0.4, 3.0, SIZE) * (1 - 0.2 * version)
    answers = np.random.default_rng(1)
    if task == "regression":
        return pa.table(columns | {"prediction": answers.normal(size=SIZE) + rng.normal(size=SIZE) * doubt})
    truth, wrong = answers.choice(["cat", "dog", "eel"], SIZE), rng.random(SIZE) < doubt
    # One version knows fewer classes: it numbers them in its own way.
    others = ["cat", "dog"] if version == 1 else ["cat", "bat", "eel", "fox"]
    said = np.where(wrong, rng.choice(others, SIZE), truth)
    return pa.table(columns | {"prediction": said, "confidence": 1 - doubt})


@pytest.fixture(scope="module", params=["classification", "regression"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions, each in one file and cut into shards."""
    place = tmp_path_factory.mktemp(request.param)
    for version, name in enumerate(NAMES):
        parquet.write_table(table(request.param, version), place / f"{name}.parquet")
        for count in {one[version] for one in CUTS}:
            sources.shard(place / f"{name}.parquet", place / f"{name}-{count}", rows=-(-SIZE // count))
    return place


def files(folder: Path, cut: tuple[int, ...] | None) -> list[Path]:
    if cut is None:
        return [folder / f"{name}.parquet" for name in NAMES]
    return [folder / f"{name}-{count}" for name, count in zip(NAMES, cut, strict=True)]


def played(place: Path, task: str, pool: Path, engine: Engine | None, most: int = 1_000, **asked: Any) -> Any:
    """A campaign, labelled until it asks for no more, or for as many items of the top-up; then opened again."""
    truth = truth_of(task)
    with Campaign.create(place, pool, engine=engine, seed=4, **asked) as held:
        while waiting := held.ask("Eva", n=most):
            held.tell_all([Annotation(one, truth[int(one[5:]) // 7], by="Eva") for one in waiting])
            if most < 1_000:
                break
    with Campaign.open(place, engine=engine) as again:
        question = again.view.question
        said = repr(again.estimate())
        if "reuse" in asked and "against" not in asked:
            said += repr(again.view.change(by=("prediction", "place", "lsa")))
        past = getattr(question, "past", None)
        for one in (*question.pools, *([] if past is None else [past.pool])):
            # The engine is that of the pool that is asked about, which has none in one file.
            assert pool.suffix or one.held == (Path(str(one.origin.file)).suffix == ".parquet")
        return list(again.state.items), re.sub(f"({'|'.join(NAMES)})-[0-9]+", r"\1", said)  # pools are called by files


def rounds(place: Path, pools: list[Path], engine: Engine | None, design: str = "waves") -> Said:
    """A campaign, its labels for the second version, all of these for the third one, and for a comparison of both."""
    task = "regression" if "regression" in str(pools[0]) else "classification"
    place.mkdir()
    first, second, third = (place / f"{name}.db" for name in NAMES)
    later: dict[str, Any] = {"labels_unseen": True}
    return [
        played(first, task, pools[0], engine, design=design, budget=60),
        played(second, task, pools[1], engine, reuse=first, budget=30, **later),
        played(third, task, pools[2], engine, reuse=second, budget=20, **later),
        played(place / "part.db", task, pools[1], engine, most=9, reuse=first, budget=20, **later),
        played(place / "none.db", task, pools[1], engine, reuse=first, budget=0, **later),
        played(place / "both.db", task, pools[1], engine, against=[pools[2]], reuse=second, budget=30, **later),
    ]


def test_the_same_for_any_cut_and_order(folder: Path, tmp_path: Path) -> None:
    whole = rounds(tmp_path / "whole", files(folder, None), None)
    for number, cut in enumerate(CUTS):
        assert rounds(tmp_path / str(number), files(folder, cut), AnyOrder(number)) == whole


def test_after_a_simple_random_sample(folder: Path, tmp_path: Path) -> None:
    whole = rounds(tmp_path / "whole", files(folder, None), None, "srs")
    assert rounds(tmp_path / "cut", files(folder, CUTS[1]), AnyOrder(), "srs") == whole


def test_the_same_in_other_processes_and_without_room_for_columns(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rounds(tmp_path / "whole", files(folder, None), None)
    assert rounds(tmp_path / "there", files(folder, CUTS[1]), Processes(2)) == whole
    monkeypatch.setattr(Scratch, "beside", lambda *_: None)
    assert rounds(tmp_path / "bare", files(folder, CUTS[1]), AnyOrder()) == whole


@pytest.mark.parametrize("alone", [0, 1])
def test_one_of_them_in_one_file(folder: Path, tmp_path: Path, alone: int) -> None:
    whole = rounds(tmp_path / "whole", files(folder, None), None)
    pools = files(folder, CUTS[1])
    pools[alone] = files(folder, None)[alone]
    assert rounds(tmp_path / "mixed", pools, Processes(2)) == whole


def test_another_order_is_put_right_in_memory(folder: Path, tmp_path: Path) -> None:
    task = "regression" if "regression" in str(folder) else "classification"
    parquet.write_table(table(task, 1)[::-1], tmp_path / "second.parquet")
    sources.shard(tmp_path / "second.parquet", tmp_path / "second", rows=200)
    played(tmp_path / "old.db", task, folder / "first-2", AnyOrder(), budget=60)
    said = []
    for name, engine in (("second.parquet", None), ("second", AnyOrder())):
        asked: dict[str, Any] = {"reuse": tmp_path / "old.db", "labels_unseen": True, "budget": 30}
        with Campaign.create(tmp_path / f"{name}.db", tmp_path / name, engine=engine, seed=4, **asked) as held:
            truth = truth_of(task)
            held.tell_all([Annotation(one, truth[int(one[5:]) // 7], by="Eva") for one in held.ask("Eva", n=30)])
            said.append((repr(held.estimate()), repr(held.view.change(by=("place", "lsa")))))
    assert said[0] == said[1]


@pytest.mark.parametrize("folder", ["classification"], indirect=True)
def test_a_version_that_was_trained_on_items_needs_the_pool_in_memory(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, (first, second, _) = tmp_path / "old.db", files(folder, CUTS[1])
    played(old, "classification", first, AnyOrder(), budget=60, train_share=0.5)
    with Campaign.open(old, engine=AnyOrder()) as given:
        assert TrainingSet.of(given)
    monkeypatch.setattr(sharded, "_free_memory", lambda: 1000)
    with pytest.raises(PoolError, match="re-use with pools in the same order"):
        Campaign.create(tmp_path / "new.db", second, reuse=old, trained_on=["elsewhere"], engine=AnyOrder())
    monkeypatch.undo()
    with Campaign.create(tmp_path / "new.db", second, reuse=old, trained_on=["elsewhere"], engine=AnyOrder()) as held:
        assert len(held.pool) < SIZE
