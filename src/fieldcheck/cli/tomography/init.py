"""``fieldcheck tomography init``: a space file to begin with."""

from __future__ import annotations

from typing import Annotated

import typer

from fieldcheck.cli.show import say_lines
from fieldcheck.tomography.setup.template import template


def init(
    family: Annotated[
        str, typer.Option(help="digits (mnist), natural (cifar), driving (deeptest), signs, or text.")
    ] = "digits",
) -> None:
    """Print a commented space file for a family of perturbations: fieldcheck tomography init > space.toml."""
    say_lines(template(family), end="")
