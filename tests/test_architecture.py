"""The shape of the house: who may import whom (contracts in pyproject.toml), and what import-linter does not see."""

from __future__ import annotations

import ast
import os
import re
import runpy
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import fieldcheck
from fieldcheck import models, tomography
from fieldcheck.accuracy import auxiliary, designs, estimators
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.log import EventLog
from fieldcheck.campaign.view import CampaignView
from fieldcheck.tomography import perturbations, surrogates
from fieldcheck.tomography.quality import scores

ROOT = Path(fieldcheck.__file__).parent
CONTRACTS = Path(__file__).parents[1] / "pyproject.toml"
MODULES = sorted(ROOT.rglob("*.py"))

CROWDED = 16
"""Modules in a folder, beyond which a reader no longer sees what is where."""

TAUGHT = 300
"""Names that folders take from each other: what a reader of one folder has to learn of the others."""

LONG_LISTS = frozenset({"cli", "tomography/perturbations/image"})
"""One file per verb, one per perturbation: as many as there are."""


def package_of(path: Path) -> str:
    return ".".join(("fieldcheck", *path.relative_to(ROOT).parts[:-1]))


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Every ``from a import b`` of ours in a module, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fieldcheck":
            yield from ((str(node.module), name.name) for name in node.names)


def is_module(package: str, name: str) -> bool:
    place = ROOT.joinpath(*package.split(".")[1:], name)
    return place.is_dir() or place.with_suffix(".py").exists()


