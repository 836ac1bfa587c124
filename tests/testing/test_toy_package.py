"""A package of others (``toyfield``): one file and one line for each thing, and it is everywhere at once."""

from __future__ import annotations

import configparser
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fieldcheck
import fieldcheck.testing

HERE = Path(__file__).parent
TESTS = HERE.parent
TOY = HERE / "toyfield"
SOURCES = Path(fieldcheck.__file__).parent

REGISTRIES = {
    group: noun
    for path in SOURCES.rglob("*.py")
    if path.parent.name != "testing"
    for noun, group in re.findall(r'Registry\(\s*"([\w ]+)",\s*"(fieldcheck\.\w+)"', path.read_text(encoding="utf-8"))
}
"""By the group of their entry points, the nouns of all registries."""

SPACE = """
surrogate = "twice"
[model]
file = "good.words"
[data]
file = "texts.say"
[check]
kind = "half"
[plan]
kind = "sparse"
inferences = 400
[quality]
score = "letters"
tests = 10
inputs = 10
[[perturbation]]
name = "loud"
levels = 3
apply = "shout"
[[perturbation]]
name = "typos"
levels = 2
apply = "typos"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as pip leaves it: the package, and what its wheel says of it."""
    folder = tmp_path_factory.mktemp("site")
    about = folder / "toyfield-1.0.dist-info"
    about.mkdir()
    shutil.copytree(TOY, folder / "toyfield", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TOY / "entry_points.txt", about)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toyfield\nVersion: 1.0\n")
    with (folder / "pool.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prediction", "confidence", "target", "city"])
        writer.writerows(
            [f"i{at}", "ab"[at % 2], 0.5 + at % 50 / 101, "ab"[at % 2 ^ (at % 7 == 0)], "Graz"] for at in range(200)
        )
    (folder / "pool.bars").write_text((folder / "pool.csv").read_text().replace(",", "|"))
    (folder / "good.words").write_text("fine nice sunny warm")
    kinds = {"good": "fine sunny warm nice", "bad": "grey rainy cold wet"}
    texts = [f"{kind}: {words} day {at}" for at in range(30) for kind, words in kinds.items()]
    (folder / "texts.say").write_text("\n".join(texts))
    (folder / "space.toml").write_text(SPACE)
    return folder


def python(site: Path, *words: object, code: int = 0) -> str:
    """What a fresh interpreter prints that has the package on its path."""
    paths = [str(SOURCES.parent), str(site)]
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=site,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def fieldcheck_(site: Path, *words: object) -> str:
    return python(site, "-m", "fieldcheck", *words)


def pytest_(site: Path, *words: object, code: int = 0) -> str:
    return python(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, code=code)


def test_it_adds_to_every_registry_with_one_file_and_one_line() -> None:
    lines = configparser.ConfigParser()
    lines.read(TOY / "entry_points.txt")
    added = {group: list(lines[group].values()) for group in lines.sections()}
    assert set(added) == set(REGISTRIES)
    files = [place.partition(":")[0].removeprefix("toyfield.") for places in added.values() for place in places]
    assert sorted(files) == sorted(path.stem for path in TOY.glob("*.py") if path.stem != "__init__")
    assert {group: len(places) for group, places in added.items()} == dict.fromkeys(REGISTRIES, 1)


def test_the_page_for_contributors_has_a_row_for_every_registry_and_every_check() -> None:
    text = (TESTS.parent / "docs" / "contributing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| an? .*\| `(fieldcheck\.\w+)` \| `(check_\w+)` \|$", text, re.MULTILINE)
    assert {group for group, _ in rows} == set(REGISTRIES)
    checks = {name for name in fieldcheck.testing.__all__ if name.startswith("check_")} - {"check_model"}
    assert {check for _, check in rows} == checks


def test_the_lists_for_people_have_it(site: Path) -> None:
    rows = json.loads(fieldcheck_(site, "designs", "--json"))["designs"]
    assert {"name": "coin", "title": "Coin toss", "estimator": "plain"}.items() <= rows[-1].items()
    listed = json.loads(fieldcheck_(site, "tomography", "list", "--json"))
    last = {kind: rows[-1]["name"] for kind, rows in listed.items()}
    assert last == {
        "perturbations": "shout",
        "plans": "sparse",
        "surrogates": "twice",
        "rules": "hasty",
        "scores": "letters",
        "measures": "half",
    }
    assert "oddness" in fieldcheck_(site, "auxiliary", "pool.csv")


def test_the_table_of_the_docs_asks_for_it(site: Path) -> None:
    """The page of techniques is held to the registry: a design without a row fails."""
    said = pytest_(site, TESTS / "docs" / "test_docs_run.py", "-k", "every_design", code=1)
    assert "coin" in said


