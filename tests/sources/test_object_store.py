"""Folders of shards in an object store: a real S3 server on this machine, from pip."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import fieldcheck as fc
from fieldcheck import sources
from fieldcheck.accuracy.predict import Prediction, predict_shards
from fieldcheck.cli import main
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool.engine import Loop
from fieldcheck.files import places
from fieldcheck.sources.pools.shards.manifest import stamp

pytest.importorskip("moto")

SECRET = "never-to-be-shown-4711"  # noqa: S105 -- of a server on this machine
RNG = np.random.default_rng(5)
POOL = {"id": [f"item {at}" for at in range(250)], "prediction": RNG.integers(0, 3, 250), "confidence": RNG.random(250)}


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """An empty bucket; its server listens on this machine only."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_REGION", "eu-central-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        places._filesystem.cache_clear()
        try:
            wait_for(port)
            from pyarrow import fs

            made = fs.S3FileSystem(endpoint_override=os.environ["AWS_ENDPOINT_URL"], allow_bucket_creation=True)
            made.create_dir("pools")
            yield "s3://pools"
        finally:
            server.kill()
            server.wait()
            places._filesystem.cache_clear()


def wait_for(port: int) -> None:
    end = time.monotonic() + 90
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the server did not start")


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    sources.save(sources.load(POOL), tmp_path / "pool.parquet")
    return tmp_path / "pool.parquet"


def test_a_pool_is_cut_into_the_store_and_read_from_it(bucket: str, pool: Path, tmp_path: Path) -> None:
    made = sources.shard(pool, f"{bucket}/cut", rows=100)
    assert [one.rows for one in made.shards] == [100, 100, 50]
    assert sources.load(f"{bucket}/cut").digest() == sources.load(pool).digest()
    assert sources.load(Path(f"{bucket}/cut")).digest() == sources.load(pool).digest()  # a path swallows a slash
    with pytest.raises(FieldcheckError, match="there already"):
        sources.shard(pool, f"{bucket}/cut", rows=100)
    csv = tmp_path / "pool.csv"
    sources.save(sources.load(pool), csv)
    sources.shard(csv, f"{bucket}/from-csv", rows=200)
    assert sources.load(f"{bucket}/from-csv").digest() == sources.load(pool).digest()
    sample = fc.sample(f"{bucket}/cut", design="srs", budget=20, seed=3)
    assert sample.items.tolist() == fc.sample(pool, design="srs", budget=20, seed=3).items.tolist()


def test_a_shard_that_changed_or_is_missing_is_refused(bucket: str, pool: Path) -> None:
    sources.shard(pool, f"{bucket}/broken", rows=100)
    shard = places.place_of(f"{bucket}/broken/000001.parquet")
    with places.sent(shard) as here:  # type: ignore[arg-type]
        here.write_bytes(shard.read_bytes()[:-10] + b"0123456789")
    with pytest.raises(FieldcheckError, match="not the one that was written"):
        sources.load(f"{bucket}/broken")
    shard.unlink()
    with pytest.raises(FieldcheckError, match="is missing"):
        sources.load(f"{bucket}/broken")


def test_an_object_is_told_by_its_time(bucket: str, pool: Path) -> None:
    """What is written again with as many bytes is another pool: a run that stopped does not go on with it."""
    sources.shard(pool, f"{bucket}/timed", rows=100)
    place = places.place_of(f"{bucket}/timed/manifest.json")
    before, content = stamp(place), place.read_bytes()
    assert stamp(place) == before
    time.sleep(1.1)  # S3 says whole seconds
    with places.sent(place) as here:  # type: ignore[arg-type]
        here.write_bytes(content)
    assert stamp(place) != before


@pytest.mark.parametrize("engine", [None, Loop()])
def test_a_campaign_finds_its_pool_again(bucket: str, pool: Path, tmp_path: Path, engine: Loop | None) -> None:
    name = f"again-{engine is None}"
    sources.shard(pool, f"{bucket}/{name}", rows=100)
    file = tmp_path / "c.db"
    with fc.Campaign.create(file, f"{bucket}/{name}", budget=20, seed=3, engine=engine):
        pass
    with fc.Campaign.open(file, engine=engine) as held:
        assert len(held.ask("Eva", n=20)) == 20
    sources.shard(pool, f"{bucket}/moved-{name}", rows=60)
    for _ in range(2):
        with fc.Campaign.open(file, pool=f"{bucket}/moved-{name}", engine=engine) as held:
            assert [one.recorded for one in held.state.pools] == [f"{bucket}/moved-{name}"]  # said once
    with fc.Campaign.open(file, engine=engine) as held:
        assert held.pool.origin.file == f"{bucket}/moved-{name}"


