"""``fieldcheck start``: begin a campaign."""

from __future__ import annotations

import contextlib
import csv
import shlex
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fieldcheck.campaign import stores
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import sheet
from fieldcheck.campaign.items import blind
from fieldcheck.campaign.log import EventLog
from fieldcheck.cli import options
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError, InputsError, SampleError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files.text import open_text


def start(
    pool: options.PoolFile,
    storage: Annotated[
        str | None,
        typer.Option(
            "--campaign",
            help="File to keep it in, or postgresql://user@host/database?campaign=NAME for a team. Left out: POOL.db,"
            " in this folder.",
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="POOL_B", help="Predictions of another model for the same items: which one is better?"),
    ] = None,
    reuse: Annotated[
        str | None,
        typer.Option(metavar="OLD", help="An earlier campaign or sheet on the same items: its labels count."),
    ] = None,
    labels_unseen: Annotated[
        bool | None,
        typer.Option(
            "--labels-unseen/--labels-seen",
            help="With --reuse: whether this version was kept away from those labels; it has to be said.",
        ),
    ] = None,
    trained_on: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --reuse: ids of further items that this version was trained on, one a line or a column 'id'.",
        ),
    ] = None,
    train_share: Annotated[
        float,
        typer.Option(help="Share of the labels to train the next version with; the others are kept to judge it."),
    ] = 0.0,
    objective: Annotated[
        str | None,
        typer.Option(
            help="waves: protected (the default), estimate (smallest error), expose (most failures), balanced."
        ),
    ] = None,
    not_worse: Annotated[
        float | None,
        typer.Option(metavar="MARGIN", help="With --against: is this model worse by more than this? 0.01: one point."),
    ] = None,
    certify: Annotated[
        float | None,
        typer.Option(
            metavar="ACCURACY", help="Label until it is proven that the accuracy is at least this: 0.95; or below it."
        ),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(help="Label until the protected interval is this narrow: 0.02 is ± two points."),
    ] = None,
    design: options.DesignSpec = "waves",
    auxiliary: options.AuxiliaryName = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", "-n", help="Items to label at most. Left out (waves only): until you stop."),
    ] = None,
    seed: options.Seed = 0,
    items: Annotated[
        Path | None,
        typer.Option(
            help="What people see: a folder of pictures or texts, an .npy or .npz of images, or a table with the pool's"
            " ids. none: they look elsewhere."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What people see above the page and the report.")] = "",
    labels_per_item: Annotated[
        int, typer.Option(min=1, help="From so many different people for each item; the majority counts.")
    ] = 1,
    new_classes: options.NewClasses = None,
    instructions: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="How to label, in Markdown: one key away on the page.")
    ] = None,
    class_descriptions: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="What the classes mean: a table of name and description.")
    ] = None,
    lease_minutes: Annotated[
        float,
        typer.Option(help="For so long an item is kept for the one who asked; for work with files, think of days."),
    ] = 10,
    loss: options.LossName = "squared",
    threshold: options.Threshold = None,
    activations: options.Activations = None,
    columns: options.Columns = None,
    task: options.TaskName = None,
    shift: options.Shift = None,
    encoding: options.Encoding = None,
    engine: options.EngineName = "local",
    as_json: options.AsJson = False,
) -> None:
    """Begin a labelling campaign: choose the first items, and keep everything that happens in one place."""
    runs = options.engine_named(engine)
    read = options.load_pool(pool, columns=columns, task=task, shift=shift, encoding=encoding, engine=runs)
    campaign = Campaign.create(
        f"{read.name}.db" if storage is None else storage,
        read,
        design,
        against=against or (),
        reuse=None if reuse is None else _earlier(reuse),
        labels_unseen=reuse is not None and _unseen(labels_unseen, reuse),
        trained_on=() if trained_on is None else _ids(trained_on),
        train_share=train_share,
        objective=objective,
        certify=certify,
        half_width=half_width,
        not_worse=not_worse,
        budget=budget,
        seed=seed,
        auxiliary=auxiliary,
        items=items_of(items, read),
        loss=options.check_loss(loss),
        threshold=threshold,
        activations=options.load_activations(activations),
        pool_options=options.pool_options(columns, task, shift, encoding),
        title=title,
        labels_per_item=labels_per_item,
        lease_seconds=60 * lease_minutes,
        new_classes=new_classes or (),
        instructions="" if instructions is None else _instructions(instructions),
        descriptions=None if class_descriptions is None else _descriptions(class_descriptions),
    )
    with campaign:
        options.tell_notes(campaign.pool)
        for note in campaign.view.question.notes:
            tell(f"note: {note}")
        _show(campaign, as_json=as_json)


