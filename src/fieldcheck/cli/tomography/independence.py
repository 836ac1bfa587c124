"""``fieldcheck tomography independence``: which perturbations act apart."""

from __future__ import annotations

from dataclasses import asdict

from fieldcheck.cli import options
from fieldcheck.cli.show import say, show_json, show_table
from fieldcheck.cli.tomography.options import RunFolder
from fieldcheck.report import tomography_figures
from fieldcheck.tomography.answers import independence as apart
from fieldcheck.tomography.answers.run import Run


def independence(run: RunFolder, seed: options.Seed = 0, as_json: options.AsJson = False) -> None:
    """Whether two perturbations act independently: the published chi-square, and a test that keeps its level."""
    opened = Run.open(run)
    found = apart.independence(opened.space, opened.outcomes, seed=seed)
    if as_json:
        show_json({"pairs": [asdict(one) for one in found]})
        return
    show_table(tomography_figures.independence(found))
    say(products(found))


def products(found: tuple[apart.PairVerdict, ...]) -> str:
    """What follows, in words."""
    if not any(one.resampled.cells for one in found):
        return "Nothing to compare: inputs are right everywhere or wrong everywhere in these tests."
    held = [f"{one.first} and {one.second}" for one in found if one.independent]
    if not held:
        return "No two perturbations act independently: products of single ones would be wrong."
    return (
        f"Products hold for {'; '.join(held)}. `--surrogate independence` multiplies where they hold, and takes "
        "dependent pairs as they were measured."
    )
