"""The package as a whole: what it exports, what it costs to import, what it ships."""

from __future__ import annotations

import ast
import inspect
import os
import re
import resource
import runpy
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import fieldcheck
from fieldcheck.core.versions import versions

HEAVY = (
    *("torch", "tensorflow", "keras", "jax", "onnxruntime", "transformers"),
    *("pandas", "pyarrow", "sklearn", "scipy.stats", "matplotlib"),
)
ROOT = Path(__file__).parents[1]
SUBPACKAGES = frozenset({"designs", "estimators", "predict", "tomography"})
"""Modules that are part of the public interface; others are there because something imported them."""


def test_all_is_what_is_public() -> None:
    loaded = {name: getattr(fieldcheck, name) for name in fieldcheck._HOME}
    public = {
        name
        for name, value in {**vars(fieldcheck), **loaded}.items()
        if not name.startswith("_") and name != "annotations" and (name in SUBPACKAGES or not inspect.ismodule(value))
    }
    assert set(fieldcheck.__all__) == public == set(fieldcheck._HOME)
    for gone in ("assess", "compare", "reuse"):
        with pytest.raises(AttributeError, match=f"'{gone}'"):
            getattr(fieldcheck, gone)


def test_type_checkers_see_what_is_loaded_later() -> None:
    tree = ast.parse(Path(fieldcheck.__file__).read_text(encoding="utf-8"))
    named = {
        one.asname or one.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names
    }
    assert set(fieldcheck.__all__) <= named


def test_all_is_sorted_and_of_a_size_to_remember() -> None:
    assert fieldcheck.__all__ == sorted(fieldcheck.__all__)
    assert len(set(fieldcheck.__all__)) == len(fieldcheck.__all__)
    assert 20 <= len(fieldcheck.__all__) <= 30


@pytest.mark.parametrize("name", fieldcheck.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert (getattr(fieldcheck, name).__doc__ or "").strip()


def test_version_is_that_of_the_metadata() -> None:
    try:
        installed = version("fieldcheck")
    except PackageNotFoundError:
        pytest.skip("fieldcheck runs from its source tree and is not installed")
    assert versions()["fieldcheck"] == installed
    pyproject = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'^version = "(.+)"$', pyproject, re.MULTILINE).group(1) == installed  # type: ignore[union-attr]


def _import_in_a_fresh_process(code: str, folder: Path) -> tuple[float, str]:
    """Processor seconds of the child, and what it printed; it keeps compiled modules, as an installed package does."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPATH": str(Path(fieldcheck.__file__).parents[1]), "PYTHONPYCACHEPREFIX": str(folder)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def test_importing_costs_less_than_five_times_what_numpy_costs(tmp_path: Path) -> None:
    """Half a second where numpy takes a tenth; seconds alone would measure the machine."""
    costs = [
        [_import_in_a_fresh_process(f"import {name}", tmp_path)[0] for name in ("numpy", "fieldcheck")]
        for _ in range(5)
    ]
    numpy, ours = map(min, zip(*costs, strict=True))
    assert ours < 5 * numpy


def test_importing_loads_nothing_heavy(tmp_path: Path) -> None:
    _, loaded = _import_in_a_fresh_process("import fieldcheck, sys; print(*sys.modules, sep='\\n')", tmp_path)
    assert set(HEAVY) & set(loaded.split()) == set()


def test_type_information_is_shipped() -> None:
    assert (Path(fieldcheck.__file__).parent / "py.typed").is_file()


def _least() -> dict[str, Requirement]:
    """By name, what pyproject.toml asks for, of all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *(text for some in project["optional-dependencies"].values() for text in some)]
    return {canonicalize_name(one.name): one for one in map(Requirement, texts)}


def test_pinned_versions_are_allowed_ones() -> None:
    lines = (line.partition("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    pinned = {canonicalize_name(name): version for name, _, version in lines}
    least = _least()
    assert {name for name, one in least.items() if name in pinned and pinned[name] not in one.specifier} == set()


def test_what_reads_files_of_strangers_has_no_version_with_a_known_hole() -> None:
    """The last version with a hole in what we use: it is refused (SECURITY.md names the holes)."""
    holes = {
        "torch": "2.9.1",
        "pillow": "12.1.0",
        "onnx": "1.20.1",
        "pyarrow": "14.0.0",
        "h11": "0.15.0",
        "jinja2": "3.1.5",
        "pg8000": "1.31.4",
        "starlette": "0.49.0",
    }
    least = _least()
    assert [name for name, version in holes.items() if version in least[name].specifier] == []


@pytest.mark.parametrize(
    ("silent", "weak", "code"), [("", "", 0), ("", "c", 1), ("g", "", 2), ("ab", "c", 1), ("abcdefg", "", 2)]
)
def test_no_answer_of_an_audit_is_not_a_good_one(
    silent: str, weak: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    licences = runpy.run_path(str(ROOT / "benchmarks" / "licences.py"))

    def weaknesses(package: Any) -> list[str]:
        if package.name in silent:
            raise OSError("HTTP Error 404")
        return ["CVE-1"] if package.name in weak else []

    licences["audit"].__globals__["weaknesses"] = weaknesses
    assert licences["audit"]([licences["Package"](name, "1", "MIT", "") for name in "abcdefg"]) == code
    said = capsys.readouterr().out
    assert said.count("not audited: no answer") == min(len(silent), 5)
    assert ("NOT AUDITED" in said) == (len(silent) == 7)
    assert ("CVE-1" in said) == bool(weak)
