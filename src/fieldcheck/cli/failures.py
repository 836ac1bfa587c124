"""``fieldcheck failures``: the items on which the model is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.campaign.exchange import export, labels
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_file, show_json
from fieldcheck.core import words


def failures(
    storage: campaigns.Storage,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="CSV file with the failing items.")] = None,
    images: Annotated[Path | None, typer.Option(help="Also copy their pictures into this folder.")] = None,
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """List the items on which the model is wrong, with their true label: for the next training round.

    A cell that a spreadsheet would run as a formula begins with an apostrophe.
    """
    options.check_outputs(out)
    options.make_folder(images)
    with campaigns.open_campaign(storage, pool) as campaign:
        found = campaign.failures()
        given = labels.records(campaign, [one.item for one in found])
        text = labels.as_text(given, "csv")
        if out is not None:
            report.write_text(out, text)
        pictures = 0 if images is None else export.copy_pictures(campaign, [one.item for one in found], images)
    if as_json:
        show_json({"failures": [one.as_record() for one in given], "file": None if out is None else str(out)})
    elif out is None:
        show_file(text)
    else:
        say(
            f"{words.counted(len(found), 'failure')} in {out}"
            + (f", {words.counted(pictures, 'picture')} in {images}" if images else "")
        )