def test_contracts_hold() -> None:
    code = f"from importlinter.cli import lint_imports as lint; exit(lint({str(CONTRACTS)!r}, no_cache=True))"
    env = {**os.environ, "PYTHONPATH": str(ROOT.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_is_polite(path: Path) -> None:
    """It imports no name that is private elsewhere, and nothing through the ``__init__`` of its own folder."""
    own = package_of(path)
    for package, name in imports(path):
        assert not name.startswith("_"), f"{name} of {package} is private"
        if path.name != "__init__.py" and package == own:
            assert is_module(package, name), f"{name} comes from the module's own folder: name the module it is in"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_modules_of_ours_are_not_imported_by_text(path: Path) -> None:
    """Where an import is hidden in a text, no contract sees it; registries of readers name their own folder only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func) and node.args:
            text = ast.unparse(node.args[0])
            assert "fieldcheck." not in text or package_of(path) in text, text


def test_no_folder_is_crowded() -> None:
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES if path.name != "__init__.py")
    assert {folder: size for folder, size in sizes.items() if size > CROWDED and folder not in LONG_LISTS} == {}


def test_folders_take_few_names_from_each_other() -> None:
    """A module counts as one name, whatever is used of it; the interface of the whole package is aside."""
    inside = [path for path in MODULES if path.parent != ROOT]
    taken = {
        (package, name)
        for path in inside
        for package, name in imports(path)
        if (*package.split(".")[1:], name)[0] != path.relative_to(ROOT).parts[0]
    }
    assert len(taken) <= TAUGHT, Counter(package for package, _ in taken).most_common(20)


def test_flows_have_no_loose_modules() -> None:
    assert [path.name for flow in ("accuracy", "tomography") for path in (ROOT / flow).glob("*.py")] == [
        "__init__.py",
        "__init__.py",
    ]


def test_functions_are_short() -> None:
    """Half of them have four lines or fewer, docstring aside."""
    functions = (
        node
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    bodies = (node.body[1:] if ast.get_docstring(node) else node.body for node in functions)
    lines = [(body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0 for body in bodies]
    assert statistics.median(lines) <= 4


def test_no_public_class_is_defined_twice() -> None:
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_items_of_a_wave_are_picked_in_one_place() -> None:
    """A design, a comparison and a top-up draw the same wave: none of them has a copy of how its items are picked."""
    picking = {("fieldcheck.numerics.sampling.pivotal", "pick"), ("fieldcheck.numerics.sampling", "pivotal")}
    found = [path.relative_to(ROOT).as_posix() for path in MODULES if picking & set(imports(path))]
    assert found == ["numerics/sampling/wave.py"]


def test_a_campaign_has_its_log_and_its_view_and_is_neither() -> None:
    assert Campaign.__bases__ == (object,)
    assert CampaignView.__bases__ == EventLog.__bases__ == (object,)


def written(node: ast.Call) -> bool:
    """Whether a call makes a file: ``path.write_text(text)``, ``open(path, "w")``, ``os.replace(old, new)``."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    texts = [one.value for one in (*node.args, *(given.value for given in node.keywords)) if type(one) is ast.Constant]
    return (
        (name in ("write_text", "write_bytes") and len(node.args) == 1)
        or (name == "open" and any(re.fullmatch(r"[wxa]b?\+?", str(text)) for text in texts))
        or ast.unparse(node.func) in ("os.replace", "os.rename", "shutil.move")
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_are_written_in_one_place(path: Path) -> None:
    """``files`` writes whole or not at all; others write only into the place that it gives them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    given = {
        inside
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and any("whole_file(" in ast.unparse(one) for one in node.items)
        for inside in ast.walk(node)
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node not in given and written(node)]
    assert path.relative_to(ROOT).parts[0] in ("files", "testing") or [ast.unparse(one) for one in calls] == []


def test_every_folder_says_what_it_is() -> None:
    silent = [
        path for path in MODULES if path.name == "__init__.py" and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_the_page_for_contributors_shows_the_tree_as_it_is() -> None:
    """Every top-level folder has three lines of its own and a line on the page; the drawing is that of the contract."""
    folders = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())
    for folder in folders:
        assert len((ROOT / folder / "README.md").read_text(encoding="utf-8").splitlines()) == 3, folder
    docs = CONTRACTS.parent / "docs"
    page = (docs / "contributing.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^(\w+)/ +\S", page, re.MULTILINE)) == folders
    drawing = runpy.run_path(str(CONTRACTS.parent / "benchmarks" / "flows_figure.py"))
    assert (docs / "figures" / "flows.svg").read_text(encoding="utf-8") == drawing["figure"]()
    steps = [where for _, where in (*drawing["ACCURACY"], *drawing["TOMOGRAPHY"])]
    assert [where for where in steps if not (ROOT / where).is_dir()] == []


RETIRED = re.compile(
    r"\b(somebody|whoever|nobody|verdicts?|rulings?|ledgers?|journals?|recipes?|workshops?|contests?)\b", re.I
)
"""Words that say too little to people, or that another word has taken the place of."""

UNNAMED = re.compile(r"\b(somebody|whoever|nobody)\b", re.I)
"""Of these, those that no page needs; decisions and papers may name a journal."""


def texts(path: Path) -> Iterator[str]:
    """What people may read of a file: of a module, its texts without the docstrings."""
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield content
        return
    tree = ast.parse(content)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in said)
    yield from (str(node.value) for node in constants if " " in str(node.value))


def test_no_retired_word_is_said() -> None:
    root = CONTRACTS.parent
    pages = [root / "README.md", *(root / "docs").glob("*.md"), *ROOT.rglob("*.html"), *MODULES]
    found = [f"{path.name}: {word[0]}" for path in pages for text in texts(path) for word in RETIRED.finditer(text)]
    for path in (root / "CHANGELOG.md", root / "SECURITY.md", *(root / "docs").rglob("*.md")):
        found += [f"{path.name}: {word[0]}" for text in texts(path) for word in UNNAMED.finditer(text)]
    assert found == []


def test_walks_are_short() -> None:
    """A label, a table and a comparison touch few modules above the ground, and hardly come back to a folder."""
    found = {walk.name: walk for walk in runpy.run_path(str(CONTRACTS.parent / "benchmarks" / "walks.py"))["walks"]()}
    for name in ("a label: store to estimate", "a table: CSV to first wave", "a comparison: two pools to statement"):
        assert len(found[name].counted) <= 25, found[name].counted
        assert found[name].returns <= 1, found[name].folders
    cold = found["a campaign: opened, pool read, estimated"]
    assert cold.returns <= 4, cold.folders  # to read the pool; to check it; to estimate; to say it
    assert len(cold.counted) <= 42, cold.counted


ELSEWHERE = {
    "tomography/perturbations/families.py": "a family is which perturbations a paper tests together",
    "accuracy/auxiliary/combined.py": "the published variable is made of these two",
    "accuracy/auxiliary/training": "augmentations that share their names with perturbations",
}
"""Where names of registered things stand together and are no copy of a registry's facts."""


def registered() -> dict[str, set[str]]:
    """By registry, the names in it."""
    registries = (
        *(designs.registry, estimators.registry, auxiliary.registry, models.registry),
        *(tomography.plans, tomography.stopping_rules, surrogates.registry, perturbations.registry, scores.registry),
    )
    return {registry.noun: set(registry) for registry in registries}


def literals(path: Path) -> Iterator[tuple[int, set[str]]]:
    """Texts that stand together in a tuple, list, set or in the keys of a dictionary."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = {ast.Tuple: "elts", ast.List: "elts", ast.Set: "elts", ast.Dict: "keys"}
        if type(node) in parts:
            found = getattr(node, parts[type(node)])
            yield node.lineno, {one.value for one in found if isinstance(one, ast.Constant) and type(one.value) is str}


def test_no_list_of_registered_names_stands_outside_its_registry() -> None:
    """What is true of some of them is declared by them."""
    places = [path for path in MODULES if not any(str(path.relative_to(ROOT)).startswith(one) for one in ELSEWHERE)]
    names_of = registered()
    copies = [
        f"{path.relative_to(ROOT)}:{line} lists {noun}s: {sorted(names & known)}"
        for path in places
        for line, names in literals(path)
        for noun, known in names_of.items()
        if len(names & known) > 1
    ]
    assert copies == []
