"""``fieldcheck assess``: simulate one campaign where the truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import campaign, report
from fieldcheck.cli import options
from fieldcheck.cli.show import show_estimate, show_json, tell


def assess(
    pool: options.PoolFile,
    design: options.DesignSpec = "srs",
    auxiliary: options.AuxiliaryName = None,
    budget: options.Budget = 200,
    seed: options.Seed = 0,
    truth: options.Truth = None,
    level: options.Level = 0.95,
    loss: options.LossName = "squared",
    threshold: options.Threshold = None,
    metric: Annotated[str | None, typer.Option(help="Regression: 1-mse (default), mse, rmse, mae, 1-mae.")] = None,
    activations: options.Activations = None,
    columns: options.Columns = None,
    task: options.TaskName = None,
    shift: options.Shift = None,
    encoding: options.Encoding = None,
    html: Annotated[Path | None, typer.Option(help="Also write a report to look at.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate one labelling campaign on a pool whose truth is known, and show the estimate beside the truth."""
    options.check_outputs(html)
    items = options.load_pool(pool, truth=truth, columns=columns, task=task, shift=shift, encoding=encoding)
    result = campaign.assess(
        items,
        design,
        auxiliary=auxiliary,
        budget=budget,
        seed=seed,
        level=level,
        loss=options.check_loss(loss),
        threshold=threshold,
        activations=options.load_activations(activations),
    )
    result = result if metric is None else result.as_metric(metric)
    for note in items.notes:
        tell(f"note: {note}")
    if as_json:
        show_json(result.to_dict())
    else:
        show_estimate(result)
    if html is not None:
        report.write_text(html, report.estimate_page(result))
        tell(f"report: {html}")