def test_what_is_not_there_is_said(bucket: str, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FieldcheckError, match="no such file or folder"):
        sources.load(f"{bucket}/nowhere")
    for place in ("s3://", "s3:", "gs:/"):
        with pytest.raises(FieldcheckError, match="names no bucket"):
            sources.shard(pool, place)


LIMIT = 520
"""Items after which the model stops a run."""


def model(batch: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    share = 1 / (1 + np.exp(-np.asarray(batch)[:, 0]))
    return np.column_stack([1 - share, share])


def test_predict_writes_shards_there_and_goes_on(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, calls = RNG.normal(size=(500, 3)), []

    def stopping(batch: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        calls.append(len(batch))
        if sum(calls) > LIMIT:
            raise KeyboardInterrupt
        return model(batch)

    folder = places.place_of(f"{bucket}/said")
    how = {"auxiliary": ["confidence", "margin"], "batch": 50}
    with pytest.raises(KeyboardInterrupt):
        predict_shards(Prediction(stopping, rows, **how), folder, rows=100)  # type: ignore[arg-type]
    with pytest.raises(FieldcheckError, match="may not be finished"):
        sources.load(str(folder))
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 10**9)
    before = {one.name: one.stat().st_mtime for one in folder.iterdir()}
    assert len(before) >= 3
    predict_shards(Prediction(stopping, rows, **how), folder, rows=100)  # type: ignore[arg-type]
    assert sum(calls) <= 520 + 50 + 260 + 300  # opening takes 257 items; the shards that were there are not run again
    predict_shards(Prediction(model, rows, **how), tmp_path / "here", rows=100)  # type: ignore[arg-type]
    assert sources.load(str(folder)).digest() == sources.load(tmp_path / "here").digest()
    assert not [one for one in folder.iterdir() if one.name.startswith(".unfinished")]


def test_commands_and_their_errors_show_no_secret(
    bucket: str, pool: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["fieldcheck", *map(str, words)])
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return int(str(code or 0)), said.out + said.err

    code, said = run("shard", pool, "--out", f"{bucket}/by-command", "--rows", 100)
    assert code == 0, said
    assert f"{bucket}/by-command" in said
    assert run("inspect", f"{bucket}/by-command")[0] == 0
    for words in (
        ("inspect", f"{bucket}/nowhere"),
        ("inspect", "s3://no-such-bucket/pool"),
        ("shard", pool, "--out", "s3://no-such-bucket/pool"),
        ("inspect", f"s3://somebody:{SECRET}@pools/cut"),
    ):
        code, said = run(*words)
        assert code == 2, words
        assert "Traceback" not in said
        assert SECRET not in said
        assert "rule:" in said


def test_a_folder_of_parquet_files_in_the_store_is_cut(bucket: str, pool: Path, tmp_path: Path) -> None:
    """As Spark leaves it there: files in folders, and marks."""
    whole = pq.read_table(pool)
    for name, part in (("day=1/part-0", whole.slice(0, 120)), ("day=2/part-0", whole.slice(120))):
        here = tmp_path / "part.parquet"
        pq.write_table(part, here)
        with places.sent(places.place_of(f"{bucket}/spark/{name}.parquet")) as there:
            there.write_bytes(here.read_bytes())
    with places.sent(places.place_of(f"{bucket}/spark/_SUCCESS")) as there:
        there.write_bytes(b"")
    made = sources.shard(f"{bucket}/spark", tmp_path / "cut", rows=100)
    assert [one.rows for one in made.shards] == [100, 100, 50]
    found = sources.load(tmp_path / "cut")
    assert found.ids.to_pylist() == POOL["id"]
    assert found.columns["day"].to_pylist() == ["1"] * 120 + ["2"] * 130
