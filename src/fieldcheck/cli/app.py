"""The application: every verb is registered here."""

from __future__ import annotations

from typing import Annotated

import typer

from fieldcheck.cli.auxiliary import auxiliary
from fieldcheck.cli.backup import backup
from fieldcheck.cli.bench import bench
from fieldcheck.cli.check import check
from fieldcheck.cli.demo import demo
from fieldcheck.cli.designs import designs
from fieldcheck.cli.estimate import estimate
from fieldcheck.cli.exit_codes import Check
from fieldcheck.cli.extend import extend
from fieldcheck.cli.failures import failures
from fieldcheck.cli.import_ import import_
from fieldcheck.cli.inspect import inspect
from fieldcheck.cli.label import label
from fieldcheck.cli.next import next_
from fieldcheck.cli.plan import plan
from fieldcheck.cli.predict import BareTruth, predict
from fieldcheck.cli.recommend import recommend
from fieldcheck.cli.report import report
from fieldcheck.cli.sample import sample
from fieldcheck.cli.shard import shard
from fieldcheck.cli.show import say
from fieldcheck.cli.simulate import simulate
from fieldcheck.cli.start import start
from fieldcheck.cli.status import status
from fieldcheck.cli.tomography import tomography
from fieldcheck.cli.verb import reads_files
from fieldcheck.cli.verify import verify
from fieldcheck.core.versions import versions

app = typer.Typer(
    name="fieldcheck",
    help="How accurate is a trained model in operation, from few labels, and where does it break?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)


for verb in (
    *(demo, inspect, predict, auxiliary, designs, plan, simulate, sample, estimate),
    *(start, next_, import_, label, status, extend, backup, verify, failures, report, check),
    *(bench, recommend, shard),
):
    job = verb if verb in (demo, designs) else reads_files(verb)
    app.command(
        verb.__name__.rstrip("_"), cls=Check if verb in (check, verify) else BareTruth if verb is predict else None
    )(job)


app.add_typer(tomography)


def _version(wanted: bool) -> None:
    if wanted:
        say(" ".join(f"{name} {number}" for name, number in versions().items()))
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the versions and leave.")
    ] = False,
) -> None:
    """How accurate is a trained model in operation?"""
