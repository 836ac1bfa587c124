"""What every format of pools and every source of inputs must do, whoever wrote it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.choosing import read_table
from fieldcheck.sources.inputs.base import InputSource
from fieldcheck.sources.inputs.options import Wanted
from fieldcheck.sources.pools import arrays, base
from fieldcheck.sources.pools.table import as_table
from fieldcheck.testing.require import check_described, check_refused, made_of, require


def check_pool_format(kind: base.PoolFormat | type[base.PoolFormat], example: Path | None = None) -> None:
    """Raise AssertionError unless pools come back as they were written, and what is no such file is refused.

    example
        A file of that format, for one that pools are not written in.
    """
    made: base.PoolFormat = made_of(kind)
    check_described(made, base.PoolFormat, "suffixes")
    require(all(one[0] in "./" and one == one.lower() for one in made.suffixes), f"{made.name}: {made.suffixes}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, f"pool{made.suffixes[0]}")
        if isinstance(made, base.WrittenFormat):
            for pool in _pools():
                made.write(as_table(pool), place)
                require(
                    _read(made, place).digest({}) == pool.digest({}), f"{made.name}: {pool.name} comes back changed"
                )
        place.write_bytes(b"\0\xff\xfe not such a file \0" * 20)
        check_refused(lambda: _read(made, place), f"{made.name} reads what is no such file")
    if example is not None:
        require(len(_read(made, example)) > 0, f"{made.name}: no item in {example}")


def _read(made: base.PoolFormat, place: Path) -> Pool:
    return read_table(made.read(place, {}, encoding=None), {}, truth=None).pool(place.stem)


def _pools() -> list[Pool]:
    """Classes with truth and probabilities, and numbers; names with a comma, a quote and a line break."""
    ids = [f'item, {at} "{"é" if at % 2 else "ü"}"' for at in range(12)]
    shares = np.array([[1 + at % 3, 2, 1 + at % 2] for at in range(12)], dtype=np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    truth = [("cat", "dog", "a, b")[at % 3] for at in range(12)]
    names = ["a, b", "cat", "dog"]
    classes = arrays.from_arrays(
        y_proba=shares, y_true=truth, classes=names, ids=ids, auxiliary={"dsa": np.arange(12) / 7}
    )
    numbers = arrays.from_arrays(y_pred=np.arange(12) / 3, y_true=np.arange(12) / 3 + 0.25, ids=ids)
    return [classes, numbers]


def check_input_source(kind: InputSource | type[InputSource], example: Path) -> None:
    """Raise AssertionError unless the source opens the example, and its items are the same however they are asked for.

    example
        A file or folder with three items or more.
    """
    made: InputSource = made_of(kind)
    require(isinstance(made, InputSource), f"{made!r} lacks a part of InputSource")
    require(made.accepts(example), f"{made.name} does not take {example}")
    require(not made.accepts(example / "nowhere"), f"{made.name} takes what is not there")
    inputs = made.open(example, Wanted())
    count = len(inputs)
    require(count >= 3 and len(inputs.ids) == count, f"{made.name}: {count} items with {len(inputs.ids)} ids")
    require(inputs.labels is None or len(inputs.labels) == count, f"{made.name}: not one label per item")
    require(inputs.kind in ("image", "text", "row"), f"{made.name}: items of kind '{inputs.kind}'")
    whole = list(inputs.batch(0, count))
    for start, stop in ((1, 3), (0, 1), (count - 1, count)):
        piece = list(inputs.batch(start, stop))
        same = len(piece) == stop - start and all(map(np.array_equal, piece, whole[start:stop]))
        require(same, f"{made.name}: items {start} to {stop} depend on what else is read")
