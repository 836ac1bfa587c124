"""Damaged and hostile bytes for every loader and the query parser: whatever they hold, the user is told what to do.

    python3 run.py fuzz [--inputs 100000] [--only pool_npz,query] [--engine mutation]

``atheris`` (libFuzzer for Python, guided by coverage; ``pip install "fieldcheck[fuzz]"``) mutates small good files, and
runs in a process per target. Where it is missing, ``mutation`` flips, cuts, doubles and splices bytes without looking
at coverage. An input fails when it raises anything but our errors, asks for more than a gigabyte of memory, or takes
over ten seconds; it is left in ``--out``, and belongs into ``tests/fuzz/found/<target>`` once it is mended: a test
tries all of these again.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MEMORY, SECONDS = 1 << 30, 10.0
"""What one input may take."""


LONGEST = 1 << 14
"""Bytes of an input."""


@dataclass(frozen=True)
class Target:
    """Something that reads bytes.

    read
        Reads the file at this place; the folder around it is the target's own.
    file
        Where in that folder it looks for the bytes.
    around
        Makes the folder.
    pack
        Makes the file of the bytes: damage inside an archive is not seen by its checksums.
    """

    name: str
    file: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    around: Callable[[Path], object] = field(default=lambda folder: None)
    pack: Callable[[bytes], bytes] = field(default=lambda data: data)


def _npz(compressed: Any = True, **arrays: Any) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, **arrays)
    return buffer.getvalue()


def _npy(array: Any) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _members(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _within(whole: Target, member: str, suffix: str = ".npy") -> Target:
    """The same target, with damage only inside one array (or one part) of its first seed."""
    good, file = cache(lambda: _members(whole.seeds()[0])), f"{member}{suffix}"

    def pack(data: bytes) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name, content in {**good(), file: data}.items():
                archive.writestr(name, content)
        return made.getvalue()

    return replace(whole, name=f"{whole.name}.{Path(member).name}", seeds=lambda: [good()[file]], pack=pack)


def _pool_columns() -> dict[str, Any]:
    import numpy as np

    return {
        "id": np.array(["a", "b", "c", "ü"]),
        "prediction": np.array([0, 1, 1, 0]),
        "confidence": np.array([0.5, 0.75, 1.0, 0.25]),
        "target": np.array([0, 1, 0, 0]),
    }


def _pool_npz() -> list[bytes]:
    import numpy as np

    likely = np.array([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0], [0.75, 0.25]], dtype=np.float32)
    rich = {"probs": likely, "classes": np.array(["cat", "dog"]), "wide": np.zeros((2, 2, 2)), **_pool_columns()}
    rich["prediction"] = rich["target"] = np.array(["cat", "dog", "dog", "cat"])
    return [_npz(**_pool_columns()), _npz(compressed=False, **rich), _npz(prediction=np.array([0.5, 1.5, 2.5]))]


def _parquet(**columns: Any) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def _csv() -> list[bytes]:
    return [
        b'id,prediction,confidence,target\na,0,0.5,0\nb,1,0.75,1\n"c,""c",1,1e-3,0\n',
        "id;prediction;target\nä;cat;dog\nb;dog;None\n".encode(),
        "\ufeffid,outcome\n1,Pass\n2,Fail\n".encode(),
        "id,prediction\nä,cat\nb,dog\n".encode("utf-16"),
        "id,prediction,label\nä,cat,\nb,dog,cat\n".encode("latin-1"),
        b"prediction,proba_a,proba_b\na,0.5,0.5\nb,0.25,0.75\n",
    ]


def _json() -> list[bytes]:
    rows = [{"id": "a", "prediction": "cat", "score": 0.5}, {"id": "b", "prediction": "dog", "score": 0.75}]
    pipeline = [[{"label": "cat", "score": 0.5}, {"label": "dog", "score": 0.5}]] * 2
    return [
        json.dumps(one).encode()
        for one in (
            rows,
            {"columns": ["id", "prediction"], "data": [["a", "cat"], ["b", "dog"]]},
            {"id": {"0": "a", "1": "b"}, "prediction": {"0": "cat", "1": "dog"}},
            {"data": rows},
            pipeline,
            *_evaluations(),
        )
    ]


def _evaluations() -> list[Any]:
    """Logs of programs that evaluate language models."""
    said = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": [{"content": "4"}]}]
    return [
        [
            {
                "sample_id": "a",
                "type": "match",
                "data": {"prompt": said, "picked": "4", "correct": True, "expected": "4"},
            }
        ],
        {"results": {"results": [{"id": "a", "vars": {"x": "2"}, "response": {"output": "4"}, "success": True}]}},
        {
            "eval": {"task": "sums"},
            "samples": [
                {"id": 1, "epoch": 1, "input": said, "target": ["4"], "scores": {"match": {"answer": "4"}}},
                {"id": 2, "epoch": 2, "input": "3?", "target": "3", "output": {"completion": "3"}},
            ],
        },
    ]


def _json_lines() -> list[bytes]:
    return [
        b'{"id": "a", "prediction": "cat", "confidence": 0.5}\n{"id": "b", "prediction": "dog", "confidence": 0.75}\n',
        b'{"prediction": 1.5}\n\n{"prediction": null, "more": {"a": [1, 2]}}\n',
    ]


def _xlsx() -> list[bytes]:
    import openpyxl  # type: ignore[import-untyped]

    buffer, book = io.BytesIO(), openpyxl.Workbook()
    for row in (("id", "prediction", "confidence"), ("a", "cat", 0.5), ("b", "dog", 0.75), ("c", "cat", "61,7 %")):
        book.active.append(row)
    book.save(buffer)
    return [buffer.getvalue()]


def _image(kind: str, mode: str = "RGB") -> bytes:
    import numpy as np
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3)).convert(mode).save(buffer, kind)
    return buffer.getvalue()


def _studio() -> list[bytes]:
    def task(result: Any) -> bytes:
        return json.dumps(
            [{"id": 7, "data": {"id": "a"}, "annotations": [{"completed_by": {"email": "x@y"}, "result": result}]}]
        ).encode()

    choice = [{"from_name": "label", "type": "choices", "value": {"choices": ["cat"]}}]
    flat = b'[{"id": 1, "fieldcheck_id": "a", "label": "\\ud800", "annotator": 3}, {"fieldcheck_id": 4, "label": 1.5}]'
    return [task(choice), task([{"value": {"number": 3}}]), flat, *_csv(), b"id,label,annotator\na,cat,Eva\nb,,\n"]


SPACE = b"""seed = 3
ordered = false
surrogate = "logistic"
[model]
file = "digits.onnx"
[data]
file = "digits.npz#x"
limit = 300
[check]
kind = "tolerance"
tolerance = 0.5
[plan]
kind = "spread"
[[perturbation]]
name = "brightness"
levels = 3
words = { low = [1, 1], high = [2, 3] }
"""


QUERIES = (
    "order <= 2 and (brightness in {low, 3} or not zoom > 1)",
    "severity_sum >= 3 and robustness < 0.5",
    "brightness = high and quality <= 0.1",
    "zoom 1..2 or all",
    "brightness before zoom and order = 2",
    "zoom after brightness before zoom",
)


def _space() -> Any:
    from fieldcheck.core.space import Axis, Space

    return Space((Axis("brightness", 3, words={"low": (1, 1), "high": (2, 3)}), Axis("zoom", 2)))


def _run(folder: Path) -> None:
    """A finished run of twelve tests on twenty inputs, with its fit and its quality."""
    import numpy as np

    from fieldcheck.core.space import Outcomes
    from fieldcheck.tomography.runs.folder import RunFolder, space_record

    space = _space()
    head = {"space": space_record(space), "guess": 0.1, "surrogate": "logistic", "seed": 1, "inputs": 20}
    made = RunFolder.create(folder, {**head, "classes": [0, 1] * 10, "budget": 240, "earlier": []})
    rng = np.random.default_rng(1)
    tests, inputs = (grid.ravel() for grid in np.meshgrid(np.arange(12), np.arange(20), indexing="ij"))
    for rows in np.array_split(np.arange(240), 2):
        held = (rng.random(len(rows)) < 0.8).astype(float)
        made.add(Outcomes(tests[rows], inputs[rows], held, np.full(len(rows), 0.5)))
    (folder / "quality.npz").write_bytes(_npz(predicted=np.linspace(0, 1, 12), tests=np.arange(12)))


def _opened(folder: Path) -> object:
    """The run without its fit, which takes too long for every input."""
    from fieldcheck.tomography.answers.run import Run
    from fieldcheck.tomography.surrogates.base import Evidence

    run = Run.open(folder)
    assert isinstance(run.evidence, Evidence)
    run.outcomes.counts()
    return run.space.severities(run.outcomes.tests), run.quality


def _of_run(file: str) -> list[bytes]:
    with tempfile.TemporaryDirectory() as place:
        _run(Path(place) / "run")
        return [(Path(place) / "run" / file).read_bytes()]


class _Quick:
    """The logistic surrogate without the wait: what it fits was fitted once."""

    name = title = paper = "quick"

    def __init__(self) -> None:
        from fieldcheck.tomography import surrogates

        self.slow: Any = surrogates.registry.build("logistic")
        self.once = self.slow.fit(_evidence(), seed=1)

    def __repr__(self) -> str:
        return "quick"

    def fit(self, evidence: Any, *, seed: int) -> Any:
        return self.once

    def numbers_of(self, fitted: Any) -> Any:
        return self.slow.numbers_of(fitted)

    def of_numbers(self, numbers: Any, space: Any) -> Any:
        return self.slow.of_numbers(numbers, space)


@cache
def _quick() -> Any:
    return _Quick()


def _evidence() -> Any:
    import numpy as np

    from fieldcheck.core.space import Outcomes
    from fieldcheck.tomography.surrogates.base import Evidence

    tests, inputs = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    return Evidence(_space(), Outcomes(tests, inputs, (tests * inputs % 7 > 1).astype(float)))


def _fit(path: Path) -> object:
    """Whatever the kept fit holds: it is ignored, or it predicts."""
    import numpy as np

    from fieldcheck.tomography.answers.fit_file import fitted

    return fitted(_quick(), _evidence(), seed=1, path=path).predict(np.arange(12))


def _fits() -> list[bytes]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "surrogate.npz")
        _fit(path)
        return [path.read_bytes()]


def _truth() -> list[bytes]:
    import numpy as np

    tests = np.stack(np.unravel_index(np.arange(12), (4, 3)), axis=1)
    bits = np.packbits(np.ones((12, 20), dtype=bool), axis=1)
    named = {"perturbations": np.array(["brightness", "zoom"]), "inputs": np.array(20), "classes": np.array(10)}
    return [_npz(tests=tests, correct=bits, labels=np.arange(20) % 10, **named), _npz(tests=tests, correct=bits)]


def _all_items(path: Path, **options: Any) -> None:
    from fieldcheck.sources import open_inputs

    inputs = open_inputs(path, **options)
    _ = inputs.labels, inputs.ids
    inputs.batch(0, min(len(inputs), 64))


def _pool(path: Path) -> None:
    """A pool, read as each of the usual encodings where it is text."""
    from fieldcheck.core.errors import FieldcheckError
    from fieldcheck.sources import load

    for encoding in (None, "latin-1", "utf-16") if path.suffix == ".csv" else (None,):
        try:
            load(path, encoding=encoding)
        except FieldcheckError:
            continue


def _shard(folder: Path) -> None:
    """The files of a pool in two shards, without their list."""
    (folder / "manifest.json").write_bytes(_manifest()[0])
    for name, content in _of_shards().items():
        (folder / name).write_bytes(content)


@cache
def _of_shards() -> dict[str, bytes]:
    from fieldcheck.sources import shard

    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "pool.npz").write_bytes(_npz(**_pool_columns()))
        shard(Path(place) / "pool.npz", Path(place) / "shards", rows=2)
        return {one.name: one.read_bytes() for one in (Path(place) / "shards").iterdir()}


def _manifest() -> list[bytes]:
    return [_of_shards()["manifest.json"]]


def _shards(folder: Path) -> None:
    """In memory, and shard by shard."""
    from fieldcheck.core.errors import FieldcheckError
    from fieldcheck.core.pool.engine import Loop
    from fieldcheck.sources import load

    for engine in (None, Loop()):
        try:
            load(folder, engine=engine).id_of(0)
        except FieldcheckError:
            continue


def _labels(path: Path) -> None:
    from fieldcheck.campaign.exchange.reading import read_lines

    for entry in read_lines(path):
        str(entry).encode()


def _query(path: Path) -> object:
    from fieldcheck.tomography.query import parse

    return parse(path.read_bytes().decode("utf-8", "replace"), _space())


def _space_file(path: Path) -> object:
    from fieldcheck.tomography.setup.space_file import read_space_file

    file = read_space_file(path)
    return file.code if file.model else file.truth


def _profile(path: Path) -> object:
    import numpy as np

    from fieldcheck.tomography.answers.profile import Profile

    space = _space()
    return Profile.from_file(path).of_tests(space, np.arange(space.size))


def _bench(path: Path) -> None:
    from fieldcheck.bench.finished_cells import FinishedCells

    journal = FinishedCells(path)
    for key in ("one", "two"):
        journal.find(key)


def _journal() -> list[bytes]:
    import numpy as np

    from fieldcheck.bench.finished_cells import HEADER
    from fieldcheck.bench.plan import Cell
    from fieldcheck.bench.result import CellResult

    some = np.array([0.5, 0.75])
    whole = np.array([1, 2])
    numbers: Any = dict.fromkeys(("values", "low", "high"), some) | dict.fromkeys(
        ("failures", "exposed", "labels"), whole
    )
    about: Any = {"cell": Cell("s", "srs", "none", 10), "task": "classification", "truth": 0.5, "failing": 9}
    cell = CellResult(**about, **numbers, trusted=whole > 1)
    return [(json.dumps(HEADER) + "\n" + json.dumps({"key": "one", **cell.as_record()}) + "\n").encode()]


def _measured(path: Path) -> object:
    from fieldcheck.bench.shipped import measured_rows

    return measured_rows(path)


def _settings(path: Path) -> object:
    from fieldcheck.campaign.settings import Settings
    from fieldcheck.core.errors import FieldcheckError

    try:
        record = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise FieldcheckError("no JSON") from None
    return Settings.from_record(record)


def _begun() -> list[bytes]:
    from fieldcheck.campaign.settings import Settings

    made = Settings("t", "srs", "none", "", 10, 1, "classification", "squared", 0.5, 100, ("a", "b"))
    return [json.dumps(made.as_record()).encode()]


def targets() -> dict[str, Target]:
    """All of them by name."""
    import numpy as np

    images = np.arange(128, dtype=np.uint8).reshape(2, 8, 8)
    x = {"x": images, "y": np.array([0, 1])}
    part = "outcomes/000000.npz"
    found = (
        Target("pool_npz", "pool.npz", _pool_npz, _pool),
        Target("pool_csv", "pool.csv", _csv, _pool),
        Target("pool_parquet", "pool.parquet", lambda: [_parquet(**_pool_columns())], _pool),
        Target("pool_json", "pool.json", _json, _pool),
        Target("pool_jsonl", "pool.jsonl", _json_lines, _pool),
        Target("pool_xlsx", "pool.xlsx", _xlsx, _pool),
        Target("pool_shards", "manifest.json", _manifest, lambda path: _shards(path.parent), _shard),
        Target("inputs_npz", "x.npz", lambda: [_npz(**x), _npz(compressed=False, **x)], _all_items),
        Target("inputs_npy", "x.npy", lambda: [_npy(images), _npy(np.array(["a", "bc"]))], _all_items),
        Target("inputs_csv", "x.csv", lambda: [b'text,label\nhi,0\n"a\nb",1\n', b"a,b,y\n1,2,0\n3,4,1\n"], _all_items),
        Target("inputs_parquet", "x.parquet", lambda: [_parquet(text=["a", "b"], y=[0, 1])], _all_items),
        Target("inputs_list", "x.txt", lambda: ["one\nä\tb\n".encode()], lambda path: _all_items(path, kind="text")),
        Target("image_png", "x.png", lambda: [_image("PNG"), _image("PNG", "P")], lambda path: _all_items(path.parent)),
        Target("image_jpeg", "x.jpg", lambda: [_image("JPEG")], lambda path: _all_items(path.parent)),
        Target("image_other", "x.tif", lambda: [_image("TIFF"), _image("GIF"), _image("BMP"), _image("WEBP")],
               lambda path: _all_items(path.parent)),
        Target("run_part", part, lambda: _of_run(part), lambda path: _opened(path.parent.parent), _run),
        Target("run_head", "run.json", lambda: _of_run("run.json"), lambda path: _opened(path.parent), _run),
        Target("run_quality", "quality.npz", lambda: _of_run("quality.npz"), lambda path: _opened(path.parent), _run),
        Target("run_fit", "surrogate.npz", _fits, _fit),
        Target("truth", "truth.npz", _truth, _read_truth),
        Target("space_file", "space.toml", lambda: [SPACE], _space_file),
        Target("profile", "profile.toml", lambda: [b"brightness = [0.5, 0, 0, 0.5]\nzoom = [1, 0, 2]\n"], _profile),
        Target("labels", "labels.txt", _studio, _labels),
        Target("query", "query.txt", lambda: [one.encode() for one in QUERIES], _query),
        Target("bench_journal", "bench.jsonl", _journal, _bench),
        Target("bench_measured", "measured.json", _shipped, _measured),
        Target("settings", "settings.json", _begun, _settings),
    )  # fmt: skip
    named = {target.name: target for target in found}
    inner = (
        *(("pool_npz", "prediction"), ("pool_npz", "id"), ("inputs_npz", "x"), ("run_part", "tests")),
        *(("run_part", "held"), ("run_fit", "numbers"), ("run_quality", "predicted"), ("truth", "correct")),
    )
    within = [_within(named[name], member) for name, member in inner]
    within += [_within(named["pool_xlsx"], f"xl/{part}", ".xml") for part in ("worksheets/sheet1", "workbook")]
    return named | {target.name: target for target in within}


def _shipped() -> list[bytes]:
    """Two rows in either form."""
    from fieldcheck.bench.shipped import COLUMNS, TEXTS, compact_json

    row: Any = {name: "srs" if name in TEXTS else 0.5 for name in COLUMNS}
    return [compact_json([row, row], seed=1, level=0.95).encode(), json.dumps({"rows": [row], "leaks": []}).encode()]


def _read_truth(path: Path) -> object:
    from fieldcheck.tomography.setup.truth import read_truth

    return read_truth(path)


@dataclass
class Trial:
    """One target and what its inputs did; failures that raise in the same place count as one."""

    target: Target
    folder: Path
    out: Path
    tried: int = 0
    slowest: float = 0.0
    failures: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.target.around(self.folder)
        self.base = _peak()

    def __call__(self, data: bytes) -> None:
        """Try one input."""
        path = self.folder / self.target.file
        path.write_bytes(self.target.pack(data))
        start = time.perf_counter()
        problem = _problem(self.target, path)
        took = time.perf_counter() - start
        self.tried, self.slowest = self.tried + 1, max(self.slowest, took)
        if _peak() > self.base + MEMORY:
            problem, self.base = f"memory: {(_peak() - self.base) >> 20} MB", _peak()
        if took > SECONDS:
            problem = problem or f"time: {took:.0f} s"
        if problem and problem not in self.failures:
            self._keep(problem, data)
        if problem or self.tried % 100 == 0:
            self.save()

    def _keep(self, problem: str, data: bytes) -> None:
        place = self.out / self.target.name
        place.mkdir(parents=True, exist_ok=True)
        name = sha256(data).hexdigest()[:12]
        (place / name).write_bytes(data)
        self.failures[problem] = name

    def save(self) -> None:
        said = {
            "tried": self.tried,
            "slowest": self.slowest,
            "memory": (_peak() - self.base) >> 20,
            "failures": self.failures,
        }
        (self.out / f"{self.target.name}.json").write_text(json.dumps(said))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _problem(target: Target, path: Path) -> str:
    """What an input raised that no input may raise, and where; nothing if all is well."""
    from fieldcheck.core.errors import FieldcheckError

    try:
        target.read(path)
    except FieldcheckError as error:
        return "" if _is_text(str(error)) else "an error that cannot be printed"
    except Exception as error:
        frames = [one for one in traceback.extract_tb(error.__traceback__) if "/fieldcheck/" in one.filename]
        where = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
        return (
            f"{type(error).__name__} in {where.filename.split('/fieldcheck/')[-1]}:{where.lineno}: {str(error)[:90]!r}"
        )
    return ""


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeError:
        return False
    return True


def mutated(seeds: list[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Seeds with some bytes flipped, cut, doubled, moved or taken from another seed."""
    rng = random.Random(seed)  # noqa: S311 -- damage, not secrets
    for _ in range(count):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
            at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
            change = rng.randrange(6)
            if change < 3 and data:
                data[min(at, len(data) - 1)] = rng.choice((rng.randrange(256), data[at - 1] ^ (1 << rng.randrange(8))))
            elif change == 3:
                del data[at:end]
            elif change == 4:
                data[at:at] = data[at : min(end, at + 64)]
            else:
                other = rng.choice(seeds)
                data[at:end] = other[at:end]
        yield bytes(data[:LONGEST])


