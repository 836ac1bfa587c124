"""What a campaign costs on large pools: CPU and memory of its steps, beside reading the columns.

    python benchmarks/scale.py 1000000 10000000
    python benchmarks/scale.py 100000000 "start in shards" "next in shards" "estimate in shards"

Each step runs in a process of its own, so that its peak memory is its own; the floor of every process (interpreter and
packages) is measured too and taken off for the bytes an item. The pool has whole numbers as ids, ten classes,
confidence and dsa; ``predict`` and ``bare_loop`` run a model of one layer over rows of eight numbers.
"""

from __future__ import annotations

import multiprocessing
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

MILLION = 1_000_000
"""Items of a shard."""


WHOLE = 10_000_000
"""Larger pools are written in shards only."""


STEPS: dict[str, Callable[[Path], None]] = {}


def step(work: Callable[[Path], None]) -> Callable[[Path], None]:
    STEPS[work.__name__.strip("_")] = work
    return work


def rows(rng: np.random.Generator, start: int, stop: int) -> Any:
    import pyarrow as pa

    doubt = rng.beta(0.4, 2.0, stop - start)
    columns = {
        "id": np.arange(start, stop),
        "prediction": rng.integers(0, 10, stop - start).astype(np.int8),
        "confidence": 1 - doubt,
        "dsa": (doubt + rng.random(stop - start)).astype(np.float32),
    }
    return pa.table(columns)


def write(folder: Path, size: int) -> None:
    from pyarrow import parquet

    parquet.write_table(rows(np.random.default_rng(0), 0, size), folder / "pool.parquet")


DISAGREE = 0.04


def rival(ours: Any, rng: np.random.Generator) -> Any:
    """What another model says of the same items."""
    import pyarrow as pa

    said, count = ours["prediction"].to_numpy(), len(ours)
    other = np.where(rng.random(count) < DISAGREE, (said + 1) % 10, said).astype(np.int8)
    doubt = 1 - ours["confidence"].to_numpy() * rng.uniform(0.9, 1.0, count)
    return pa.table({"id": ours["id"], "prediction": other, "confidence": 1 - doubt})


def write_rival(folder: Path, size: int) -> None:
    """Beside the pool, and in shards."""
    from pyarrow import parquet

    from fieldcheck import sources

    rng = np.random.default_rng(1)
    if size <= WHOLE:
        parquet.write_table(rival(parquet.read_table(folder / "pool.parquet"), rng), folder / "rival.parquet")
        sources.shard(folder / "rival.parquet", folder / "rival", rows=MILLION)
    else:
        write_shards(folder, size, "rival", lambda ours: rival(ours, rng))


BATCH = 1_024


def write_inputs(folder: Path, size: int) -> None:
    """Rows of eight numbers with text as ids, a million at a time, and a model of one layer, which costs nothing."""
    import onnx
    import pyarrow as pa
    from onnx import TensorProto, helper, numpy_helper
    from pyarrow import parquet

    rng, names = np.random.default_rng(0), [f"f{at}" for at in range(8)]
    schema = pa.schema([("id", pa.string()), *((name, pa.float32()) for name in names)])
    with parquet.ParquetWriter(folder / "inputs.parquet", schema) as writer:
        for start in range(0, size, MILLION):
            count = min(MILLION, size - start)
            ids = pa.array([f"item-{at:09d}" for at in range(start, start + count)])
            columns = {name: rng.random(count, dtype=np.float32) for name in names}
            writer.write_table(pa.table({"id": ids, **columns}, schema=schema), row_group_size=131_072)
    weights = numpy_helper.from_array(rng.normal(size=(8, 10)).astype(np.float32), "w")
    ends = [("x", ["n", 8]), ("y", ["n", 10])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", infos[:1], infos[1:], [weights])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "model.onnx"
    )


@step
def bare_loop(folder: Path) -> None:
    """What a person would write: batches through the model, softmax, predictions, confidence; written at the end."""
    import onnxruntime
    import pyarrow as pa
    from pyarrow import parquet

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
    ids, shares = [], []
    with parquet.ParquetFile(folder / "inputs.parquet") as source:
        for batch in source.iter_batches(BATCH):
            rows = np.column_stack([batch.column(at).to_numpy() for at in range(1, 9)])
            scores = session.run(None, {"x": rows})[0]
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares.append(scores / scores.sum(axis=1, keepdims=True))
            ids.append(batch.column(0))
    every = np.concatenate(shares)
    columns = {f"p{at}": every[:, at] for at in range(10)}
    found = {"id": pa.chunked_array(ids), "prediction": every.argmax(axis=1), "confidence": every.max(axis=1)}
    parquet.write_table(pa.table({**found, **columns}), folder / "bare.parquet", use_dictionary=["prediction"])


@step
def predict(folder: Path) -> None:
    from functools import partial

    from fieldcheck import models, sources
    from fieldcheck.accuracy.predict import Prediction, predict_shards

    inputs = partial(sources.open_inputs, str(folder / "inputs.parquet"))
    asked = Prediction(str(folder / "model.onnx"), inputs, batch=BATCH, opening=models.Opening(threads=1))
    predict_shards(asked, folder / "said")


