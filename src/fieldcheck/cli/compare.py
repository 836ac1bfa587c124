"""``fieldcheck compare``: which of two or more models is better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.comparison.simulate import compare as simulate
from fieldcheck.campaign.sheets.comparison import compare_sheet, continued, judged
from fieldcheck.campaign.sheets.files import read_answers, read_remarks, read_sheet, write_sheet
from fieldcheck.cli import options
from fieldcheck.cli.show import console_for_lines, fitted, say, show_facts, show_json, tell
from fieldcheck.core.errors import FieldcheckError, SampleError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.words import counted


def compare(
    pools: Annotated[
        list[Path], typer.Argument(metavar="POOL_A POOL_B ...", help="One file per model, with the same items.")
    ],
    budget: Annotated[
        int | None, typer.Option("--budget", "-n", help="Number of labels (200); with --certify the most of them.")
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Look after every wave, and stop as soon as it is clear.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the disagreements to label to this CSV file.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="A file that --out wrote, true classes filled in.")
    ] = None,
    go_on: Annotated[bool, typer.Option("--continue", help="Add the next items to the file of --labels.")] = False,
    seed: options.Seed = 0,
    truth: options.Truth = None,
    level: options.Level = 0.95,
    columns: options.Columns = None,
    task: options.TaskName = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Which model is better? Label only items on which they disagree; without --out or --labels, simulate it."""
    models = [options.load_pool(path, truth=truth, columns=columns, task=task, encoding=encoding) for path in pools]
    for note in dict.fromkeys(note for model in models for note in model.notes):
        tell(f"note: {note}")
    if labels is not None:
        _refuse_settled(budget, certify=certify, out=out)
        _go_on(models, labels, as_json=as_json) if go_on else _judge(models, labels, level=level, as_json=as_json)
    elif out is not None:
        _begin(models, out, pools=pools, budget=budget, certify=certify, seed=seed, as_json=as_json)
    else:
        first, second, *others = models if len(models) > 1 else _too_few()
        _show(simulate(first, second, *others, budget=budget, certify=certify, seed=seed, level=level), as_json=as_json)


def _too_few() -> list[Pool]:
    raise FieldcheckError(
        "one pool", rule="a comparison needs two models or more", hint="fieldcheck compare A.csv B.csv"
    )


def _refuse_settled(budget: int | None, *, certify: bool, out: Path | None) -> None:
    given = [name for name, there in (("budget", budget is not None), ("certify", certify), ("out", out)) if there]
    if given:
        raise SampleError(
            f"--{given[0]} together with --labels",
            rule="a comparison goes on with the settings it began with; the sidecar knows them",
            hint=f"leave out --{given[0]}",
        )


def _begin(
    models: Sequence[Pool],
    out: Path,
    *,
    pools: Sequence[Path],
    budget: int | None,
    certify: bool,
    seed: int,
    as_json: bool,
) -> None:
    if out.exists():
        raise SampleError(f"{out} exists already", rule="labels are not overwritten", hint="another --out")
    files = " ".join(map(str, pools))
    sheet = compare_sheet(models, budget=budget, certify=certify, seed=seed, files=files)
    if not sheet.ids:
        raise SampleError("the models say the same about every item", rule="only disagreements are labelled")
    write_sheet(sheet, out, models[0])
    _tell_next(out, files, sheet.ids, as_json=as_json)


def _go_on(models: Sequence[Pool], labels: Path, *, as_json: bool) -> None:
    sheet = read_sheet(labels)
    answers = read_answers(labels, sheet, several_models=True)
    remarks = read_remarks(labels, sheet, models[0])
    after = continued(models, sheet, answers)
    write_sheet(after, labels, models[0], answers=answers, remarks=remarks)
    _tell_next(labels, sheet.pool_file, after.ids[len(sheet.ids) :], as_json=as_json)


def _tell_next(path: Path, files: str, ids: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        show_json({"file": str(path), "to_label": list(ids)})
        return
    say(f"{counted(len(ids), 'item')} to label in {path}")
    say("fill in the column 'label' with the true class (or value), in the order of the list, then:")
    say(f"fieldcheck compare {files} --labels {path}")


def _judge(models: Sequence[Pool], labels: Path, *, level: float, as_json: bool) -> None:
    sheet = read_sheet(labels)
    result = judged(models, sheet, read_answers(labels, sheet, several_models=True), level=level)
    _show(result, as_json=as_json)
    if not as_json and not sheet.sample.complete and not result.decided:
        say(f"for further items, once all are labelled: fieldcheck compare ... --labels {labels} --continue")


def _show(result: Comparison, *, as_json: bool) -> None:
    if as_json:
        show_json(result.to_dict())
        return
    console = console_for_lines()
    for line in result.sentence().splitlines():
        console.print(f"[bold]{escape(fitted(console, line))}[/bold]")
    show_facts(console, result.facts())
    for text in result.warnings:
        console.print(f"  [yellow]warning:[/yellow] {escape(fitted(console, text, indent=11))}")
