"""Draws docs/figures/flows.svg: the two questions, their steps in order, and the folder of each step."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "docs" / "figures" / "flows.svg"
WIDTH, HEIGHT, GAP = 138, 52, 22
INK, PALE = "#222222", "#f4f4f4"

ACCURACY = (
    ("model + inputs → pool", "accuracy/predict"),
    ("auxiliary variables", "accuracy/auxiliary"),
    ("design chooses items", "accuracy/designs"),
    ("people label", "campaign"),
    ("estimator", "accuracy/estimators"),
    ("statement", "accuracy/assessment"),
)
TOMOGRAPHY = (
    ("space of perturbations", "tomography/perturbations"),
    ("plan of tests", "tomography/plans"),
    ("execution", "tomography/runs"),
    ("surrogate", "tomography/surrogates"),
    ("query", "tomography/query"),
    ("answer", "tomography/answers"),
)


def contract() -> list[str]:
    """The layers, as the contract says them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    house = settings["tool"]["importlinter"]["contracts"][0]
    return [str(layer) for layer in house["layers"] if layer != "__main__"]


def text(x: float, y: float, words: str, *, size: int = 11, weight: str = "normal", anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}">{words}</text>'


def box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{PALE}" stroke="{colour}"/>'


def lane(title: str, steps: tuple[tuple[str, str], ...], *, top: int, colour: str) -> Iterator[str]:
    yield text(20, top, title, size=13, weight="bold", anchor="start")
    for at, (what, where) in enumerate(steps):
        x, y = 20 + at * (WIDTH + GAP), top + 12
        yield box(x, y, WIDTH, HEIGHT, colour)
        yield text(x + WIDTH / 2, y + 22, what, weight="bold")
        yield text(x + WIDTH / 2, y + 40, f"{where}/", size=10)
        if at:
            yield f'<path d="M{x - GAP + 2},{y + HEIGHT / 2} h{GAP - 8}" stroke="{INK}" marker-end="url(#tip)"/>'


def layers(*, top: int) -> Iterator[str]:
    yield text(20, top, "Who may import whom: each line those below it", size=13, weight="bold", anchor="start")
    for at, names in enumerate(contract()):
        y = top + 12 + 24 * at
        yield box(20, y, 440, 20, "#bbbbbb")
        yield text(240, y + 14, names.replace("|", "&#160;|&#160;"))


def figure() -> str:
    tip = '<marker id="tip" orient="auto" markerWidth="7" markerHeight="7" refX="5" refY="3">'
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 980 440" font-family="sans-serif">',
        f'<defs>{tip}<path d="M0,0 L6,3 L0,6 z" fill="{INK}"/></marker></defs>',
        f'<rect width="980" height="440" fill="white"/><g fill="{INK}">',
        *lane("1. How accurate is it on this unlabelled data?", ACCURACY, top=24, colour="#4477aa"),
        *lane("2. Where does it break?", TOMOGRAPHY, top=124, colour="#ee6677"),
        *layers(top=224),
        "</g></svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PLACE.write_text(figure(), encoding="utf-8")