@step
def nothing(folder: Path) -> None:
    import pyarrow.compute  # noqa: F401
    from pyarrow import csv, parquet  # noqa: F401

    from fieldcheck.accuracy import designs, estimators, predict  # noqa: F401
    from fieldcheck.accuracy.assessment.planning import plan  # noqa: F401
    from fieldcheck.campaign import Campaign  # noqa: F401


@step
def read(folder: Path) -> None:
    from pyarrow import parquet

    parquet.read_table(folder / "pool.parquet", memory_map=True)


def write_shards(folder: Path, size: int, name: str = "cut", said: Callable[[Any], Any] = lambda ours: ours) -> None:
    """The pool in shards of a million, without one file that holds all of it."""
    from fieldcheck.sources.pools.shards.files import shard_name, types_of, write_shard
    from fieldcheck.sources.pools.shards.manifest import Manifest

    (folder / name).mkdir()
    shards, rng = list[Any](), np.random.default_rng(0)
    for start in range(0, size, MILLION):
        table = said(rows(rng, start, min(start + MILLION, size)))
        shards.append(write_shard(table, folder / name / shard_name(len(shards))))
    Manifest(types_of(table.schema), shards).write(folder / name)


@step
def load(folder: Path) -> None:
    from fieldcheck import sources

    sources.load(folder / "pool.parquet")


@step
def shard(folder: Path) -> None:
    from fieldcheck import sources

    sources.shard(folder / "pool.parquet", folder / "cut", rows=MILLION)


@step
def load_shards(folder: Path) -> None:
    from fieldcheck import sources

    sources.load(folder / "cut")


def begun(folder: Path, pool: str, objective: str, engine: Any = None) -> None:
    """A campaign, and its first wave."""
    from fieldcheck.campaign import Campaign

    place, options = folder / f"{pool}-{objective}.db", {"budget": 400, "seed": 1, "auxiliary": "auto"}
    options |= {"objective": objective, "engine": engine}
    with Campaign.create(place, folder / pool, **options) as held:  # type: ignore[arg-type]
        held.ask("Eva", n=1)


def gone_on(folder: Path, pool: str, objective: str, engine: Any = None) -> None:
    """The labels of the first wave, then the draw of the second one."""
    from fieldcheck.campaign import Annotation, Campaign
    from fieldcheck.core.label import TrueClass

    with Campaign.open(folder / f"{pool}-{objective}.db", engine=engine) as held:
        waiting = held.ask("Eva", n=10_000)
        said = [Annotation(item, TrueClass(str(int(item) % 10)), by="Eva") for item in waiting]
        held.tell_all(said)
        held.ask("Eva", n=1)


def estimated(folder: Path, pool: str, objective: str, engine: Any = None) -> None:
    from fieldcheck.campaign import Campaign

    with Campaign.open(folder / f"{pool}-{objective}.db", engine=engine) as held:
        held.estimate()


def sliced(folder: Path, pool: str, objective: str, by: str) -> None:
    """The accuracy of each part of the pool, after the labels of the first wave."""
    from fieldcheck.accuracy.assessment.slices import slices
    from fieldcheck.campaign import Campaign

    with Campaign.open(folder / f"{pool}-{objective}.db") as held:
        slices(held.view.labelled()[0], held.pool, by)


def all_metrics(folder: Path, pool: str, objective: str) -> None:
    """Precision, recall, F1 and the confusion matrix, after the labels of the first wave."""
    from fieldcheck.accuracy.assessment.metrics import metrics, true_classes_of
    from fieldcheck.campaign import Campaign

    with Campaign.open(folder / f"{pool}-{objective}.db") as held:
        labelled, _ = held.view.labelled()
        metrics(labelled, held.pool, true_classes_of(labelled, held.pool, held.view.labels()))


WORK: dict[str, Callable[..., None]] = {
    "start": begun,
    "next": gone_on,
    "estimate": estimated,
    "slices by prediction": partial(sliced, by="prediction"),
    "slices by dsa": partial(sliced, by="dsa"),
    "metrics": all_metrics,
}
for _pool, _words in (("pool.parquet", ""), ("cut", " in shards")):
    for _objective in ("estimate", "protected"):
        for _name, _work in WORK.items():
            aim = "" if _objective == "estimate" else f" {_objective}"
            STEPS[f"{_name}{aim}{_words}"] = partial(_work, pool=_pool, objective=_objective)


def compared(folder: Path, pool: str, other: str) -> None:
    """Which of two models is better: matched by id, disagreements found, the first of them drawn."""
    from fieldcheck.campaign import Campaign

    options = {"budget": 200, "seed": 1, "against": [folder / other]}
    with Campaign.create(folder / f"{other}.db", folder / pool, **options) as held:  # type: ignore[arg-type]
        held.ask("Eva", n=1)


COMPARED = {"start against": ("pool.parquet", "rival.parquet"), "start against in shards": ("cut", "rival")}
for _name, (_pool, _other) in COMPARED.items():
    STEPS[_name] = partial(compared, pool=_pool, other=_other)


