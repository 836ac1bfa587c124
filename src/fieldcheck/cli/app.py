"""The application: every verb is registered here."""

from __future__ import annotations

from typing import Annotated

import typer

from fieldcheck.cli.assess import assess
from fieldcheck.cli.bench import bench
from fieldcheck.cli.compare import compare
from fieldcheck.cli.demo import demo
from fieldcheck.cli.designs import designs
from fieldcheck.cli.estimate import estimate
from fieldcheck.cli.plan import plan
from fieldcheck.cli.recommend import recommend
from fieldcheck.cli.reuse import reuse
from fieldcheck.cli.sample import sample
from fieldcheck.core.versions import versions

app = typer.Typer(
    name="fieldcheck",
    help="How accurate is a trained model in operation? Unbiased estimates with intervals that hold, from few labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)
for verb in (demo, designs, plan, assess, sample, estimate, compare, reuse, bench, recommend):
    app.command()(verb)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(" ".join(f"{name} {number}" for name, number in versions().items()))
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the versions and leave.")
    ] = False,
) -> None:
    """How accurate is a trained model in operation?"""
