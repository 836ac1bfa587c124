"""``fieldcheck estimate``: what the labels say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import campaign, report
from fieldcheck.cli import options
from fieldcheck.cli.show import show_estimate, show_json, tell


def estimate(
    sheet: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file that `fieldcheck sample` wrote, labels filled in."),
    ],
    pool: Annotated[
        Path | None, typer.Option("--pool", help="The pool, where a technique needs it again and it has been moved.")
    ] = None,
    level: options.Level = 0.95,
    metric: Annotated[str | None, typer.Option(help="Regression: 1-mse (default), mse, rmse, mae, 1-mae.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a report to look at.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate the accuracy of the whole pool from a filled-in file."""
    options.check_outputs(html)
    drawn = campaign.read_sheet(sheet)
    result = drawn.estimate(campaign.read_answers(sheet, drawn), campaign.read_pool(sheet, drawn, pool), level=level)
    result = result if metric is None else result.as_metric(metric)
    if as_json:
        show_json(result.to_dict())
    else:
        show_estimate(result)
    if html is not None:
        report.write_text(html, report.estimate_page(result))
        tell(f"report: {html}")
