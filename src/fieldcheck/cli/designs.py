"""``fieldcheck designs``: what there is."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fieldcheck import designs as techniques
from fieldcheck.cli.options import AsJson
from fieldcheck.cli.show import show_json, show_table
from fieldcheck.core.exhibit import Table


def designs(as_json: AsJson = False) -> None:
    """The techniques: what each is, what it needs, its parameters and its paper."""
    rows = [_describe(techniques.registry[name]) for name in techniques.registry]
    if as_json:
        show_json({"designs": rows})
        return
    columns = ("name", "what", "needs", "estimator", "parameters", "paper", "remark")
    cells = tuple(
        (
            r["name"],
            r["title"],
            r["needs"],
            r["estimator"],
            _parameters(r["parameters"]),
            r["paper"],
            r["remark"],
        )
        for r in rows
    )
    note = (
        "parameters go after a colon: fieldcheck assess pool.csv --design ssrs:k=8 --auxiliary confidence --budget 200"
    )
    show_table(Table("designs", "Designs", columns, cells, note))


def _describe(design: type[Any]) -> dict[str, Any]:
    return {
        "name": design.name,
        "title": design.title,
        "needs": design.needs,
        "estimator": design.estimator,
        "parameters": {f.name: f.default for f in fields(design) if f.name != "auxiliary"},
        "paper": design.paper,
        "remark": (design.__doc__ or "").strip().splitlines()[0] + _caveat(design),
    }


def _caveat(design: type[Any]) -> str:
    return {
        "gbs": " Slightly biased: labels decide where it looks.",
        "ces": " Not a probability sample: its interval is model-based.",
    }.get(design.name, "")


def _parameters(values: dict[str, Any]) -> str:
    words = {True: "yes", False: "no", None: "auto"}
    shown = {
        name: words.get(value, value) if isinstance(value, (bool, type(None))) else value
        for name, value in values.items()
    }
    return ", ".join(f"{name}={value}" for name, value in shown.items())