def reused(folder: Path, pool: str, other: str) -> None:
    """How accurate the other model is, by the labels of the first wave of "start": the top-up is drawn."""
    from fieldcheck.campaign import Campaign

    options = {"budget": 40, "seed": 1, "reuse": folder / f"{pool}-estimate.db", "labels_unseen": True}
    with Campaign.create(folder / f"{other}-reuse.db", folder / other, **options) as held:  # type: ignore[arg-type]
        held.ask("Eva", n=1)


def told(folder: Path, pool: str, other: str) -> None:
    """The labels of the top-up, and the estimate after them."""
    from fieldcheck.campaign import Annotation, Campaign
    from fieldcheck.core.label import TrueClass

    with Campaign.open(folder / f"{other}-reuse.db") as held:
        said = [Annotation(item, TrueClass(str(int(item) % 10)), by="Eva") for item in held.ask("Eva", n=100)]
        held.tell_all(said)
        held.estimate()


def changed(folder: Path, pool: str, other: str) -> None:
    """What the other model does better and what worse, by predicted class."""
    from fieldcheck.campaign import Campaign

    with Campaign.open(folder / f"{other}-reuse.db") as held:
        held.view.change(by=("prediction",))


REUSED = {"start reuse": reused, "estimate reuse": told, "what changed": changed}
"""After "start" and "next" of the same pool."""

for _name, _work in REUSED.items():
    for _words, _pools in (("", ("pool.parquet", "rival.parquet")), (" in shards", ("cut", "rival"))):
        STEPS[f"{_name}{_words}"] = partial(_work, pool=_pools[0], other=_pools[1])


@dataclass
class Weighed:
    """The engine ``local``, which weighs what another one would send and get back.

    steps, sent, back
        How many steps were mapped; bytes of what every worker gets, and of all results.
    """

    name: ClassVar[str] = "weighed"
    title: ClassVar[str] = "here"

    steps: int = 0
    sent: int = 0
    back: int = 0

    def map(self, step: Callable[[Any, Any], Any], shards: Sequence[Any], constants: Any) -> Iterator[Any]:
        self.steps += 1
        self.sent += len(pickle.dumps((step, constants)))
        for shard in shards:
            found = pickle.dumps(step(shard, constants))
            self.back += len(found)
            yield pickle.loads(found)  # noqa: S301 -- our own, of the line before


@step
def traffic(folder: Path) -> None:
    """What a cluster would move; two waves and an estimate after a wave each."""
    (folder / "cut-estimate.db").unlink(missing_ok=True)
    for name, work in (("start", begun), ("next", gone_on), ("estimate", estimated)):
        weighed = Weighed()
        work(folder, "cut", "estimate", engine=weighed)
        sent, back = weighed.sent / 1e6, weighed.back / 1e6
        print(f"  {name}: {weighed.steps} steps, {sent:.1f} MB to each worker, {back:.1f} MB from all", flush=True)


@step
def plan(folder: Path) -> None:
    from fieldcheck import sources
    from fieldcheck.accuracy.assessment.planning.plan import plan as planned

    planned(sources.load(folder / "pool.parquet"), half_width=0.02)


def measured(name: str, folder: Path, said: multiprocessing.SimpleQueue[tuple[float, float]]) -> None:
    """Packages are imported before the clock starts."""
    nothing(folder)
    if name in ("bare_loop", "predict"):
        import onnxruntime  # noqa: F401
        import scipy.special  # noqa: F401
    began = time.process_time()
    STEPS[name](folder)
    said.put((time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def main() -> None:
    names = [word for word in sys.argv[1:] if word in STEPS] or list(STEPS)
    for size in [int(word) for word in sys.argv[1:] if word.isdecimal()] or [1_000_000]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            context = multiprocessing.get_context("spawn")
            made = write if size <= WHOLE else write_shards
            further = {
                write_inputs: {"predict", "bare_loop"},
                write_rival: {*COMPARED, *(f"{one}{end}" for one in REUSED for end in ("", " in shards"))},
            }
            for target in (made, *(one for one, asked in further.items() if asked & {*names})):
                writer = context.Process(target=target, args=(folder, size))
                writer.start()
                writer.join()
            print(f"{size:,} items\n{'step':28} {'cpu s':>8} {'x read':>7} {'peak MB':>8} {'bytes/item':>10}")
            floor: dict[str, tuple[float, float]] = {}
            first = ("nothing", "read") if size <= WHOLE else ("nothing",)
            for name in dict.fromkeys((*first, *names)):
                said: multiprocessing.SimpleQueue[tuple[float, float]] = context.SimpleQueue()
                process = context.Process(target=measured, args=(name, folder, said))
                process.start()
                process.join()
                if process.exitcode:
                    print(f"{name:28} failed")
                    continue
                cpu, peak = floor[name] = said.get()
                ratio = cpu / floor.get("read", (cpu, 0))[0]
                each = (peak - floor["nothing"][1]) * 2**20 / size
                print(f"{name:28} {cpu:8.2f} {ratio:7.1f} {peak:8.0f} {each:10.0f}", flush=True)


if __name__ == "__main__":
    main()
