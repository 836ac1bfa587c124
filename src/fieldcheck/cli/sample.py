"""``fieldcheck sample``: choose items for people to label, in a spreadsheet."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import sheet
from fieldcheck.cli import options
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core import words
from fieldcheck.core.errors import LabelError, SampleError

SETTLED = ("design", "auxiliary", "budget", "seed", "loss", "threshold")
"""Options that a sample cannot change on its way."""


def sample(
    context: typer.Context,
    pool: options.PoolFile,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="CSV file to fill in; its campaign is NAME.campaign.db beside it."),
    ],
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
    loss: options.LossName = "squared",
    threshold: options.Threshold = None,
    activations: options.Activations = None,
    new_classes: options.NewClasses = None,
    columns: options.Columns = None,
    task: options.TaskName = None,
    shift: options.Shift = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Choose the items to label and write them to a CSV file with an empty label column.

    How the pool was read is remembered: --continue, and all verbs that take the file, need no options for it.
    """
    if go_on:
        _refuse_new_settings(context)
        with sheet.open_sheet(out, pool=pool, new_classes=new_classes or ()) as campaign:
            before = len(campaign.state.items)
            if not campaign.draw():
                _refuse_waiting(campaign, out)
            if new := list(campaign.state.items)[before:]:
                sheet.add_items(campaign, out, new)
            _show(campaign, pool, out, as_json=as_json)
        return
    _make_room(out, pool, force=force)
    campaign = Campaign.create(
        sheet.campaign_file(out),
        pool,
        design,
        auxiliary=auxiliary,
        budget=budget,
        seed=seed,
        loss=options.check_loss(loss),
        threshold=threshold,
        activations=options.load_activations(activations),
        pool_options=options.pool_options(columns, task, shift, encoding),
        new_classes=new_classes or (),
    )
    with campaign:
        shown = show_predictions or campaign.pool.written
        if shown:
            campaign.show_predictions()
        sheet.write_sheet(campaign, out, predictions=shown)
        _show(campaign, pool, out, as_json=as_json)


def _refuse_new_settings(context: typer.Context) -> None:
    """A sample goes on as it began; a budget that is given once more would be taken for a larger one."""
    given = [name for name in SETTLED if options.is_given(context, name)]
    if given:
        raise SampleError(
            f"--{given[0]} together with --continue",
            rule="a sample goes on with the settings it began with; its campaign knows them",
            hint=f"leave out --{given[0]}; or begin a new sample, with another --out",
        )


def _refuse_waiting(campaign: Campaign, out: Path) -> None:
    """Where nothing was labelled, there is nothing to go on from."""
    if not campaign.view.labels():
        raise LabelError(
            f"{out}: no label is filled in",
            rule=f"{words.counted(len(campaign.state.items), 'item')} to label, in the column 'label'",
            hint="fill it in and save as CSV",
        )


def _make_room(out: Path, pool: Path, *, force: bool) -> None:
    options.check_outputs(out)
    if out.resolve() == pool.resolve():
        raise SampleError(f"--out {out} is the pool itself", rule="the pool is not overwritten", hint="another --out")
    there = next((path for path in (out, sheet.campaign_file(out)) if path.exists()), None)
    if there is not None and not force:
        raise SampleError(
            f"{there} exists already",
            rule="labels are not overwritten",
            hint="another --out; --continue to go on with it; --force to overwrite it",
        )
    for ending in ("", "-wal", "-shm"):
        sheet.campaign_file(out).with_name(sheet.campaign_file(out).name + ending).unlink(missing_ok=True)


def _show(campaign: Campaign, pool: Path, out: Path, *, as_json: bool) -> None:
    state = campaign.state
    new = [item.id for item in state.items.open()]
    options.tell_notes(campaign.pool)
    for note in state.draws[-1].warnings:
        tell(f"note: {note}")
    if as_json:
        show_json({"file": str(out), "items": list(state.items), "to_label": new, "complete": state.complete})
    else:
        say(f"{words.counted(len(new), 'item')} to label in {out}")
        say(_what_next(out, pool, complete=state.complete, left=bool(new)))


def _what_next(out: Path, pool: Path, *, complete: bool, left: bool) -> str:
    then = f"fieldcheck estimate {shlex.quote(str(out))}"
    if not left:
        return f"all are labelled; then: {then}"
    if complete:
        return f"fill in the column 'label' in the order of the list, then: {then}"
    further = shlex.join(["fieldcheck", "sample", str(pool), "--out", str(out), "--continue"])
    return f"fill in the column 'label', then for further items: {further}"
