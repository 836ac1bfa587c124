"""``fieldcheck tomography``: where does the model break? One file per verb."""

from __future__ import annotations

import typer

from fieldcheck.cli.exit_codes import Check
from fieldcheck.cli.tomography.bench import bench
from fieldcheck.cli.tomography.check import check
from fieldcheck.cli.tomography.independence import independence
from fieldcheck.cli.tomography.init import init
from fieldcheck.cli.tomography.list_ import list_
from fieldcheck.cli.tomography.query import query
from fieldcheck.cli.tomography.report import report
from fieldcheck.cli.tomography.run import run
from fieldcheck.cli.tomography.worst import worst
from fieldcheck.cli.verb import reads_files

tomography = typer.Typer(
    name="tomography",
    help="Where does the model break? Perturb, measure a little, predict the rest, answer queries.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


for verb in (init, list_, run, query, worst, independence, check, report, bench):
    job = verb if verb in (init, list_) else reads_files(verb)
    tomography.command(verb.__name__.rstrip("_"), cls=Check if verb is check else None)(job)
