"""``fieldcheck sample``: choose items for people to label."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.campaign.sheets.files import read_answers, read_remarks, read_sheet, write_sheet
from fieldcheck.cli import options
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core.errors import SampleError
from fieldcheck.core.words import counted

SETTLED = ("design", "auxiliary", "budget", "seed", "loss", "threshold")
"""Options that a sample cannot change on its way."""


def sample(
    context: typer.Context,
    pool: options.PoolFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="CSV file to fill in; a sidecar is written beside it.")],
    design: options.DesignSpec = "waves",
    auxiliary: options.AuxiliaryName = None,
    budget: options.Budget = 200,
    seed: options.Seed = 0,
    go_on: Annotated[
        bool,
        typer.Option("--continue", help="Go on with this file: needed by designs that learn from labels."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file, and any labels in it.")] = False,
    show_predictions: Annotated[
        bool, typer.Option("--show-predictions", help="Show labellers what the model said (it biases them).")
    ] = False,
    new_classes: options.NewClasses = None,
    loss: options.LossName = "squared",
    threshold: options.Threshold = None,
    activations: options.Activations = None,
    columns: options.Columns = None,
    task: options.TaskName = None,
    shift: options.Shift = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Choose the items to label and write them to a CSV file with an empty label column."""
    items = options.load_pool(pool, columns=columns, task=task, shift=shift, encoding=encoding)
    matrix = options.load_activations(activations)
    if go_on:
        _refuse_new_settings(context)
        old = read_sheet(out).declaring(new_classes or ())
        answers = read_answers(out, old)
        remarks = read_remarks(out, old, items)
        sheet = old.continued(items, answers, activations=matrix)
    else:
        _refuse_overwriting(out, pool, force=force)
        answers, remarks = {}, {}
        chosen = build_design(design, auxiliary)
        sheet = Sheet.draw(
            items,
            chosen,
            budget=budget,
            seed=seed,
            loss=options.check_loss(loss),
            threshold=threshold,
            activations=matrix,
            pool_file=str(pool),
            pool_options=options.pool_options(columns, task, shift, encoding),
        ).declaring(new_classes or ())
    write_sheet(sheet, out, items, show_predictions=show_predictions, answers=answers, remarks=remarks)
    new = [name for name in sheet.ids if name not in answers]
    for note in (*items.notes, *sheet.sample.warnings):
        tell(f"note: {note}")
    if as_json:
        show_json({"file": str(out), "items": list(sheet.ids), "to_label": new, "complete": sheet.sample.complete})
    else:
        say(f"{counted(len(new), 'item')} to label in {out}")
        say(_what_next(out, pool, complete=sheet.sample.complete, left=bool(new)))


def _refuse_new_settings(context: typer.Context) -> None:
    """A sample goes on as it began; a budget that is given once more would be taken for a larger one."""
    given = [name for name in SETTLED if _is_given(context, name)]
    if given:
        raise SampleError(
            f"--{given[0]} together with --continue",
            rule="a sample goes on with the settings it began with; the sidecar knows them",
            hint=f"leave out --{given[0]}; or begin a new sample, with another --out",
        )


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _refuse_overwriting(out: Path, pool: Path, *, force: bool) -> None:
    if out.resolve() == pool.resolve():
        raise SampleError(f"--out {out} is the pool itself", rule="the pool is not overwritten", hint="another --out")
    if out.exists() and not force:
        raise SampleError(
            f"{out} exists already",
            rule="labels are not overwritten",
            hint="another --out; --continue to go on with it; --force to overwrite it",
        )


def _what_next(out: Path, pool: Path, *, complete: bool, left: bool) -> str:
    if not left:
        return f"all are labelled; then: fieldcheck estimate {out}"
    if complete:
        return f"fill in the column 'label' in the order of the list, then: fieldcheck estimate {out}"
    return f"fill in the column 'label', then for further items: fieldcheck sample {pool} --out {out} --continue"
