"""Ray on a real cluster of two nodes of this machine: the same results, with a worker killed on the way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fieldcheck import engines, sources
from fieldcheck.accuracy.assessment import sampling
from fieldcheck.core.errors import FieldcheckError

from .sheets import CODE, Run
from .test_tomography import outcomes

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with a processor each; its workers find our code where this process does."""
    from ray.cluster_utils import Cluster

    code = os.pathsep.join([*CODE.values(), str(Path(__file__).parents[1])])
    quiet = {"RAY_DEDUP_LOGS": "0", "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": code}
    before = {name: os.environ.get(name) for name in quiet}
    os.environ.update(quiet)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    made.wait_for_nodes(timeout=180)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@pytest.fixture
def joined(cluster: Any) -> Iterator[None]:
    """In the cluster for a whole test: joining takes seconds each time."""
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def place_and_die(shard: int, folder: str) -> tuple[int, int, str]:
    """The worker that gets shard 3 is killed, the first time."""
    mark = Path(folder, "died")
    if shard == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
    return shard, os.getpid(), str(ray.get_runtime_context().get_node_id())


@pytest.mark.usefixtures("joined")
def test_shards_are_done_on_both_nodes_though_a_worker_dies(tmp_path: Path) -> None:
    found = list(engines.engine_of("ray").map(place_and_die, list(range(12)), str(tmp_path)))
    assert [shard for shard, _, _ in found] == list(range(12))
    assert (tmp_path / "died").exists()
    assert len({node for _, _, node in found}) == 2
    assert len({worker for _, worker, _ in found}) == 3


def refuse(shard: int, _: object) -> int:
    if shard == 1:
        raise FieldcheckError("this shard is bad", rule="shards are good", hint="another one")
    return shard


@pytest.mark.usefixtures("joined")
def test_what_a_step_raises_is_raised_as_it_is() -> None:
    with pytest.raises(FieldcheckError) as raised:
        list(engines.engine_of("ray:workers=1").map(refuse, [0, 1, 2], None))
    assert (raised.value.problem, raised.value.hint) == ("this shard is bad", "another one")


@pytest.mark.usefixtures("joined")
def test_predict_is_the_same_as_here(run: Run, network: Path, tmp_path: Path) -> None:
    images = np.load(network / "digits.npz")["images"]
    np.save(tmp_path / "field.npy", images)
    np.save(tmp_path / "train.npy", images[:200])
    asked = ["predict", network / "digits.onnx", "field.npy", "--rows", "200", "--reference", "train.npy"]
    for engine in ("local", "ray"):
        done = run(*asked, "--auxiliary", "confidence,knn", "--engine", engine, "--out", f"{engine}/")
        assert done.code == 0, done.err
    here, there = (sources.load(tmp_path / name) for name in ("local", "ray"))
    assert here.digest() == there.digest()
    assert np.array_equal(here.columns["knn"], there.columns["knn"])


@pytest.mark.usefixtures("joined")
def test_tomography_and_bench_are_the_same_as_here(run: Run, network: Path, tea: Path) -> None:
    for engine in ("local", "ray"):
        words = ("tomography", "run", network / "space.toml", "--inferences", 2500, "--out", f"run-{engine}")
        assert run(*words, "--engine", engine).code == 0
        asked = ("bench", tea.name, "-d", "srs,ssrs", "-n", "20,40", "-r", 3, "--json", f"{engine}.json")
        assert run(*asked, "--engine", engine).code == 0
    assert outcomes(Path("run-ray")) == outcomes(Path("run-local"))
    rows = [
        [{key: value for key, value in row.items() if key != "cpu_seconds"} for row in json_rows(f"{engine}.json")]
        for engine in ("local", "ray")
    ]
    assert rows[0] == rows[1]


def json_rows(path: str) -> list[dict[str, Any]]:
    import json

    found: list[dict[str, Any]] = json.loads(Path(path).read_text())["rows"]
    return found


def test_an_address_is_joined(cluster: Any, tmp_path: Path) -> None:
    engine = engines.engine_of(f"ray:address={cluster.address},workers=1")
    (tmp_path / "died").touch()
    assert [one for one, _, _ in engine.map(place_and_die, [0, 1], str(tmp_path))] == [0, 1]
    assert not ray.is_initialized()


@pytest.mark.usefixtures("joined")
def test_a_wave_over_shards_is_the_same_as_here(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"id": np.arange(400), "prediction": rng.integers(0, 3, 400), "confidence": rng.random(400)}
    parquet.write_table(pa.table(columns), tmp_path / "pool.parquet")
    sources.shard(tmp_path / "pool.parquet", tmp_path / "cut", rows=150)
    there = sources.load(tmp_path / "cut", engine=engines.engine_of("ray"))
    found = [
        sampling.choose(pool, "waves", budget=30, seed=1).items.tolist() for pool in (tmp_path / "pool.parquet", there)
    ]
    assert found[0] == found[1]
    assert not there.held


def told(shard: int, constants: str) -> tuple[int, str]:
    return os.getpid(), f"{constants} {shard}"


@pytest.mark.usefixtures("joined")
def test_workers_that_are_kept_serve_the_next_step() -> None:
    engine = engines.ray.Ray(workers=1).kept()
    first, second = list(engine.map(told, [0, 1], "one")), list(engine.map(told, [2], "two"))
    assert [said for _, said in first + second] == ["one 0", "one 1", "two 2"]
    assert len({worker for worker, _ in first + second}) == 1
    with pytest.raises(FieldcheckError, match="this shard is bad"):
        list(engine.map(refuse, [0, 1], None))
    assert [said for _, said in engine.map(told, [3], "three")] == ["three 3"]


def test_from_outside_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**_: Any) -> None:
        raise ImportError("Ray Client requires pip package `ray[client]`.")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(FieldcheckError, match=r"is outside.*\n.*\n.*pip install"):
        list(engines.engine_of("ray://127.0.0.1:10001").map(place_and_die, [0], ""))


@pytest.mark.parametrize(
    "address", ["ray:address=127.0.0.1:9", "ray:address=nowhere.invalid:6379", "ray://127.0.0.1:9"]
)
def test_no_cluster_at_an_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said at once where nothing listens: Ray, asked itself, tries for minutes."""

    def init(**asked: Any) -> None:
        assert "://" in asked["address"]
        raise ConnectionError("connection refused")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(FieldcheckError, match="no cluster at"):
        list(engines.engine_of(address).map(place_and_die, [0], ""))
