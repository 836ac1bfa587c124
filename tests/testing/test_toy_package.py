"""A package of others: one file and one line for each thing that it adds, and it is everywhere at once."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fieldcheck

FILES = {
    "coin.py": '''
"""A design."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.designs import Srs


@dataclass(frozen=True)
class Coin(Srs):
    """Toss a coin for every item."""

    name: ClassVar[str] = "coin"
    title: ClassVar[str] = "Coin toss"
    paper: ClassVar[str] = "a toy"

    def draw(self, frame, losses, *, budget, seed):
        return super().draw(frame, losses, budget=budget, seed=seed + 7)
''',
    "oddness.py": '''
"""An auxiliary variable."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.auxiliary.base import AsIs, Variable


@dataclass(frozen=True)
class FittedOddness(AsIs):
    def values(self, trace):
        return np.sqrt(1 - _probabilities(trace).max(axis=1))


def _probabilities(trace):
    if trace.probabilities is None:
        from fieldcheck.core.errors import DesignError

        raise DesignError("oddness: no probabilities", rule="oddness looks at probabilities")
    return trace.probabilities


@dataclass(frozen=True)
class Oddness(Variable):
    """The root of what is missing to certainty."""

    name: ClassVar[str] = "oddness"
    title: ClassVar[str] = "Oddness"
    paper: ClassVar[str] = "a toy"
    tasks: ClassVar[frozenset] = frozenset({"classification"})
    needs: ClassVar[frozenset] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset] = frozenset()

    @classmethod
    def of_pool(cls, pool):
        return pool.numeric(cls.name) if pool.confidence is None else np.sqrt(np.clip(1 - pool.confidence, 0, 1))

    def fit(self, reference, *, seed):
        return FittedOddness()
''',
    "pipes.py": '''
"""A format of pools: columns between bars."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import as_column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources.table import RawTable


@dataclass(frozen=True)
class Pipes:
    """Text with bars between the columns."""

    name: ClassVar[str] = "pipes"
    suffixes: ClassVar[tuple] = (".bars",)

    def read(self, path, columns, *, encoding):
        try:
            rows = [line.split("|") for line in path.read_text("utf-8").splitlines()]
        except UnicodeDecodeError as error:
            raise PoolError(f"{path} is no text", rule="UTF-8") from error
        table = {name: as_column([row[at] for row in rows[1:]], name) for at, name in enumerate(rows[0])}
        return RawTable(table, Origin(file=str(path)))
''',
    "sparse.py": '''
"""A plan."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.plans import Spread


@dataclass(frozen=True)
class Sparse(Spread):
    """Spread, and little of it."""

    name: ClassVar[str] = "sparse"
    title: ClassVar[str] = "A little of everything"
    usual: ClassVar[int] = 500
''',
    "arrows.py": '''
"""A format of labels: an item, an arrow, its label."""

from typing import ClassVar

from fieldcheck.campaign.exchange.base import Fault, LabelLine


class Arrows:
    """One item a line: ``img_7 -> cat``."""

    name: ClassVar[str] = "arrows"
    suffixes: ClassVar[tuple] = (".arrows",)

    @staticmethod
    def recognises(start):
        return " ->" in start.partition("\\n")[0]

    @staticmethod
    def read(stream, path):
        for number, line in enumerate(stream, 1):
            item, arrow, label = line.partition(" ->")
            where = f"line {number}"
            yield LabelLine(where, item, label.strip()) if arrow else Fault(where, "has no arrow")

    @staticmethod
    def write(items, *, by, base):
        return "".join(f"{one.item} ->\\n" for one in items)
''',
    "drawer.py": '''
"""A store: files in a drawer."""

from pathlib import Path
from typing import ClassVar

from fieldcheck.campaign.stores import SqliteStore


class Drawer(SqliteStore):
    """``drawer://name`` is a file in the folder drawer."""

    name: ClassVar[str] = "drawer"

    def __init__(self, place, *, create=False):
        Path("drawer").mkdir(exist_ok=True)
        super().__init__(Path("drawer", place.partition("://")[2]), create=create)
''',
    "half.py": '''