def test_bench_compares_it(site: Path) -> None:
    words = ("bench", "pool.bars", "-n", 20, "-r", 2, "-a", "oddness", "--json", "-")
    rows = json.loads(fieldcheck_(site, *words))["rows"]
    assert "coin" in {row["design"] for row in rows}
    assert {row["auxiliary"] for row in rows if row["design"] == "sups"} == {"oddness"}


def test_the_checks_of_ours_are_its_checks(site: Path) -> None:
    """Conformance goes through the registries: what is added is asked for an example, or run as it is."""
    said = pytest_(site, "--collect-only", TESTS / "testing" / "test_registries.py")
    asked = re.findall(r"::test_every_(\w+)\[(\w+)\]", said)
    assert {
        ("engine", "threads"),
        ("format_of_labels", "arrows"),
        ("format_of_pools", "pipes"),
        ("measure", "half"),
        ("quality_score", "letters"),
        ("source_of_inputs", "sayings"),
        ("stopping_rule", "hasty"),
    } <= set(asked)
    python(site, "-c", CHECKS)


CHECKS = """
from itertools import count
from pathlib import Path

import fieldcheck.testing as checks
from fieldcheck import engines, models
from fieldcheck.accuracy import auxiliary, designs, estimators
from fieldcheck.campaign import stores
from fieldcheck.campaign.exchange import formats
from fieldcheck.core import measures
from fieldcheck.models import decoders
from fieldcheck.sources import inputs, pools
from fieldcheck.tomography import perturbations, plans, stopping_rules, surrogates
from fieldcheck.tomography.quality import scores

numbers = count()
checks.check_adapter(models.registry["words"], Path("good.words"), ["fine", "cold day", "", "nice", "warm rain", "x"])
checks.check_auxiliary(auxiliary.registry["oddness"])
checks.check_decoder(decoders.registry["centred"], [[30.0, 20.0, 10.0, 8.0, 0.9, 1.0]])
checks.check_design(designs.registry["coin"])
checks.check_engine(engines.registry["threads"], deaths=False)
checks.check_estimator(estimators.registry["plain"])
checks.check_exchange(formats.registry["arrows"], "i1 -> cat\\ni2 ->\\n", {"i1": "cat"})
checks.check_input_source(inputs.registry["sayings"], Path("texts.say"))
checks.check_measure(measures.registry["half"], ["cat", "dog"], ["cat", "cat"])
checks.check_perturbation(perturbations.registry["shout"])
checks.check_plan(plans["sparse"])
checks.check_pool_format(pools.registry["pipes"], Path("pool.bars"))
checks.check_quality_score(scores.registry["letters"])
checks.check_stopping_rule(stopping_rules["hasty"])
checks.check_store(stores.registry["drawer"], lambda: f"drawer://checked-{next(numbers)}")
checks.check_surrogate(surrogates.registry["twice"])
"""


def test_a_campaign_in_its_store_is_labelled_in_its_format(site: Path) -> None:
    fieldcheck_(site, "start", "pool.csv", "--campaign", "drawer://desk", "--design", "coin", "--budget", 20)
    fieldcheck_(site, "next", "drawer://desk", "-n", 20, "--out", "to_label.arrows")
    asked = (site / "to_label.arrows").read_text().splitlines()
    assert len(asked) == 20
    (site / "done.arrows").write_text("".join(f"{line} right\n" for line in asked))
    assert "20 new" in fieldcheck_(site, "import", "drawer://desk", "done.arrows")
    assert json.loads(fieldcheck_(site, "estimate", "drawer://desk", "--json"))["value"] == 1
    assert (site / "drawer" / "desk").is_file()


def test_its_model_predicts_its_inputs_on_its_engine(site: Path) -> None:
    words = ("--out", "pool/", "--rows", 20, "--engine", "threads", "--truth", "auto", "--kind", "text")
    fieldcheck_(site, "predict", "good.words", "texts.say", *words)
    known = json.loads(fieldcheck_(site, "simulate", "pool/", "--design", "coin", "--budget", 20, "--json"))
    assert known["truth"] == 1.0


def test_its_space_is_measured_with_its_plan_and_answered_by_its_surrogate(site: Path) -> None:
    fieldcheck_(site, "tomography", "run", "space.toml", "--out", "run")
    found = json.loads(fieldcheck_(site, "tomography", "query", "run", "loud >= 2 and quality >= 0.1", "--json"))
    assert 0 < found["robustness"] <= 1
    words = ("--plan", "pairs", "--stop", "hasty", "--half-width", 0.2)
    fieldcheck_(site, "tomography", "run", "space.toml", "--out", "sooner", *words)


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