def _child(name: str, inputs: int, out: Path, engine: str, seed: int) -> None:
    """All inputs of one target, in this process."""
    if engine == "atheris":
        import atheris

        with atheris.instrument_imports(include=["fieldcheck"]):
            import fieldcheck.accuracy
            import fieldcheck.campaign.exchange.reading
            import fieldcheck.sources
            import fieldcheck.tomography  # noqa: F401
    target = targets()[name]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:  # noqa: S108
        trial = Trial(target, Path(place, "here"), out)
        seeds = target.seeds()
        for data in seeds:
            trial(data)
        if engine == "mutation":
            for data in mutated(seeds, inputs - len(seeds), seed):
                trial(data)
            trial.save()
            return
        corpus = Path(place, "corpus")
        corpus.mkdir()
        for number, data in enumerate(seeds):
            (corpus / str(number)).write_bytes(data)
        words = [f"-runs={inputs}", f"-seed={seed + 1}", f"-max_len={LONGEST}", "-rss_limit_mb=0", "-timeout=60"]
        atheris.Setup(["fuzz", str(corpus), "-print_final_stats=0", "-verbosity=0", *words], trial)
        atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="over all targets")
    parser.add_argument("--only", default="", help="targets, between commas")
    parser.add_argument("--engine", choices=("atheris", "mutation"))
    parser.add_argument("--out", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    engine = asked.engine or ("atheris" if find_spec("atheris") else "mutation")
    if asked.child:
        _child(asked.child, asked.inputs, asked.out, engine, asked.seed)
        return 0
    names = asked.only.split(",") if asked.only else list(targets())
    return _all(names, -(-asked.inputs // len(names)), asked.out, engine, asked.seed)


def _all(names: list[str], each: int, out: Path, engine: str, seed: int) -> int:
    print(f"{each:,} inputs for each of {len(names)} targets, by {engine}")
    tried, failures = 0, 0
    for name in names:
        start = time.perf_counter()
        command = [sys.executable, __file__, "--child", name, "--inputs", str(each), "--out", str(out)]
        done = subprocess.run(
            [*command, "--engine", engine, "--seed", str(seed)], capture_output=True, text=True, check=False
        )
        file = out / f"{name}.json"
        if not file.exists():
            print(f"{name}: nothing was tried\n{done.stderr[-2000:]}")
            failures += 1
            continue
        said = json.loads(file.read_text())
        if done.returncode:
            said["failures"][f"the process ended with {done.returncode}: {done.stderr[-300:]}"] = ""
        tried, failures = tried + said["tried"], failures + len(said["failures"])
        took = time.perf_counter() - start
        print(
            f"{name:<20} {said['tried']:>7,} inputs  {took:5.0f} s  slowest {said['slowest']:.2f} s  "
            f"memory +{said['memory']} MB  {len(said['failures'])} failures",
            flush=True,
        )
        for problem, kept in said["failures"].items():
            print(f"    {problem}  {kept}")
    print(f"{tried:,} inputs, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
