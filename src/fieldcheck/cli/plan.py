"""``fieldcheck plan``: how wide the interval will be, before labels are paid for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.accuracy.comparison.planning import plan as make_plan
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import sheet
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.estimate import show_noted
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.exhibit import Table
from fieldcheck.core.sample import Labelled


def plan(
    pool: Annotated[
        Path, typer.Argument(metavar="POOL", help="A pool; or a campaign, to plan again with the labels that it has.")
    ],
    half_width: Annotated[
        float | None, typer.Option("--half-width", help="How many labels for this ±: 0.01 is one point.")
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", "-n", help="What ± for this number of labels.")] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="POOL_B", help="Predictions of another model: how many labels to tell which is better."),
    ] = None,
    not_worse: Annotated[
        float | None,
        typer.Option(metavar="MARGIN", help="With --against: whether POOL is worse by more than this; 0.01: a point."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", metavar="FILE", help="A file of `fieldcheck sample`, partly filled in, to start from."
        ),
    ] = None,
    designs: Annotated[
        str, typer.Option("--designs", "-d", help="Techniques, between commas; by default all that can be forecast.")
    ] = "",
    level: options.Level = 0.95,
    columns: options.Columns = None,
    task: options.TaskName = None,
    shift: options.Shift = None,
    encoding: options.Encoding = None,
    engine: options.EngineName = "local",
    html: Annotated[Path | None, typer.Option(help="Also write a report with a chart.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Forecast the ± of each technique and budget, as a range."""
    options.check_outputs(html)
    names, runs = options.split_list(designs), options.engine_named(engine)
    if against is not None:
        if half_width is not None or names or labels is not None or html is not None:
            raise FieldcheckError(
                "--against together with --half-width, --designs, --labels or --html",
                rule="a comparison draws disagreements, and is planned before its first label",
                hint=f"fieldcheck plan {pool} --against {against} --not-worse 0.01",
            )
        read = [
            options.load_pool(one, columns=columns, task=task, shift=shift, encoding=encoding, engine=runs)
            for one in (pool, against)
        ]
        told = make_plan(read[0], against=read[1], not_worse=not_worse, budget=budget, level=level)
        if as_json:
            show_json(told.to_dict())
        else:
            _show(told.sentences(), told.table(), told.notes())
        return
    if pool.is_file() and not sheet.is_sheet(str(pool)):
        with campaigns.open_campaign(str(pool), engine=engine) as campaign:
            asked = campaign.settings
            if asked.certify is not None:
                raise FieldcheckError(
                    "a plan for a campaign that certifies",
                    rule="it ends when something is proven; `check` forecasts the labels to go",
                    hint=shlex.join(["fieldcheck", "check", str(pool), "--min-accuracy", f"{asked.certify:g}"]),
                )
            items, known = campaign.pool, _labelled(campaign)
        budget = budget or (asked.budget if half_width is None else None)
        names = names or [asked.design]
    else:
        items = options.load_pool(pool, columns=columns, task=task, shift=shift, encoding=encoding, engine=runs)
        known = None if labels is None else _known(labels, pool)
    if not_worse is not None:
        raise FieldcheckError("--not-worse without --against", rule="worse than which?", hint="--against OLD.csv")
    found = make_plan(items, budget=budget, half_width=half_width, designs=names, level=level, labelled=known)
    options.tell_notes(items)
    if as_json:
        show_json(found.to_dict())
    else:
        _show(found.sentences(), found.table(), found.notes)
    if html is not None:
        section = report.Section("", (found.chart(), found.table()))
        report.write_text(html, report.page("Labelling plan", lead=found.sentences(), sections=[section]))
        tell(f"report: {html}")


def _show(sentences: Sequence[str], table: Table, notes: Sequence[str]) -> None:
    for line in sentences:
        say(line)
    if table.rows:
        show_noted(table, notes)
    else:
        for text in notes:
            say(f"  note: {text}")


def _known(path: Path, pool: Path) -> Labelled | None:
    with campaigns.open_campaign(str(path), pool) as campaign:
        return _labelled(campaign)


def _labelled(campaign: Campaign) -> Labelled | None:
    """The labels so far; None before the first."""
    if not campaign.progress().labelled:
        return None
    labelled, remarks = campaign.view.labelled()
    for text in remarks:
        tell(f"note: {text}")
    return labelled
