"""Who may import whom: every import of the package, also inside functions, is on the table below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fieldcheck

ROOT = Path(fieldcheck.__file__).parent

LEAVES = (
    *("models", "sources", "auxiliary", "designs", "estimators", "stores"),
    *("perturbations", "surrogates", "query", "engines"),
)
FLOW_1 = frozenset({"models", "sources", "auxiliary", "designs", "estimators", "stores"})
FLOW_2 = frozenset({"perturbations", "surrogates"})
SHARED = frozenset({"models", "sources", "engines"})
REGISTRIES = {
    "campaign": FLOW_1,
    "predict": frozenset({"models", "sources", "auxiliary", "engines"}),
    "tomography": FLOW_2 | SHARED,
    "testing": FLOW_1 | FLOW_2,
}
"""By package, those that it may only import as a whole: what is in their ``__init__``."""

WHOLE = {
    "numerics": frozenset(),
    "core": frozenset(),
    **dict.fromkeys(LEAVES, frozenset({"core", "numerics"})),
    "campaign": frozenset({"core", "numerics"}),
    "predict": frozenset({"core"}),
    "tomography": frozenset({"core", "query"}),
    "bench": frozenset({"core", "campaign", "tomography"}),
    "report": frozenset({"core", "campaign", "tomography"}),
    "testing": frozenset({"core", "numerics"}),
}
"""By package, those that it may import any module of."""

FACES = frozenset({"cli", "web"})
TOP = frozenset({"__init__", "__main__"})


def imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Dotted names of what a module imports of ours; ``from a import b`` is ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] == "fieldcheck")
        elif isinstance(node, ast.ImportFrom):
            start = _absolute(node, package)
            yield from (f"{start}.{name.name}" for name in node.names if start.split(".")[0] == "fieldcheck")


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """What is imported from, also where dots say so: one dot is the package of the module."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) + 1 - node.level], *filter(None, [node.module])])


def public_names(root: Path, package: str) -> frozenset[str]:
    """What a package offers as a whole: the strings in its ``__all__``."""
    path = root / package / "__init__.py"
    if not path.exists():
        return frozenset()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def allowed(root: Path, source: str, target: str) -> bool:
    """Whether package ``source`` may import ``target``, a dotted name below ``fieldcheck``."""
    package, _, rest = target.partition(".")
    if package == source:
        return True
    if package == "testing":
        return False
    if source in FACES | TOP:
        return True
    if package in WHOLE.get(source, frozenset()):
        return True
    return package in REGISTRIES.get(source, frozenset()) and (not rest or rest in public_names(root, package))


def violations(root: Path) -> list[str]:
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        package = ".".join(("fieldcheck", *parts[:-1]))
        for name in imported(ast.parse(path.read_text(encoding="utf-8")), package):
            target = name.removeprefix("fieldcheck").removeprefix(".")
            if not allowed(root, parts[0], target):
                found.append(f"{'/'.join(parts)} imports {name}")
    return found


def test_no_module_imports_what_it_may_not() -> None:
    assert violations(ROOT) == []


def test_every_package_is_on_the_table() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= set(WHOLE) | FACES


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package with one design whose registry offers one name."""
    for name in ("core", "numerics", "designs", "estimators", "campaign", "bench", "cli", "testing"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "designs" / "__init__.py").write_text(
        '__all__ = ["Srs"]\nfrom fieldcheck.accuracy.designs.srs import Srs\n'
    )
    (tmp_path / "designs" / "srs.py").write_text("from fieldcheck.core.pool.frame import Frame\n")
    return tmp_path


def test_an_allowed_tree_passes(tree: Path) -> None:
    (tree / "campaign" / "run.py").write_text("from fieldcheck import designs\nfrom fieldcheck.designs import Srs\n")
    (tree / "cli" / "verb.py").write_text("import numpy\nfrom fieldcheck.accuracy.designs.srs import anything\n")
    assert violations(tree) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("core/pool.py", "from fieldcheck.numerics.sampling.draws import below"),
        ("numerics/draws.py", "from fieldcheck.core.errors import PoolError"),
        ("numerics/draws.py", "import fieldcheck"),
        ("designs/css.py", "from fieldcheck.estimators import registry"),
        ("designs/css.py", "from ..estimators import registry"),
        ("estimators/mean.py", "import fieldcheck.designs"),
        ("campaign/run.py", "from fieldcheck.accuracy.designs.srs import Srs"),
        ("campaign/run.py", "from fieldcheck import cli"),
        ("bench/run.py", "from fieldcheck import designs"),
        ("bench/run.py", "from fieldcheck.numerics.sampling.draws import below"),
        ("bench/run.py", "def later():\n    from fieldcheck.cli import main"),
        ("cli/verb.py", "from fieldcheck import testing"),
    ],
)
def test_a_forbidden_import_is_found(tree: Path, module: str, line: str) -> None:
    (tree / module).write_text(line + "\n")
    assert len(violations(tree)) == 1
