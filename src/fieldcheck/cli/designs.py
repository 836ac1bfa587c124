"""``fieldcheck designs``: what there is."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rich.markup import escape

from fieldcheck.accuracy import designs as techniques
from fieldcheck.cli.options import AsJson
from fieldcheck.cli.show import console_for_lines, fitted, show_facts, show_json, show_table
from fieldcheck.core.exhibit import Table

COLUMNS = ("name", "title", "needs", "estimator", "paper", "remark", "parameters")


NEEDS = {
    "nothing": "nothing but the pool",
    "auxiliary": "an auxiliary variable (--auxiliary, by default confidence)",
    "activations": "activations of a layer (--activations layer.npy)",
}


NOTE = (
    "Parameters go after a colon: fieldcheck simulate pool.csv --design ssrs:k=8 --auxiliary confidence --budget 200. "
    "Which one to take: fieldcheck recommend."
)


def designs(as_json: AsJson = False) -> None:
    """The techniques: what each is, what it needs, its parameters and its paper."""
    rows = [_describe(techniques.registry[name]) for name in techniques.registry]
    if as_json:
        show_json({"designs": rows})
        return
    console = console_for_lines()
    if not console.is_terminal:
        cells = tuple((*(row[key] for key in COLUMNS[:-1]), _parameters(row["parameters"])) for row in rows)
        show_table(Table("designs", "Designs", COLUMNS, cells))
        return
    for row in rows:
        _show(console, row)
    console.print(fitted(console, NOTE))


def _show(console: Any, row: dict[str, Any]) -> None:
    """One block: a table of sentences cannot be read in a terminal."""
    console.print(f"[bold]{row['name']}[/bold]  {escape(row['title'])}")
    console.print(f"  {escape(fitted(console, row['remark'], indent=2))}")
    facts = [("needs", NEEDS.get(row["needs"], row["needs"])), ("estimator", row["estimator"])]
    show_facts(console, [*facts, ("parameters", _parameters(row["parameters"])), ("paper", row["paper"])])
    console.print()


def _describe(design: type[Any]) -> dict[str, Any]:
    return {
        "name": design.name,
        "title": design.title,
        "needs": design.needs,
        "estimator": design.estimator,
        "parameters": {f.name: f.default for f in fields(design) if f.name != "auxiliary"},
        "paper": design.paper,
        "remark": f"{(design.__doc__ or '').strip().splitlines()[0]} {getattr(design, 'caveat', '')}".rstrip(),
    }


def _parameters(values: dict[str, Any]) -> str:
    words = {True: "yes", False: "no", None: "auto"}
    shown = {
        name: words.get(value, value) if isinstance(value, (bool, type(None))) else value
        for name, value in values.items()
    }
    return ", ".join(f"{name}={value}" for name, value in shown.items())
