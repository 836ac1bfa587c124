"""Slices, metrics and what people read of them over shards: the same to the last bit, and no pool is read whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fieldcheck import sources
from fieldcheck.accuracy.assessment import cutting, sampling
from fieldcheck.accuracy.assessment.metrics import metrics, true_classes_of
from fieldcheck.accuracy.assessment.slices import slices
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.campaign import Annotation, Campaign
from fieldcheck.campaign.exchange import labels
from fieldcheck.core.errors import PoolError
from fieldcheck.core.label import TrueClass
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.engines import Processes
from fieldcheck.files.scratch import Scratch
from fieldcheck.numerics import order
from fieldcheck.report.campaign import campaign_page
from fieldcheck.sources import sharded
from fieldcheck.web import snapshot

from .test_shards import SIZE, AnyOrder, table

COUNTS = (1, 2, 7, 64)

COPIES = {"said", "percent"}
"""Columns of the pool below that repeat what the model said."""

COLUMNS = ("prediction", "confidence", "dsa", "Site", "age", "floor", "amount", "flag", "day")
"""Of the pool below: classes, numbers, text, numbers with gaps and infinities, few whole ones, many, truth, dates."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A pool with columns of all kinds, in one file and cut; and what its items truly are."""
    folder, rng = tmp_path_factory.mktemp("described"), np.random.default_rng(3)
    rows, losses = table("classification")
    age, site = rng.normal(40, 10, SIZE), rng.choice(["north", "south", "", None], SIZE, p=[0.5, 0.3, 0.1, 0.1])
    age[::40], age[7], age[8] = np.nan, np.inf, -np.inf
    site[SIZE // 2 :][site[SIZE // 2 :] == "north"] = "east"  # some names are in some shards only
    made = {
        "Site": pa.array(site.tolist(), pa.string()),
        "age": age,
        "floor": pa.array([None if at % 9 == 0 else int(at % 4) for at in range(SIZE)]),
        "amount": rng.integers(0, 10**6, SIZE),
        "flag": rng.random(SIZE) < 0.3,
        "day": pa.array(rng.integers(0, 4, SIZE).astype("datetime64[D]")),
        "note": [f"n{at}" for at in range(SIZE)],
        "tags": [[str(at % 3)] for at in range(SIZE)],
        "said": rows["prediction"],
        "percent": 100 * rows["confidence"].to_numpy(),
    }
    for name, column in made.items():
        rows = rows.append_column(name, pa.array(column))
    parquet.write_table(rows, folder / "pool.parquet")
    for count in COUNTS:
        sources.shard(folder / "pool.parquet", folder / str(count), rows=-(-SIZE // count))
    said = np.array(rows["prediction"].to_pylist())
    return folder, np.where(losses > 0, np.where(said == "cat", "dog", "cat"), said)


def labelled_of(pool: Pool, losses: np.ndarray, spec: str) -> Labelled:
    design = sampling.build_design(spec)
    sample = design.draw(sampling.frame_for(pool, design, None), losses, budget=150, seed=5)
    drawn = losses[sample.items]
    return Labelled(sample, drawn, drawn > 0.5, pool.task)


def parts(pool: Pool, truth: np.ndarray, spec: str = "waves", by: Sequence[str] = COLUMNS) -> list[Any]:
    """Slices by some columns, and all metrics."""
    losses = (truth != np.array(pool.predictions_at(range(SIZE)))).astype(np.float64)
    labelled = labelled_of(pool, losses, spec)
    labels = {name: TrueClass(str(truth[at])) for at, name in enumerate(pool.ids_of(np.arange(SIZE)))}
    classes = true_classes_of(labelled, pool, labels)
    return [*(slices(labelled, pool, one).to_dict() for one in by), metrics(labelled, pool, classes).to_dict()]


@pytest.fixture
def never_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool in shards that is read whole is an error."""

    def refused(pool: Pool) -> Pool:
        raise AssertionError("read whole")

    monkeypatch.setattr(sharded.ShardedPool, "in_memory", refused)


@pytest.mark.usefixtures("never_whole")
@pytest.mark.parametrize("spec", ["waves", "waves:objective=estimate", "srs"])
def test_slices_and_metrics_are_the_same_for_any_cut_and_order(described: tuple[Path, np.ndarray], spec: str) -> None:
    folder, truth = described
    whole = parts(sources.load(folder / "pool.parquet"), truth, spec)
    names = [[row["slice"] for row in part["rows"]] for part in whole[:-1]]
    assert names[0] == ["cat", "dog", "eel"]
    assert names[3] == ["(missing)", "east", "north", "south"]
    assert (names[4][0][:5], names[4][-1], len(names[4])) == ("up to", "(missing)", 5)
    assert names[5] == ["0", "1", "2", "3", "(missing)"]
    assert all(sum(row["items"] for row in part["rows"]) == SIZE for part in whole[:-1])
    for count in COUNTS if spec == "waves" else (7,):
        assert parts(sources.load(folder / str(count), engine=AnyOrder(count)), truth, spec) == whole


@pytest.mark.usefixtures("never_whole")
def test_slices_are_the_same_in_other_processes(described: tuple[Path, np.ndarray]) -> None:
    folder, truth = described
    by = ("Site", "age")
    whole = parts(sources.load(folder / "pool.parquet"), truth, by=by)
    assert parts(sources.load(folder / "7", engine=Processes(2)), truth, by=by) == whole


@pytest.mark.usefixtures("never_whole")
def test_slices_are_the_same_where_little_is_kept_and_few_are_fetched(
    described: tuple[Path, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in large pools: frames of parts, ranks by further counts; and without room for columns."""
    folder, truth = described
    whole = parts(sources.load(folder / "pool.parquet"), truth)
    monkeypatch.setattr(derived, "FEW", 100)
    monkeypatch.setattr(order, "FETCHED", 8)
    assert parts(sources.load(folder / "pool.parquet"), truth) == whole
    monkeypatch.setattr(Scratch, "beside", lambda *_: None)
    assert parts(sources.load(folder / "7", engine=AnyOrder()), truth) == whole


@pytest.mark.usefixtures("never_whole")
def test_slices_of_errors_are_the_same(tmp_path: Path) -> None:
    rows, losses = table("regression")
    parquet.write_table(rows, tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=400)
    found = []
    for pool in (sources.load(tmp_path / "pool.parquet"), sources.load(tmp_path / "cut", engine=AnyOrder())):
        both = ("prediction", "lsa")
        found.append([slices(labelled_of(pool, losses, "waves"), pool, one).to_dict() for one in both])
    assert found[0] == found[1]


@pytest.mark.usefixtures("never_whole")
def test_names_of_items_are_no_slices_and_lists_are(described: tuple[Path, np.ndarray]) -> None:
    folder, _ = described
    for pool in (sources.load(folder / "pool.parquet"), sources.load(folder / "64", engine=AnyOrder())):
        with pytest.raises(PoolError, match="more than 1,000 different values"):
            cutting.cut(pool, "note")
        assert cutting.cut(pool, "tags").names == ("['0']", "['1']", "['2']")
        at = np.array([2499, 0, 1, 41])
        assert cutting.cut(pool, "tags").codes(pool, at).tolist() == (at % 3).tolist()


@pytest.mark.usefixtures("never_whole")
def test_what_people_read_leaves_shards_where_they_are(
    described: tuple[Path, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report, the desk and the labels with their weights: as of one file, and no copy of a prediction is shown."""
    monkeypatch.setattr(import_module("fieldcheck.campaign.items.copies"), "RUN", 100)
    folder, truth = described
    found = []
    for pool, engine in ((folder / "pool.parquet", None), (folder / "7", AnyOrder(2))):
        with Campaign.create(tmp_path / f"{len(found)}.db", pool, budget=40, seed=1, engine=engine) as held:
            while waiting := held.ask("Eva", n=100):
                at = held.pool.position_of(waiting)
                both = zip(waiting, truth[at].tolist(), strict=True)
                held.tell_all([Annotation(item, TrueClass(said), by="Eva") for item, said in both])
            records = labels.records(held)
            assert not COPIES & {*records[0].columns}
            page = campaign_page(held, by=["Site", "age"])
            assert "Accuracy by Site" in page
            desk = json.loads(snapshot.desk_json(held).text)
            told = [(one.item, one.prediction, one.columns, one.weight) for one in records]
            found.append((told, desk["slices"], desk["estimate"]))
    assert found[0] == found[1]
    assert all(weight is not None for *_, weight in found[0][0])
