"""Waves, estimates and look-ups over shards: the same to the last bit for any cut, in any order, on any engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fieldcheck import sources
from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.assessment.planning import plan as planning
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.campaign import Annotation, Campaign
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import CampaignError, PoolError
from fieldcheck.core.label import TrueClass
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.engines import Processes
from fieldcheck.files.scratch import Scratch
from fieldcheck.numerics import scores
from fieldcheck.numerics.regression import assisted
from fieldcheck.numerics.sampling import pivotal
from fieldcheck.sources import kept_shard, sharded
from fieldcheck.sources.pools.shards import files
from fieldcheck.sources.pools.shards.manifest import read_manifest

SIZE = 2500


@dataclass(frozen=True)
class AnyOrder:
    """Steps run in another order than that of the shards."""

    name: ClassVar[str] = "any order"
    title: ClassVar[str] = "here"

    seed: int = 0

    def map(self, step: Any, shards: Sequence[Any], constants: Any) -> Iterator[Any]:
        order = np.random.default_rng(self.seed).permutation(len(shards))
        found = {int(at): step(shards[at], constants) for at in order}
        return iter([found[at] for at in range(len(shards))])


def table(task: str) -> tuple[pa.Table, np.ndarray]:
    rng = np.random.default_rng(0)
    doubt = rng.beta(0.4, 3.0, SIZE)
    doubt[::9] = 0.0  # saturated, and tied
    columns = {"id": [f"item {at * 7:05d}" for at in range(SIZE)]}
    if task == "classification":
        columns |= {"prediction": rng.choice(["cat", "dog", "eel"], SIZE), "confidence": 1 - doubt}
        columns |= {"dsa": (doubt + rng.random(SIZE)).astype(np.float32)}
        return pa.table(columns), (rng.random(SIZE) < doubt + 0.02).astype(np.float64)
    columns |= {"prediction": rng.normal(size=SIZE), "lsa": doubt}
    return pa.table(columns), (0.1 + doubt) * rng.gamma(1.0, 1.0, SIZE)


@pytest.fixture(scope="module", params=["classification", "regression"])
def cuts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A folder with the pool in one file, and cut into 1, 2, 7 and 64 shards."""
    folder = tmp_path_factory.mktemp(request.param)
    rows, losses = table(request.param)
    parquet.write_table(rows, folder / "pool.parquet")
    for count in (1, 2, 7, 64):
        sources.shard(folder / "pool.parquet", folder / str(count), rows=-(-SIZE // count))
    return folder, losses


def outcome(pool: Pool, losses: np.ndarray, spec: str) -> list[Any]:
    """Items, beliefs, chances and the whole estimate, as they are."""
    design = sampling.build_design(spec)
    sample = design.draw(sampling.frame_for(pool, design, None), losses, budget=90, seed=5)
    drawn = losses[sample.items]
    found = estimators.estimate(Labelled(sample, drawn, drawn > 0.5, pool.task))
    return [sample.as_record(), repr(replace(found, make_items=None))]


SPECS = ("waves", "waves:objective=expose", "waves:objective=balanced,train=0.3", "waves:objective=estimate", "srs")


@pytest.mark.parametrize("spec", SPECS)
def test_the_same_for_any_cut_and_order(cuts: tuple[Path, np.ndarray], spec: str) -> None:
    folder, losses = cuts
    whole = outcome(sources.load(folder / "pool.parquet"), losses, spec)
    for count in (1, 2, 7, 64) if spec == "waves" else (7,):
        pool = sources.load(folder / str(count), engine=AnyOrder(count))
        assert isinstance(pool, sharded.ShardedPool)
        assert outcome(pool, losses, spec) == whole
        assert not pool.held


def test_a_pool_that_was_read_whole_is_as_in_one_file(cuts: tuple[Path, np.ndarray]) -> None:
    folder, losses = cuts
    pool = sources.load(folder / "7", engine=AnyOrder())
    pool.in_memory()
    assert outcome(pool, losses, "waves") == outcome(sources.load(folder / "pool.parquet"), losses, "waves")


@pytest.mark.parametrize("cuts", ["classification"], indirect=True)
def test_a_variable_that_is_made_of_whole_columns(cuts: tuple[Path, np.ndarray]) -> None:
    whole = sources.load(cuts[0] / "pool.parquet")
    pool = sources.load(cuts[0] / "7", engine=AnyOrder())
    assert derived.digest(pool, ["combined"]) == derived.digest(whole, ["combined"])
    assert np.array_equal(derived.values(pool, "combined"), derived.values(whole, "combined"))
    assert derived.names(pool) == derived.names(whole)


def test_the_same_where_values_are_counted_in_cells(
    cuts: tuple[Path, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in large pools: ranks and chances by cells, and bins that are cut finer before they are fetched."""
    monkeypatch.setattr(scores, "MANY", 256)
    monkeypatch.setattr(scores, "CELLS", 256)
    monkeypatch.setattr(assisted, "FEW", 128)
    monkeypatch.setattr(pivotal, "_FETCHED", 4)
    folder, losses = cuts
    whole = outcome(sources.load(folder / "pool.parquet"), losses, "waves")
    for count in (1, 7):
        assert outcome(sources.load(folder / str(count), engine=AnyOrder(count)), losses, "waves") == whole


def test_finer_bins_find_the_same_items(cuts: tuple[Path, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, losses = cuts
    pool = sources.load(folder / "pool.parquet")
    before = outcome(pool, losses, "waves")
    monkeypatch.setattr(pivotal, "_FETCHED", 1)
    monkeypatch.setattr(pivotal, "_BITS", 3)
    assert outcome(sources.load(folder / "pool.parquet"), losses, "waves") == before


def test_the_same_in_other_processes(cuts: tuple[Path, np.ndarray]) -> None:
    folder, losses = cuts
    whole = outcome(sources.load(folder / "pool.parquet"), losses, "waves")
    assert outcome(sources.load(folder / "7", engine=Processes(2)), losses, "waves") == whole


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_look_ups_and_the_fingerprint(cuts: tuple[Path, np.ndarray], count: int) -> None:
    folder, _ = cuts
    whole, cut = sources.load(folder / "pool.parquet"), sources.load(folder / str(count), engine=AnyOrder())
    names = list(derived.automatic(whole))
    assert list(derived.automatic(cut)) == names
    assert derived.digest(cut, names) == derived.digest(whole, names)
    assert (len(cut), cut.classes, cut.task) == (len(whole), whole.classes, whole.task)
    assert cut.threshold() == pytest.approx(whole.threshold(), rel=1e-12)
    at = np.array([2499, 0, 41, 1249, 1250])
    ids = [whole.id_of(one) for one in at.tolist()]
    assert cut.ids_of(at) == ids
    assert cut.position_of(ids).tolist() == at.tolist()
    assert cut.predictions_at(at.tolist()) == whole.predictions_at(at.tolist())
    with pytest.raises(PoolError, match="no item 'nothing'"):
        cut.position_of(["nothing"])
    assert not cut.held


def test_a_plan_is_the_same(cuts: tuple[Path, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every second item, before labels and after some; shards stay where they are."""
    monkeypatch.setattr(planning, "MOST", 1_300)
    folder, losses = cuts
    pools = [sources.load(folder / "pool.parquet"), sources.load(folder / "7", engine=AnyOrder())]
    sample = sampling.choose(pools[0], "waves", budget=60, seed=1, losses=losses)
    drawn = losses[sample.items]
    labelled = Labelled(sample, drawn, drawn > 0.5, pools[0].task)
    for known in (labelled,) if pools[0].task == "regression" else (None, labelled):
        whole, cut = (planning.plan(pool, half_width=0.2, labelled=known).to_dict() for pool in pools)
        assert {**cut, "pool": whole["pool"]} == whole
        assert whole["population"] == SIZE
    assert not pools[1].held


def test_earlier_waves_are_recalled_as_they_were_drawn(cuts: tuple[Path, np.ndarray]) -> None:
    """In another process: the same sample as by drawing all waves again, and the earlier ones are not drawn."""
    folder, losses = cuts
    design = sampling.build_design("waves:train=0.3")
    whole = design.draw(sampling.frame_for(sources.load(folder / "7"), design, None), losses, budget=90, seed=5)
    for waves in range(1, len(whole.drawn_as(WaveDraws).sizes)):
        known = np.full(SIZE, np.nan)
        first = sum(whole.drawn_as(WaveDraws).sizes[:waves])
        known[whole.items[:first]] = losses[whole.items[:first]]
        frame = sampling.frame_for(sources.load(folder / "7", engine=AnyOrder()), design, None)
        before = Sample.from_record(_first_waves(whole, waves).as_record())
        design.recall(frame, before, known, budget=90, seed=5)
        draws = Counted()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pivotal, "_walk", draws.around(pivotal._walk))
            again = design.draw(frame, known, budget=90, seed=5)
        assert again.as_record()["items"] == whole.items.tolist()[: len(again)]
        assert len(again) == sum(whole.drawn_as(WaveDraws).sizes[: waves + 1])
        assert draws.count == 2  # to train with, and to keep


class Counted:
    """How often a function is called."""

    count = 0

    def around(self, function: Any) -> Any:
        def counted(*given: Any) -> Any:
            self.count += 1
            return function(*given)

        return counted


def _first_waves(sample: Sample, count: int) -> Sample:
    draws = sample.drawn_as(WaveDraws)
    some = {name: getattr(draws, name)[:count] for name in ("sizes", "beliefs", "floors", "scales")}
    first = sample.prefix(sum(some["sizes"]))
    return replace(first, draws=replace(first.draws, **some))


def test_a_campaign_on_shards_and_on_the_file(cuts: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    """Started on shards, gone on with from one file: the same pool, and the same statement."""
    folder, losses = cuts
    if "classification" not in str(folder):
        pytest.skip("one task is enough")
    place = tmp_path / "c.db"
    with Campaign.create(place, folder / "7", budget=40, seed=1, engine=AnyOrder()) as held:
        assert not held.pool.held
        for _ in range(2):
            waiting = held.ask("Eva", n=100)
            said = held.pool.predictions_at(held.pool.position_of(waiting).tolist())
            wrong = losses[held.pool.position_of(waiting)] > 0
            truth = [("dog" if one == "cat" else "cat") if bad else one for one, bad in zip(said, wrong, strict=True)]
            both = zip(waiting, truth, strict=True)
            held.tell_all([Annotation(item, TrueClass(str(one)), by="Eva") for item, one in both])
        found = held.estimate()
        assert not held.pool.held
    with Campaign.open(place, engine=AnyOrder(3)) as again:
        assert again.estimate() == found
    with Campaign.open(place, pool=sources.load(folder / "pool.parquet")) as again:
        assert again.estimate() == found


def test_what_does_not_fit_is_refused_before_it_is_read(
    cuts: tuple[Path, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = cuts
    pool = sources.load(folder / "7", engine=AnyOrder())
    monkeypatch.setattr(sharded, "_free_memory", lambda: 1000)
    design = sampling.build_design("sups", "lsa" if pool.task == "regression" else "dsa")
    with pytest.raises(PoolError, match="in memory") as raised:
        design.draw(sampling.frame_for(pool, design, None), None, budget=20, seed=1)
    assert "--design waves" in str(raised.value)
    assert not pool.held
    monkeypatch.undo()
    assert len(design.draw(sampling.frame_for(pool, design, None), None, budget=20, seed=1)) == 20


def test_repeated_ids_in_two_shards_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = table("classification")
    parquet.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=900)
    for head in (sharded.HEAD, 1):
        monkeypatch.setattr(sharded, "HEAD", head)
        with pytest.raises(PoolError, match="repeats an id"):
            sources.load(tmp_path / "cut", engine=AnyOrder()).prediction_at(0)


def test_classes_stay_classes_where_a_step_reads_their_column_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    said = rng.choice(np.arange(100, 5000, 100), 900)  # numbers with gaps, which without a confidence are amounts
    rows = {"id": np.arange(900), "prediction": said, "confidence": rng.random(900)}
    parquet.write_table(pa.table(rows), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=300)
    whole, cut = (sources.load(tmp_path / "pool.parquet"), sources.load(tmp_path / "cut", engine=AnyOrder()))
    assert (cut.prediction_at(400), cut.predictions_at([400])) == (str(said[400]), (str(said[400]),))
    assert outcome(cut, np.zeros(900), "waves") == outcome(whole, np.zeros(900), "waves")


def sorted_by_class(tmp_path: Path) -> tuple[Path, np.ndarray]:
    """A pool and its shards, in each of which other classes were said; a variable follows from probabilities."""
    rng = np.random.default_rng(8)
    said = np.repeat(["eel", "cat", "dog"], 600)
    shares = rng.dirichlet((8, 1, 1), len(said))
    columns = {"id": np.arange(len(said)), "prediction": said, "confidence": shares.max(axis=1)}
    columns |= {"dsa": rng.random(len(said)).astype(np.float32), "place": rng.choice(["a", "b"], len(said))}
    parquet.write_table(pa.table(columns), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=500)
    return tmp_path, (rng.random(len(said)) < 0.1).astype(np.float64)


def test_the_same_with_and_without_room_for_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, losses = sorted_by_class(tmp_path)
    whole = outcome(sources.load(folder / "pool.parquet"), losses, "waves")
    kept = sources.load(folder / "cut", engine=AnyOrder())
    assert kept.scratch is not None
    monkeypatch.setattr(Scratch, "beside", lambda *_: None)
    bare = sources.load(folder / "cut", engine=AnyOrder())
    assert bare.scratch is None
    for pool in (kept, bare):
        assert outcome(pool, losses, "waves") == whole
        assert pool.predictions_at([0, 700, 1500]) == ("eel", "cat", "dog")
        assert pool.columns["place"][700] == sources.load(folder / "pool.parquet").columns["place"][700]


def test_a_shard_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the items are first asked about; all that a wave and an estimate ask for was kept then."""
    folder, losses = sorted_by_class(tmp_path)
    read, columns = list[str](), kept_shard.shard_columns

    def counted(place: Path, *given: Any, **more: Any) -> Any:
        read.append(place.name)
        return columns(place, *given, **more)

    pool = sources.load(folder / "cut", engine=AnyOrder())
    monkeypatch.setattr(kept_shard, "shard_columns", counted)
    outcome(pool, losses, "waves")
    derived.digest(pool, list(derived.automatic(pool)))
    assert sorted(read) == [shard.file for shard in read_manifest(folder / "cut").shards]
    read.clear()
    assert str(pool.columns["place"][3]) in ("a", "b")
    assert read == ["000000.parquet"]


def test_labels_of_one_file_read_each_shard_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    rows = {"id": np.arange(900), "prediction": rng.integers(0, 4, 900), "confidence": rng.random(900)}
    parquet.write_table(pa.table(rows), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=300)
    read, pool = list[int](), sharded.Shard.pool

    def counted(shard: sharded.Shard, *given: Any, **more: Any) -> Pool:
        read.append(shard.start)
        return pool(shard, *given, **more)

    with Campaign.create(tmp_path / "c.db", tmp_path / "cut", budget=40, seed=1, engine=AnyOrder()) as held:
        waiting = held.ask("Eva", n=20)
        monkeypatch.setattr(sharded.Shard, "pool", counted)
        held.tell_all([Annotation(one, TrueClass("1"), by="Eva") for one in waiting])
        assert sorted(read) == [0, 300, 600]


def test_a_campaign_knows_the_files_that_it_was_started_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    rows = {"id": np.arange(900), "prediction": rng.integers(0, 4, 900), "confidence": rng.random(900)}
    rows["margin"] = rng.random(900)
    parquet.write_table(pa.table(rows), tmp_path / "pool.parquet")
    parquet.write_table(pa.table({**rows, "prediction": (rows["prediction"] + 1) % 4}), tmp_path / "other.parquet")
    for name, size in (("pool", 300), ("other", 300)):
        sources.shard(tmp_path / f"{name}.parquet", tmp_path / name, rows=size)
    sources.shard(tmp_path / "pool.parquet", tmp_path / "again", rows=500)
    file, made, digest = tmp_path / "c.db", list[str](), derived.digest

    def counted(pool: Pool, *given: Any) -> str:
        made.append(str(pool.origin.file))
        return digest(pool, *given)

    Campaign.create(file, tmp_path / "pool", budget=40, seed=1, engine=AnyOrder()).close()
    monkeypatch.setattr(derived, "digest", counted)
    for place, looked_at in (("pool", 0), ("again", 1), ("pool.parquet", 2)):
        Campaign.open(file, pool=tmp_path / place, engine=AnyOrder()).close()
        assert len(made) == looked_at  # files that are the same are not looked at again
    other = sources.load(tmp_path / "pool", engine=AnyOrder(), columns={"confidence": "margin"})
    for wrong in (tmp_path / "other", other):
        with pytest.raises(CampaignError, match="not the one that this campaign was started on"):
            Campaign.open(file, pool=wrong, engine=AnyOrder())


def test_files_that_changed_are_refused_whatever_their_list_says(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    rows = {"id": np.arange(600), "prediction": rng.integers(0, 4, 600), "confidence": rng.random(600)}
    parquet.write_table(pa.table(rows), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=300)
    Campaign.create(tmp_path / "c.db", tmp_path / "cut", budget=40, seed=1, engine=AnyOrder()).close()
    parquet.write_table(
        pa.table({**rows, "confidence": rows["confidence"] / 2}).slice(0, 300), tmp_path / "new.parquet"
    )
    (tmp_path / "new.parquet").replace(tmp_path / "cut" / "000000.parquet")
    with Campaign.open(tmp_path / "c.db", engine=AnyOrder()) as held:
        for asked in (held.pool.id_of, held.pool.prediction_at):
            with pytest.raises(PoolError, match="the shard is not the one that was written"):
                asked(500)


def test_opening_reads_the_manifest_and_the_first_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = sorted_by_class(tmp_path)
    Campaign.create(tmp_path / "c.db", folder / "cut", budget=40, seed=1, engine=AnyOrder()).disconnect()
    monkeypatch.setattr(sharded, "HEAD", 400)
    read, columns = list[str](), kept_shard.shard_columns

    def counted(place: Path, *given: Any, **more: Any) -> Any:
        read.append(place.name)
        return columns(place, *given, **more)

    for module in (kept_shard, files):
        monkeypatch.setattr(module, "shard_columns", counted)
    pool = sources.load(folder / "cut", engine=AnyOrder())
    assert (len(pool), pool.task) == (1800, "classification")
    with Campaign.open(tmp_path / "c.db", engine=AnyOrder()) as held:
        assert held.ask("Eva", n=3)
    assert {*read} == {"000000.parquet"}
    assert pool.classes == ("cat", "dog", "eel")
    assert {*read} == {shard.file for shard in read_manifest(folder / "cut").shards}