LONGEST = 100_000
"""Letters of instructions, which every page loads."""


def _instructions(file: Path) -> str:
    with open_text(file, None, FieldcheckError) as stream:
        text = stream.read(LONGEST + 1)
    if len(text) > LONGEST:
        raise FieldcheckError(f"{file} is longer than {LONGEST:,} letters", rule="people read it beside every item")
    return text


CLASS, MEANING = ("name", "class", "label", "category"), ("description", "meaning", "definition", "explanation")
"""What the columns of a table of descriptions may be called."""


def _descriptions(file: Path) -> dict[str, str]:
    """By class, what it means; the first line may be a header."""
    with open_text(file, None, FieldcheckError) as stream:
        rows = [[cell.strip() for cell in row] for row in csv.reader(stream) if any(row)]
    if rows and rows[0][0].lower() in CLASS and rows[0][1:2] and rows[0][1].lower() in MEANING:
        rows = rows[1:]
    for line, row in enumerate(rows, start=1):
        if len(row) != 2 or not all(row):
            raise FieldcheckError(f"{file}, class {line}", rule="two columns: name, description", hint='cat,"meows"')
    return dict(rows)


ELSEWHERE = "none"


LOOKED_AT = 200
"""Items of the pool that are looked for."""


def items_of(items: Path | None, pool: Pool) -> str:
    """Where people see the items: as named, or beside the pool; refused where they would label blind."""
    if str(items) == ELSEWHERE:
        return ""
    some = np.linspace(0, len(pool) - 1, min(len(pool), LOOKED_AT)).astype(int).tolist()
    place, beside = "" if items is None else str(items), Path(pool.origin.file).resolve().parent
    if why := blind(place, pool, some):
        if items is None and not blind(beside, pool, some):
            tell(f"note: pictures are shown from {beside}")
            return str(beside)
        raise InputsError(
            f"{why}: people would label blind",
            rule="people who label see the item",
            hint="--items FOLDER that holds the pictures, or a table with the ids of the pool and a text;"
            f" --items {ELSEWHERE} if people look at the items elsewhere",
        )
    return place


QUESTION = "Was the new version trained or tuned on these labels?"


def _earlier(place: str) -> str | Path:
    """The campaign behind a sheet, with the labels that are filled in; or the campaign itself."""
    if not sheet.is_sheet(place):
        return place
    with sheet.open_sheet(Path(place)):
        return sheet.campaign_file(Path(place))


def _ids(file: Path) -> list[str]:
    """One a line, or those of a column ``id``."""
    with open_text(file, None, FieldcheckError) as content:
        lines = [line.strip() for line in content if line.strip()]
    head = [cell.strip().lower() for cell in lines[0].split(",")] if lines else []
    if "id" in head:
        return [row[head.index("id")] for row in csv.reader(lines[1:]) if len(row) > head.index("id")]
    return lines


def _unseen(labels_unseen: bool | None, old: str) -> bool:
    """The answer of the command line, or of the person at the terminal; no answer is no.

    Where the earlier campaign exported labels to train with, it is known what was seen, and nobody is asked.
    """
    with contextlib.closing(EventLog(stores.open_store(_earlier(old)))) as log:
        exported = bool(log.state.exported)
    if labels_unseen is None and sys.stdin.isatty() and not exported:
        labels_unseen = not typer.confirm(QUESTION, err=True)
    if labels_unseen is False:
        raise SampleError(
            "the new version was trained or tuned on these labels",
            rule="a model is right on labels that it has seen: an estimate from them would be too good",
            hint="begin a new campaign, on items that it has not seen",
        )
    return bool(labels_unseen)


def _show(campaign: Campaign, *, as_json: bool) -> None:
    settings, drawn = campaign.settings, len(campaign.state.items)
    if as_json:
        show_json({"campaign": campaign.place, "drawn": drawn, **settings.as_record()})
        return
    several = settings.labels_per_item > 1
    wanted = (
        campaign.view.question.until
        if settings.budget is None
        else words.counted(settings.budget, "item" if several else "label")
    )
    wanted += f" with {settings.labels_per_item:,} labels each" if several else ""
    pool, chosen = words.counted(settings.population, "item"), words.counted(drawn, "is", "are")
    say(f"'{settings.title}': {settings.design}, {wanted}, a pool of {pool}; {chosen} drawn")
    place = shlex.quote(campaign.place)
    if not drawn:
        say(f"nothing is to be labelled; now: fieldcheck estimate {place}")
        return
    say(f"label them on a page:  fieldcheck label {place}")
    say(f"or with files:         fieldcheck next {place} --out to_label.csv")
