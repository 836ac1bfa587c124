"""What stands between a file or a name and the object in it: packages that may be missing, code that may be hostile."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from fieldcheck.core.errors import ModelError

PICKLES = (".pkl", ".pickle", ".joblib")

SAFE = "a format that holds no code: ONNX, .keras without Lambda layers, .skops, a transformers folder with safetensors"
"""Only what opens without trust: weights in safetensors alone need MODULE:NAME, which is imported."""

AGAIN = "save it again, and look whether the copy is complete"

OBJECT = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_][\w.]*)")

BUILT = re.compile(OBJECT.pattern + r"@(?P<file>.+)")


@dataclass(frozen=True)
class Weights:
    """Weights in a file, and ``MODULE:NAME``: what makes the network that they belong to, called without arguments."""

    file: Path
    factory: str


def package(name: str, extra: str) -> ModuleType:
    """The package, or an error that says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelError(
            f"the package '{name}' is needed for this model and cannot be imported: {error}",
            rule="frameworks are installed as extras",
            hint=f'pip install "fieldcheck[{extra}]"',
        ) from error


def loaded(name: str) -> Any:
    """The module if somebody imported it already, else None: an object of it cannot exist without."""
    return sys.modules.get(name)


def require_trust(trust: bool, what: str, *, hint: str = SAFE) -> None:
    """Refuse what can run code of whoever wrote it, unless the user said that they trust it."""
    if not trust:
        raise ModelError(
            f"{what} can run any code, and was not opened",
            rule="only what you trust: --trust, or trust=True",
            hint=hint,
        )


def require_release(trust: bool, name: str, since: tuple[int, int], path: Path) -> None:
    """Refuse a file whose safety depends on a package that is too old to be safe."""
    given, needed = str(import_module(name).__version__), ".".join(map(str, since))
    if tuple(int(part) for part in given.split(".")[:2]) < since:
        require_trust(
            trust, f"with {name} {given}, a crafted {path.name}", hint=f'pip install --upgrade "{name}>={needed}"'
        )


@contextmanager
def reading(what: object, rule: str, *, hint: str = AGAIN) -> Iterator[None]:
    """Around a loader of somebody else: whatever a broken file makes it raise says what is wrong and what to do."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # what is in a file can make a loader raise anything
        raise ModelError(f"{what} cannot be read: {first_line(error)}", rule=rule, hint=hint) from error


def named_object(spec: str, *, trust: bool) -> Any:
    """What ``package.module:name`` names; modules in the current folder are found too."""
    require_trust(trust, f"importing '{spec}'", hint=f"look into the module, then say --trust; or {SAFE}")
    match = OBJECT.fullmatch(spec)
    if match is None:
        raise ModelError(f"'{spec}' names no object", rule="package.module:name")
    found: Any = _module(match["module"], spec)
    for part in match["name"].split("."):
        if not hasattr(found, part):
            raise ModelError(f"'{match['module']}' has no '{match['name']}'", rule="package.module:name")
        found = getattr(found, part)
    return found


def _module(name: str, spec: str) -> ModuleType:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return import_module(name)
    except Exception as error:  # a module can raise anything while it is imported
        raise ModelError(
            f"'{spec}' cannot be imported: {type(error).__name__}: {first_line(error)}",
            rule="the module is in the current folder or installed, and can be imported",
            hint=f"run from the folder that holds it, or set PYTHONPATH; python -c 'import {name}' shows more",
        ) from error
    finally:
        sys.path.remove(here)


def unpickled(path: Path, *, trust: bool) -> Any:
    """The object in a pickle, written by pickle or joblib."""
    require_trust(trust, f"{path} is a pickle: loading it")
    with reading(path, "a file of pickle or joblib, and the packages whose objects it holds"):
        return import_module("joblib").load(path)


def first_line(error: BaseException) -> str:
    """What an error of somebody else says, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
