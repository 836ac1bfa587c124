"""``fieldcheck tomography list``: the words that a space file and the options understand."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any

import typer

from fieldcheck.cli import options
from fieldcheck.cli.show import say, show_json, show_table
from fieldcheck.core import measures
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.exhibit import Table
from fieldcheck.core.registry import Registry
from fieldcheck.tomography import perturbations, plans, surrogates
from fieldcheck.tomography.quality.scores import registry as scores
from fieldcheck.tomography.runs import stopping

KINDS: dict[str, Registry[Any]] = {
    "perturbations": perturbations.registry,
    "plans": plans,
    "surrogates": surrogates.registry,
    "rules": stopping.registry,
    "scores": scores,
    "measures": measures.registry,
}


COLUMNS = ("name", "what", "for", "parameters")


def list_(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help=f"{', '.join(KINDS)}; by default all.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """What there is: perturbations, plans, surrogates, stopping rules, quality scores and measures."""
    if kind is not None and kind not in KINDS:
        raise SpaceError(f"no list of '{kind}'", rule="there are: " + ", ".join(KINDS))
    found = {name: _described(KINDS[name]) for name in KINDS if kind in (None, name)}
    if as_json:
        show_json(found)
        return
    for name, rows in found.items():
        columns = [key for key in COLUMNS if any(row[key] for row in rows)]
        cells = tuple(tuple(row[key] for key in columns) for row in rows)
        show_table(Table(name, name.capitalize(), tuple(columns), cells))
        say()
    say("parameters go after a colon, as in brightness:scale=cifar or pairs:share=0.05")


def _described(registry: Registry[Any]) -> list[dict[str, str]]:
    return [
        {
            "name": name,
            "what": _title(registry[name]),
            "for": _kinds(registry[name]),
            "parameters": _parameters(registry[name]),
        }
        for name in registry
    ]


def _title(entry: type[Any]) -> str:
    """Its title; of what has none, the first line that it says of itself."""
    return getattr(entry, "title", "") or (inspect.getdoc(entry) or "").partition("\n")[0]


def _kinds(entry: type[Any]) -> str:
    return getattr(entry, "kind", "") or ", ".join(sorted(getattr(entry, "kinds", ())))


def _parameters(entry: type[Any]) -> str:
    known = [one for one in fields(entry) if one.init] if is_dataclass(entry) else []
    return ", ".join(one.name if one.default is MISSING else f"{one.name}={one.default}" for one in known)
