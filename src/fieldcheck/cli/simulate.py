"""``fieldcheck simulate``: simulate one campaign where the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from fieldcheck import report
from fieldcheck.accuracy.assessment import simulate as simulation
from fieldcheck.accuracy.assessment import stopping
from fieldcheck.accuracy.comparison.simulate import simulate_comparison
from fieldcheck.cli import options
from fieldcheck.cli.show import console_for_lines, fitted, show_estimate, show_facts, show_json, show_statement, tell
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.requirement import Stop

FIXED = ("budget", "metric", "activations")
"""Options of a campaign with a fixed number of labels."""


ALONE = ("design", "auxiliary", "loss", "threshold", "metric", "activations", "half_width", "certify", "html")
"""Options of a campaign on one model."""


def simulate(
    context: typer.Context,
    pool: options.PoolFile,
    design: options.DesignSpec = "waves",
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
    half_width: Annotated[
        float | None, typer.Option(help="Label until the interval is this narrow: 0.02 is ± 2 points. waves or srs.")
    ] = None,
    certify: Annotated[
        float | None, typer.Option(help="Label until it is clear whether the accuracy is at least this. waves or srs.")
    ] = None,
    max_labels: Annotated[
        int | None, typer.Option(help="With --half-width or --certify: where to give up (5000, or the whole pool).")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="POOL_B", help="Compare with another model; without --budget, until it is decided."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a report to look at.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate one labelling campaign on a pool whose truth is known, and show the estimate beside the truth."""
    rule = _rule(context, half_width, certify, max_labels=max_labels)
    options.check_outputs(html)
    items = options.load_pool(pool, truth=truth, columns=columns, task=task, shift=shift, encoding=encoding)
    if against:
        for name in ALONE:
            if options.is_given(context, name):
                raise FieldcheckError(
                    f"--{name.replace('_', '-')} together with --against",
                    rule="a comparison draws the items on which the models disagree, and ends when it is decided",
                    hint=f"leave out --{name.replace('_', '-')}; --budget limits the labels",
                )
        rivals = [options.load_pool(one, truth=truth, columns=columns, task=task, encoding=encoding) for one in against]
        wanted = budget if options.is_given(context, "budget") else None
        _compare([items, *rivals], budget=wanted, seed=seed, level=level, as_json=as_json)
        return
    result: Estimate | Stop
    if rule is not None:
        result = simulation.simulate_until(
            items,
            rule,
            design,
            max_labels=max_labels,
            seed=seed,
            auxiliary=auxiliary,
            level=level,
            loss=options.check_loss(loss),
            threshold=threshold,
        )
    else:
        result = simulation.simulate_accuracy(
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
    options.tell_notes(items)
    _show(result, as_json=as_json)
    if html is not None:
        report.write_text(html, _page(result))
        tell(f"report: {html}")


def _compare(models: Sequence[Pool], *, budget: int | None, seed: int, level: float, as_json: bool) -> None:
    for note in dict.fromkeys(note for model in models for note in model.notes):
        tell(f"note: {note}")
    found = simulate_comparison(models, budget=budget, certify=budget is None, seed=seed, level=level)
    if as_json:
        show_json(found.to_dict())
    else:
        show_statement(found)


def _rule(
    context: typer.Context, half_width: float | None, certify: float | None, *, max_labels: int | None
) -> stopping.HalfWidth | stopping.Certify | None:
    """The stop rule that was asked for; options that do not go together are refused."""
    if half_width is not None and certify is not None:
        raise FieldcheckError("--half-width together with --certify", rule="one stop rule at a time")
    if half_width is None and certify is None:
        if max_labels is not None:
            raise FieldcheckError(
                "--max-labels without a stop rule",
                rule="they belong to --half-width and --certify",
                hint="--budget for a fixed number of labels",
            )
        return None
    for name in FIXED:
        if options.is_given(context, name):
            raise FieldcheckError(
                f"--{name} together with a stop rule",
                rule="a stop rule decides how many labels are taken, on the scale of the pool's first metric",
                hint="--max-labels to limit them" if name == "budget" else f"leave out --{name}",
            )
    if certify is not None:
        return stopping.Certify(certify)
    return None if half_width is None else stopping.HalfWidth(half_width)


def _show(result: Estimate | Stop, *, as_json: bool) -> None:
    if as_json:
        show_json(result.to_dict())
    elif isinstance(result, Stop):
        _show_stop(result)
    else:
        show_estimate(result)


def _show_stop(stop: Stop) -> None:
    """The decision first, then what it rests on, then the estimate at the stop."""
    console = console_for_lines()
    console.print(f"[bold]{escape(fitted(console, stop.sentence()))}[/bold]")
    show_facts(console, stop.facts())
    show_estimate(stop.estimate)


def _page(result: Estimate | Stop) -> str:
    if isinstance(result, Stop):
        return report.estimate_page(
            result.estimate, exhibits=[result.chart(), result.table()], lead=[result.sentence()]
        )
    return report.estimate_page(result)
