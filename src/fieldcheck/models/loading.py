"""What stands between a file or a name and the object in it: packages that may be missing, code that may be hostile."""

from __future__ import annotations

import pickle
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from fieldcheck.core.errors import ModelError

PICKLES = (".pkl", ".pickle", ".joblib")
SAFE = "formats that hold no code: ONNX, TorchScript, .keras, or safetensors with MODULE:NAME@FILE"

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
    except ImportError as error:
        raise ModelError(
            f"'{spec}' cannot be imported: {error}",
            rule="the module is in the current folder or installed",
            hint="run from the folder that holds it, or set PYTHONPATH",
        ) from error
    finally:
        sys.path.remove(here)


def unpickled(path: Path, *, trust: bool) -> Any:
    """The object in a pickle, written by pickle or joblib."""
    require_trust(trust, f"{path} is a pickle: loading it")
    try:
        return import_module("joblib").load(path)
    except (pickle.UnpicklingError, EOFError, ImportError, AttributeError, IndexError, KeyError, ValueError) as error:
        raise ModelError(
            f"{path} cannot be unpickled: {first_line(error)}",
            rule="a file of pickle or joblib, and the packages whose objects it holds",
        ) from error


def first_line(error: BaseException) -> str:
    """What an error of somebody else says, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
