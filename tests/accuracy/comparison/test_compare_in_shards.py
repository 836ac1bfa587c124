"""Comparisons of pools in shards: the same to the last bit for any cut of either, and no pool is read whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fieldcheck import sources
from fieldcheck.accuracy.comparison.disagreements import ContestedItems
from fieldcheck.accuracy.comparison.matching import aligned
from fieldcheck.accuracy.comparison.planning import plan
from fieldcheck.campaign import Annotation, Campaign
from fieldcheck.core.errors import PoolError
from fieldcheck.core.label import TrueClass, Value
from fieldcheck.core.pool.engine import Engine
from fieldcheck.engines import Processes
from fieldcheck.files.scratch import Scratch
from fieldcheck.sources import sharded

from ..test_shards import AnyOrder

SIZE = 1400

NAMES = ("ours", "theirs", "third")

CUTS = ((1, 1, 1), (2, 7, 2), (64, 7, 1), (7, 64, 3))
"""Into how many shards the pools are cut."""


def truth_of(task: str) -> list[Any]:
    """By item, as a person would say it."""
    rng = np.random.default_rng(1)
    if task == "classification":
        return [TrueClass(one) for one in rng.choice(["cat", "dog", "eel"], SIZE).tolist()]
    return [Value(one) for one in rng.normal(size=SIZE).tolist()]


def table(task: str, seed: int) -> pa.Table:
    """What one of the models said; the second knows fewer classes, and the third says nothing of its confidence."""
    rng = np.random.default_rng(seed + 2)
    columns: dict[str, Any] = {"id": [f"item {at * 7:05d}" for at in range(SIZE)]}
    if task == "regression":
        truth = np.array([one.number for one in truth_of(task)])
        columns["prediction"] = truth + rng.normal(size=SIZE) * (rng.random(SIZE) < 0.2) * (1 + seed)
        return pa.table(columns)
    doubt = rng.beta(0.4, 3.0, SIZE)
    wrong = rng.random(SIZE) < doubt
    others = ["cat", "dog"] if seed == 1 else ["cat", "dog", "eel", "fox"]
    columns["prediction"] = np.where(wrong, rng.choice(others, SIZE), [one.name for one in truth_of(task)])
    return pa.table(columns | ({} if seed == 2 else {"confidence": 1 - doubt}))


@pytest.fixture(scope="module", params=["classification", "regression"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pools, each in one file and cut into shards."""
    place = tmp_path_factory.mktemp(request.param)
    for seed, name in enumerate(NAMES):
        parquet.write_table(table(request.param, seed), place / f"{name}.parquet")
        for count in {one[seed] for one in CUTS}:
            sources.shard(place / f"{name}.parquet", place / f"{name}-{count}", rows=-(-SIZE // count))
    return place


def files(folder: Path, cut: tuple[int, ...] | None) -> list[Path]:
    if cut is None:
        return [folder / f"{name}.parquet" for name in NAMES]
    return [folder / f"{name}-{count}" for name, count in zip(NAMES, cut, strict=True)]


def played(
    place: Path, pools: list[Path], *, engine: Engine | None, budget: int | None, reuse: Path | None = None
) -> tuple[list[str], str]:
    """A comparison, labelled until it asks for no more: the items in their order, and the answer to the last digit."""
    truth = truth_of("regression" if "regression" in str(pools[0]) else "classification")
    options: dict[str, Any] = {"budget": budget, "seed": 4, "reuse": reuse, "labels_unseen": reuse is not None}
    with Campaign.create(place, pools[0], against=pools[1:], engine=engine, **options) as held:
        while (waiting := held.ask("Eva", n=1_000)) and len(held.state.items) < 300:
            held.tell_all([Annotation(one, truth[int(one[5:]) // 7], by="Eva") for one in waiting])
        assert engine is None or not any(pool.held for pool in held.view.question.pools)
        said, items = repr(held.estimate()), list(held.state.items)
    with Campaign.open(place, engine=engine) as again:
        assert repr(again.estimate()) == said
        assert engine is None or not any(pool.held for pool in again.view.question.pools)
    return items, said


@pytest.mark.parametrize("budget", [60, None])
def test_the_same_for_any_cut_and_order(folder: Path, tmp_path: Path, budget: int | None) -> None:
    whole = played(tmp_path / "whole.db", files(folder, None), engine=None, budget=budget)
    for number, cut in enumerate(CUTS):
        found = played(tmp_path / f"{number}.db", files(folder, cut), engine=AnyOrder(number), budget=budget)
        assert found == (whole[0], _as_named(whole[1], cut))


def _as_named(text: str, cut: tuple[int, ...]) -> str:
    """A pool is called by its file."""
    for name, count in zip(NAMES, cut, strict=True):
        text = text.replace(name, f"{name}-{count}")
    return text


def test_the_same_in_other_processes_and_without_room_for_columns(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = played(tmp_path / "whole.db", files(folder, None)[:2], engine=None, budget=60)
    there = played(tmp_path / "there.db", files(folder, CUTS[1])[:2], engine=Processes(2), budget=60)
    monkeypatch.setattr(Scratch, "beside", lambda *_: None)
    bare = played(tmp_path / "bare.db", files(folder, CUTS[1])[:2], engine=AnyOrder(), budget=60)
    for found in (there, bare):
        assert found == (whole[0], _as_named(whole[1], CUTS[1]))


def test_one_of_them_in_one_file(folder: Path) -> None:
    """The first, or the other."""
    whole = ContestedItems.of([sources.load(one) for one in files(folder, None)[:2]])
    for shards in (0, 1):
        places = files(folder, None)[:2]
        places[shards] = files(folder, CUTS[1])[shards]
        pools = [sources.load(one, engine=AnyOrder()) for one in places]
        found = ContestedItems.of(pools)
        assert np.array_equal(found.items, whole.items)
        assert found.digest() == whole.digest()
        assert not pools[shards].held


def test_labels_of_an_earlier_campaign(folder: Path, tmp_path: Path) -> None:
    truth = truth_of("regression" if "regression" in str(folder) else "classification")
    with Campaign.create(tmp_path / "old.db", folder / "ours.parquet", "srs", budget=80, seed=1) as old:
        said = [Annotation(one, truth[int(one[5:]) // 7], by="Eva") for one in old.ask("Eva", n=80)]
        old.tell_all(said)
    asked: dict[str, Any] = {"budget": 40, "reuse": tmp_path / "old.db"}
    whole = played(tmp_path / "whole.db", files(folder, None)[:2], engine=None, **asked)
    cut = played(tmp_path / "cut.db", files(folder, CUTS[1])[:2], engine=AnyOrder(), **asked)
    assert cut == (whole[0], _as_named(whole[1], CUTS[1]))


@pytest.mark.parametrize("folder", ["classification"], indirect=True)
def test_a_plan_is_the_same(folder: Path) -> None:
    first, second = (sources.load(one, engine=AnyOrder()) for one in files(folder, CUTS[1])[:2])
    whole = plan(*files(folder, None)[:1], against=files(folder, None)[1]).to_dict()
    found = plan(first, against=second).to_dict()
    names = {"first", "second", "sentences"}
    assert {key: found[key] for key in {*found} - names} == {key: whole[key] for key in {*whole} - names}
    assert found["forecasts"]
    assert not any(pool.held for pool in (first, second))


def written(place: Path, ids: Any, *, name: str) -> Path:
    rng = np.random.default_rng(3)
    count = len(ids)
    said = {"prediction": rng.choice(["a", "b"], count), "confidence": rng.random(count)}
    parquet.write_table(pa.table({"id": ids, **said}), place / f"{name}.parquet")
    sources.shard(place / f"{name}.parquet", place / name, rows=40)
    return place / name


@pytest.mark.parametrize("kind", [int, str])
def test_another_order_is_put_right_in_memory(tmp_path: Path, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    order = np.random.default_rng(2).permutation(100)
    ours = sources.load(written(tmp_path, [*range(100)], name="ours"), engine=AnyOrder())
    theirs = sources.load(written(tmp_path, [kind(at) for at in order], name="theirs"), engine=AnyOrder())
    monkeypatch.setattr(sharded, "_free_memory", lambda: 1000)
    with pytest.raises(PoolError, match="with pools in the same order"):
        aligned(ours, theirs)
    monkeypatch.undo()
    found = aligned(ours, theirs)
    assert found.ids_of(np.arange(100)) == [str(at) for at in range(100)]
    assert found.predictions_at(order.tolist()) == theirs.predictions_at(range(100))


def test_numbers_and_their_text_are_the_same_ids(tmp_path: Path) -> None:
    ours = sources.load(written(tmp_path, [*range(100)], name="ours"), engine=AnyOrder())
    theirs = sources.load(written(tmp_path, [str(at) for at in range(100)], name="theirs"), engine=AnyOrder())
    assert aligned(ours, theirs) is theirs


def test_other_items_are_named(tmp_path: Path) -> None:
    ours = sources.load(written(tmp_path, [*range(100)], name="ours"), engine=AnyOrder())
    theirs = sources.load(written(tmp_path, [*range(5, 104)], name="theirs"), engine=AnyOrder())
    with pytest.raises(PoolError) as raised:
        aligned(ours, theirs)
    assert "5 only in 'ours' ('0', '1', '2', ...); 4 only in 'theirs' ('100', '101', '102', ...)" in str(raised.value)
