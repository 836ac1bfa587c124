"""Every registry has a check, and everything of ours passes it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fieldcheck import engines, models, sources
from fieldcheck.campaign.exchange import formats
from fieldcheck.campaign.stores import SqliteStore
from fieldcheck.core import measures
from fieldcheck.models import decoders
from fieldcheck.sources import inputs, pools
from fieldcheck.testing import (
    check_adapter,
    check_decoder,
    check_engine,
    check_exchange,
    check_input_source,
    check_measure,
    check_plan,
    check_pool_format,
    check_quality_score,
    check_stopping_rule,
    check_store,
)
from fieldcheck.tomography.plans import Full
from fieldcheck.tomography.quality import scores
from fieldcheck.tomography.runs import stopping


@pytest.mark.parametrize("name", list(scores.registry))
def test_every_quality_score(name: str) -> None:
    check_quality_score(scores.registry[name])


MEASURED = {
    "accuracy": (["cat", "dog", "cat"], ["cat", "cat", "dog"]),
    "cost": (["cat", "dog", "cat"], ["cat", "cat", "dog"]),
    "detection": ([[[0, 0, 9, 9]], []], [[[0, 0, 9, 9]], [[1, 1, 5, 5]]]),
    "detection-f1": ([[[0, 0, 9, 9]], []], [[[0, 0, 9, 9]], [[1, 1, 5, 5]]]),
    "generation": (["a text", "another"], ["a text", "a third"]),
    "error": ([0.0, 1.0, 4.0], [0.5, 1.0, 1.0]),
    "score": (["a text", "another"], [0.25, 1.0]),
    "tolerance": ([0.0, 1.0, 4.0], [0.5, 1.0, 1.0]),
}


@pytest.mark.parametrize("name", list(measures.registry))
def test_every_measure(name: str) -> None:
    check_measure(measures.registry[name], *MEASURED[name])


FILLED_IN = {
    "csv": "id,label\nimg_1,cat\nimg_2,\n",
    "jsonl": '{"id": "img_1", "label": "cat"}\n{"id": "img_2"}\n',
    "label_studio": """[
  {"data": {"id": "img_1"},
   "annotations": [{"result": [{"type": "choices", "from_name": "label", "value": {"choices": ["cat"]}}]}]},
  {"data": {"id": "img_2"}, "annotations": []}
]""",
}


@pytest.mark.parametrize("name", list(formats.registry))
def test_every_format_of_labels(name: str) -> None:
    check_exchange(formats.registry[name], FILLED_IN[name], {"img_1": "cat"})


@pytest.mark.parametrize("name", list(stopping.registry))
def test_every_stopping_rule(name: str) -> None:
    check_stopping_rule(stopping.registry[name])


@pytest.mark.parametrize("name", list(pools.registry))
def test_every_format_of_pools(name: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "pool.npz", prediction=np.arange(4), confidence=np.full(4, 0.5))
    sources.shard(tmp_path / "pool.npz", tmp_path / "cut", rows=3)
    check_pool_format(pools.registry[name], {"npz": tmp_path / "pool.npz", "shards": tmp_path / "cut"}.get(name))


@pytest.mark.parametrize("name", list(engines.registry))
def test_every_engine(name: str) -> None:
    if name == "ray":
        pytest.skip("on a cluster, in tests/cli/test_ray.py: to start its workers takes seconds each time")
    check_engine(engines.engine_of(name if name == "local" else f"{name}:workers=2"), deaths=name != "local")


def write_arrays(path: Path) -> Path:
    rows = np.arange(24.0).reshape(6, 4)
    if path.suffix == ".npy":
        np.save(path, rows)
    else:
        np.savez(path, x=rows)
    return path


def write_table(path: Path) -> Path:
    import pyarrow as pa
    from pyarrow import csv, parquet

    table = pa.table({"text": [f"some words {at}" for at in range(5)], "label": list("abcab")})
    (csv.write_csv if path.suffix == ".csv" else parquet.write_table)(table, path)
    return path


def write_images(folder: Path) -> Path:
    for at in range(4):
        Image.fromarray(np.full((5, 6), 40 * at, dtype=np.uint8)).save(folder / f"{at}.png")
    return folder


def write_list(path: Path) -> Path:
    write_images(path.parent)
    path.write_text("0.png\n1.png\n2.png\n")
    return path


def write_dataset(folder: Path) -> Path:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [0, 1, 0]}).save_to_disk(folder)
    return folder


WRITERS = {
    **dict.fromkeys(("npy", "npz"), write_arrays),
    **dict.fromkeys(("csv", "parquet"), write_table),
    "list": write_list,
    "images": write_images,
    "huggingface": write_dataset,
}


@pytest.mark.parametrize("name", list(inputs.registry))
def test_every_source_of_inputs(name: str, tmp_path: Path) -> None:
    source = inputs.registry[name]
    check_input_source(source, WRITERS[name](tmp_path / f"items{source.suffixes[0]}" if source.suffixes else tmp_path))


SEEN = np.zeros((126, 7))
SEEN[40, 4:6] = 0.9

DETECTED = {"boxes": [[1.0, 2.0, 9.0, 8.0, 0.9, 1.0]], "yolox": SEEN}
"""What detectors say of an image of 96 x 64 pixels with one object in it."""


@pytest.mark.parametrize("name", list(decoders.registry))
def test_every_decoder(name: str) -> None:
    check_decoder(decoders.registry[name], DETECTED[name])


def halves(batch):
    """A model that does not know."""
    return np.full((len(batch), 2), 0.5)


def test_an_adapter() -> None:
    check_adapter(models.registry["callable"], halves, np.zeros((6, 3)))
    with pytest.raises(AssertionError, match="does not take"):
        check_adapter(models.registry["onnx"], halves, np.zeros((6, 3)))


def test_a_model_that_looks_at_the_whole_batch_is_noticed() -> None:
    def among_others(batch):
        share = 1 / (1 + np.arange(len(batch)))
        return np.column_stack([share, 1 - share])

    with pytest.raises(AssertionError, match="from batch to batch"):
        check_adapter(models.registry["callable"], among_others, np.zeros((6, 3)))


class Upside(scores.Kid):
    """Calls far inputs plausible."""

    name = "upside"
    better = "high"


class Hasty(stopping.NarrowInterval):
    """Is content at once."""

    def enough(self, held, population):
        return True


class Amnesic(pools.registry["csv"]):
    """Forgets the last row."""

    def write(self, table, path):
        super().write(table.slice(0, len(table) - 1), path)


class Vague(Full):
    """Does not say what more inferences buy."""

    adds = "nothing"


class Deaf(formats.registry["jsonl"]):
    """Hears no label."""

    @staticmethod
    def read(stream, path):
        return (replace(line, text="") for line in formats.registry["jsonl"].read(stream, path))


class Forgetful(SqliteStore):
    """Stores only the first of several events."""

    def append(self, events, *, seen):
        return super().append(events[:1], seen=seen)


def test_a_format_or_store_that_loses_something_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="reads"):
        check_exchange(Deaf, FILLED_IN["jsonl"], {"img_1": "cat"})
    places = (str(tmp_path / f"{at}.db") for at in itertools.count())
    with pytest.raises(AssertionError, match="events change"):
        check_store(Forgetful, lambda: next(places))


@pytest.mark.parametrize(
    ("check", "broken"),
    [
        (check_quality_score, Upside),
        (check_stopping_rule, Hasty),
        (check_pool_format, Amnesic),
        (check_plan, Vague),
    ],
)
def test_what_breaks_the_contract_is_noticed(check, broken) -> None:
    with pytest.raises(AssertionError):
        check(broken)
