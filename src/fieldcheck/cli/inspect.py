"""``fieldcheck inspect``: how a file is read, what it allows, what to do next."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.cli import options, wrong_files
from fieldcheck.cli.show import console_for_lines, fitted, say, show_json, tell, tell_error
from fieldcheck.core import words
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files.places import place_of
from fieldcheck.sources import description

UNREAD = 2
"""Exit code where a question is left: its answer is an option."""


def inspect(
    pool: options.PoolFile,
    truth: options.Truth = None,
    columns: options.Columns = None,
    task: options.TaskName = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Show how a file is read: its columns by their part, what that allows, and what to do next."""
    pool = place_of(pool)
    with wrong_files.expecting(pool, "a pool"):
        found = sources.read(pool, columns=options.roles_of(columns), encoding=encoding, truth=truth)
    made, question = _made(found, pool, task)
    said = options.reading_words(columns, task, encoding)
    if as_json:
        show_json(_as_dict(found, made, question, pool, said))
    else:
        _show(found, made, pool, said)
    if question is not None:
        tell_error(question)
        raise typer.Exit(UNREAD)


def _made(found: sources.Reading, file: Path, task: str | None) -> tuple[Pool | None, PoolError | None]:
    """The pool, or why it cannot be made yet."""
    try:
        return found.pool(sources.name_of(file), options.task_of(task)), None
    except PoolError as error:
        return None, error


def _show(found: sources.Reading, made: Pool | None, file: Path, said: list[str]) -> None:
    console = console_for_lines()
    items = words.counted(len(made), "item") if made is not None else "not a pool yet"
    console.print(f"[bold]{escape(str(file))}[/bold]  {escape(f'{items}, {found.table.form}')}")
    signals = () if made is None else derived.names(made)
    lines = description.described(found, made, signals=signals) + (
        [] if made is None else [description.PartLine("allows", allows(made))]
    )
    width = max((len(one.column) for one in lines if one.detail), default=0)
    for one in lines:
        text = (
            f"{words.on_one_line(one.column):<{width}}  {words.on_one_line(one.detail)}"
            if one.detail
            else words.on_one_line(one.column)
        )
        console.print(f"  [dim]{one.part:<10}[/dim]  {escape(fitted(console, text, indent=14))}")
    for note in () if made is None else made.notes:
        tell(f"note: {note}")
    for command in [] if made is None else next_commands(made, file, said):
        say(f"next: {command}")


def allows(pool: Pool) -> str:
    """What can be asked of a pool, in a line."""
    signals = derived.names(pool)
    known = "; truth known: simulate, bench" if pool.truth_known else ""
    return f"start, sample, plan by {description.listed(signals) or 'chance alone'}{known}"


def next_commands(pool: Pool, file: Path, said: list[str]) -> list[str]:
    """What to run now; it works when it is pasted."""
    start = ["fieldcheck", "start", str(file), "--campaign", f"{pool.name}.db", *said]
    truth = next((name for role in ("target", "outcome") if (name := pool.origin.columns.get(role))), None)
    simulate = ["fieldcheck", "simulate", str(file), *(["--truth", truth] if truth else []), *said]
    return [shlex.join(start)] + ([shlex.join(simulate)] if pool.truth_known else [])


def _as_dict(
    found: sources.Reading, made: Pool | None, question: PoolError | None, file: Path, said: list[str]
) -> dict[str, Any]:
    read = {one.part: {"column": one.column, "detail": one.detail} for one in description.described(found, made)}
    known = {} if made is None else _pool_dict(made, file, said)
    asked = None if question is None else {"problem": question.problem, "rule": question.rule, "try": question.hint}
    return {
        "file": str(file),
        "form": found.table.form,
        "columns": {role: name for role, name in found.chosen.items() if name is not None},
        "probabilities": dict(found.likely),
        "looks_like_labels": found.labels,
        "also": found.others,
        "read": read,
        **known,
        "question": asked,
    }


def _pool_dict(made: Pool, file: Path, said: list[str]) -> dict[str, Any]:
    return {
        "items": len(made),
        "task": made.task,
        "classes": list(made.classes),
        "confidence": made.origin.scale or ("probabilities" if made.probabilities is not None else None),
        "truth_known": made.truth_known,
        "auxiliary": list(derived.names(made)),
        "settings": dict(made.origin.settings),
        "notes": list(made.notes),
        "next": next_commands(made, file, said),
    }