"""A measure."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Half:
    """A wrong class costs a half."""

    name: ClassVar[str] = "half"
    raw: ClassVar[bool] = False
    scales = ("cost",)
    range = (0.0, 1.0)

    def losses(self, outputs, truths):
        return np.array([(said != truth) / 2 for said, truth in zip(outputs, truths)])

    def failed(self, losses):
        return losses > 0
''',
}

LINES = """
[fieldcheck.designs]
coin = toyfield.coin:Coin
[fieldcheck.auxiliary]
oddness = toyfield.oddness:Oddness
[fieldcheck.pools]
pipes = toyfield.pipes:Pipes
[fieldcheck.plans]
sparse = toyfield.sparse:Sparse
[fieldcheck.exchange]
arrows = toyfield.arrows:Arrows
[fieldcheck.stores]
drawer = toyfield.drawer:Drawer
[fieldcheck.measures]
half = toyfield.half:Half
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as pip leaves it: the package, and what its wheel says of it."""
    folder = tmp_path_factory.mktemp("site")
    package, about = folder / "toyfield", folder / "toyfield-1.0.dist-info"
    for place in (package, about):
        place.mkdir()
    for name, text in {"__init__.py": "", **FILES}.items():
        (package / name).write_text(text)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toyfield\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(LINES)
    with (folder / "pool.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prediction", "confidence", "target", "city"])
        writer.writerows(
            [f"i{at}", "ab"[at % 2], 0.5 + at % 50 / 101, "ab"[at % 2 ^ (at % 7 == 0)], "Graz"] for at in range(200)
        )
    (folder / "pool.bars").write_text((folder / "pool.csv").read_text().replace(",", "|"))
    return folder


def python(site: Path, *words: object) -> str:
    """What a fresh interpreter prints that has the package on its path."""
    paths = [str(Path(fieldcheck.__file__).parents[1]), str(site)]
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=site,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def fieldcheck_(site: Path, *words: object) -> str:
    return python(site, "-m", "fieldcheck", *words)


def test_the_lists_for_people_have_it(site: Path) -> None:
    rows = json.loads(fieldcheck_(site, "designs", "--json"))["designs"]
    assert {"name": "coin", "title": "Coin toss"}.items() <= rows[-1].items()
    assert "sparse\tA little of everything" in fieldcheck_(site, "tomography", "list", "plans")
    assert "half\tA wrong class costs a half." in fieldcheck_(site, "tomography", "list", "measures")
    assert "oddness" in fieldcheck_(site, "auxiliary", "pool.csv")


def test_bench_compares_it(site: Path) -> None:
    rows = json.loads(fieldcheck_(site, "bench", "pool.bars", "-n", 20, "-r", 2, "-a", "oddness", "--json", "-"))[
        "rows"
    ]
    assert "coin" in {row["design"] for row in rows}
    assert {row["auxiliary"] for row in rows if row["design"] == "sups"} == {"oddness"}


def test_the_checks_of_ours_are_its_checks(site: Path) -> None:
    code = """
from pathlib import Path
from itertools import count
from fieldcheck.accuracy import auxiliary, designs
from fieldcheck.campaign import stores
from fieldcheck.campaign.exchange import formats
from fieldcheck.core import measures
from fieldcheck.sources import pools
from fieldcheck.testing import check_auxiliary, check_design, check_plan, check_pool_format
from fieldcheck.testing import check_exchange, check_measure, check_store
from fieldcheck.tomography import plans
check_design(designs.registry["coin"])
check_auxiliary(auxiliary.registry["oddness"])
check_pool_format(pools.registry["pipes"], Path("pool.bars"))
check_plan(plans["sparse"])
check_exchange(formats.registry["arrows"], "i1 -> cat\\ni2 ->\\n", {"i1": "cat"})
check_measure(measures.registry["half"], ["cat", "dog"], ["cat", "cat"])
numbers = count()
check_store(stores.registry["drawer"], lambda: f"drawer://checked-{next(numbers)}")
"""
    python(site, "-c", code)


def test_a_campaign_in_its_store_is_labelled_in_its_format(site: Path) -> None:
    fieldcheck_(site, "start", "pool.csv", "--campaign", "drawer://desk", "--design", "coin", "--budget", 20)
    fieldcheck_(site, "next", "drawer://desk", "-n", 20, "--out", "to_label.arrows")
    asked = (site / "to_label.arrows").read_text().splitlines()
    assert len(asked) == 20
    (site / "done.arrows").write_text("".join(f"{line} right\n" for line in asked))
    assert "20 new" in fieldcheck_(site, "import", "drawer://desk", "done.arrows")
    assert json.loads(fieldcheck_(site, "estimate", "drawer://desk", "--json"))["value"] == 1
    assert (site / "drawer" / "desk").is_file()


def test_a_space_file_is_checked_by_its_measure(site: Path) -> None:
    code = """
from pathlib import Path
from fieldcheck.tomography import read_recipe, template
Path("space.toml").write_text(template("digits").replace('kind = "label"', 'kind = "half"'))
print(read_recipe("space.toml").measure)
"""
    assert python(site, "-c", code).strip() == "Half()"


def test_a_variable_of_ones_own_is_one_of_the_pool_and_hidden_from_annotators(site: Path) -> None:
    code = """
from fieldcheck import from_arrays, load
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.campaign.items import content_of
pool = load("pool.csv")
assert "oddness" in derived.names(pool), derived.names(pool)
assert derived.values(pool, "oddness").max() > 0
own = from_arrays(y_pred=["a", "b"], metadata={"oddness": [1.0, 2.0], "city": ["Graz", "Linz"]})
print(content_of("", own, 0).pairs)
"""
    assert python(site, "-c", code).strip() == "(('city', 'Graz'),)"
