"""``fieldcheck report``: a page about a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report as pages
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.check import requirements_of
from fieldcheck.cli.show import say, show_json
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.requirement import Requirement


def report(
    storage: campaigns.Storage,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file; it is complete in itself.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="COLUMN", help="Parts of the pool to show. Default: by prediction, if few classes."
        ),
    ] = None,
    min_accuracy: Annotated[float | None, typer.Option(help="Say whether the accuracy is at least this.")] = None,
    max_rmse: Annotated[float | None, typer.Option(help="Regression: say whether the error is at most this.")] = None,
    max_mae: Annotated[float | None, typer.Option(help="The same, for a campaign with --loss absolute.")] = None,
    level: options.Level = 0.95,
    pool: campaigns.PoolMoved = None,
    engine: options.EngineName = "local",
    as_json: options.AsJson = False,
) -> None:
    """Write a report: the answer, how it developed, the failures as a gallery, and how to check all of it."""
    options.check_outputs(out)
    target = _requirement(accuracy=min_accuracy, rmse=max_rmse, mae=max_mae)
    with campaigns.open_campaign(storage, pool, engine=engine) as campaign:
        written = pages.write_text(out, pages.campaign_page(campaign, level=level, by=by, requirement=target))
    if as_json:
        show_json({"report": str(written), "bytes": written.stat().st_size})
    else:
        say(f"report: {out}")


def _requirement(**wanted: float | None) -> Requirement | None:
    found = requirements_of(**wanted)
    if len(found) > 1:
        raise FieldcheckError(f"{found[0]} and {found[1]}", rule="a report holds the estimate against one requirement")
    return found[0] if found else None
