"""The application: every verb by its group; a verb's module is loaded when the verb is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from fieldcheck.cli.show import say
from fieldcheck.cli.verb import reads_files


@dataclass(frozen=True)
class Verb:
    """A verb as the list of verbs shows it.

    group, help
        Where it stands in the list, and what it is for, in a few words.
    reads
        Whether it reads files of others, so that ``--max-size`` applies.
    """

    group: str
    help: str
    reads: bool = True

    def load(self, name: str) -> Any:
        """The command itself; its module may name the class of it, ``COMMAND``."""
        module = import_module(f"fieldcheck.cli.{name}" + ("_" if name in RESERVED else ""))
        job: Any = getattr(module, name, None) or getattr(module, f"{name}_")
        if isinstance(job, typer.Typer):
            return typer.main.get_command(job)
        made = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        command = made.command(name, cls=getattr(module, "COMMAND", None), context_settings=HELP)
        command(reads_files(job) if self.reads else job)
        return typer.main.get_command(made)

    def listed(self, name: str) -> TyperCommand:
        """A stand-in that carries the help, for lists."""
        return TyperCommand(name, help=self.help, rich_help_panel=self.group)


HELP = {"help_option_names": ["-h", "--help"]}


RESERVED = frozenset({"import"})
"""Verbs that no module can be called after."""


VERBS = {
    "demo": Verb("Start", "train, assess and compare on built-in data, with a report", reads=False),
    "inspect": Verb("Start", "how a file is read, what it allows, what to do next"),
    "predict": Verb("Start", "run a model over inputs and write what it said as a pool"),
    "plan": Verb("Start", "how many labels, before any label"),
    "start": Verb("Start", "begin a campaign: how accurate, which is better, or a new version"),
    "label": Verb("Label", "the labelling page, alone or together; the lead's desk"),
    "next": Verb("Label", "the next items to label, as a file"),
    "import": Verb("Label", "take in labels from a file"),
    "status": Verb("Label", "how far a campaign is"),
    "extend": Verb("Label", "go on with more labels"),
    "sample": Verb("Label", "start and next in one, for a spreadsheet"),
    "backup": Verb("Label", "a copy, while people go on labelling"),
    "verify": Verb("Label", "events, pool, draws and estimate are what they were"),
    "estimate": Verb("Decide", "what the labels say"),
    "check": Verb("Decide", "hold a campaign against a requirement; the exit code is the decision"),
    "report": Verb("Decide", "one page with the answer and what it rests on"),
    "failures": Verb("Decide", "the failures found, for the next training round"),
    "export": Verb("Decide", "the labels: with weights, or those to train the next version with"),
    "simulate": Verb("Research", "play a campaign where the truth is known"),
    "bench": Verb("Research", "compare techniques by simulation"),
    "designs": Verb("Research", "the techniques, what each needs, its parameters and paper", reads=False),
    "auxiliary": Verb("Research", "how well each auxiliary variable tells failures from the rest"),
    "recommend": Verb("Research", "which technique to take, from measured results"),
    "shard": Verb("Research", "a pool as a folder of files, for very many items"),
    "tomography": Verb("Break", "where does the model break? init, run, query, worst, check, report ...", reads=False),
}
"""In the order of the list."""


class Verbs(TyperGroup):
    """The verbs by group. To list them none is loaded."""

    listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        return verb.listed(cmd_name) if self.listing else verb.load(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with self._listing():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        with self._listing():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _listing(self) -> Iterator[None]:
        self.listing = True
        try:
            yield
        finally:
            self.listing = False


app = typer.Typer(
    name="fieldcheck",
    cls=Verbs,
    help="How accurate is a trained model in operation, from few labels, and where does it break?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=HELP,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        from fieldcheck.core.versions import versions

        say(" ".join(f"{name} {number}" for name, number in versions().items()))
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the versions and leave.")
    ] = False,
) -> None:
    """How accurate is a trained model in operation?"""
