"""How results reach the person: colour on a terminal, plain lines elsewhere, progress on standard error.

Everything that is printed goes through here: ids, labels and names come from files of others, and a terminal obeys the
control characters in them. They are shown as ``\\x1b``; in JSON they are escaped as JSON does it.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table as RichTable

from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool import watching

if TYPE_CHECKING:  # what is only shown need not be loaded to show help
    from fieldcheck.accuracy.comparison.difference import Comparison
    from fieldcheck.core.estimate import Estimate
    from fieldcheck.core.exhibit import Cell, Table

PLAIN_EVERY = 10.0
"""Seconds between plain progress lines."""


SLOW = 2.0
"""Seconds of a command after which it says how far it is."""


def show_json(value: Any) -> None:
    """JSON on standard output; numbers that JSON lacks become null."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False)
    say_lines(re.sub("[\x7f-\U0010ffff]", lambda found: _in_json(found[0]), text))


def _in_json(letter: str) -> str:
    """A letter as it is, or as JSON escapes it where a terminal would obey it."""
    return letter if words.visible(letter) == letter else f"\\u{ord(letter):04x}"


def say(text: object = "") -> None:
    """A line on standard output: line ends in ids and names are shown, too."""
    print(words.on_one_line(str(text)))


def say_lines(text: str, *, end: str = "\n") -> None:
    """Text on standard output whose line ends are our own."""
    print(words.visible(text), end=end)


def show_file(text: str) -> None:
    """The content of a file on standard output: as it is for programs, harmless for a terminal."""
    print(words.visible(text) if on_terminal() else text, end="")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


class _Console(Console):
    """A console that shows what it would otherwise obey."""

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=words.visible(segment.text))


def console(**settings: Any) -> Console:
    """Where tables, bars and coloured lines are printed."""
    return _Console(highlight=False, **settings)


def console_for_lines() -> Console:
    """The same, for sentences that programs may read: no line is broken where there is no terminal."""
    return console(soft_wrap=True)


def show_estimate(estimate: Estimate, *, verbose: bool = False, next_step: str = "") -> None:
    """The answer, what speaks against it, what to do next; ``verbose``: how it was made, too."""
    console = console_for_lines()
    first, *rest = estimate.lines(console.width if console.is_terminal else 120)
    console.print(f"[bold]{escape(first)}[/bold]", *map(escape, rest), sep="\n")
    if estimate.truth is not None:
        found = estimate.spoken()
        inside = "inside" if estimate.truth in estimate.interval else "OUTSIDE"
        console.print(escape(f"truth {found.scale.shown(found.truth or 0.0)} ({inside} the interval)"))
    for text in estimate.warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(fitted(console, text, indent=9))}")
    for text in estimate.notes:
        console.print(f"[dim]note:[/dim] {escape(fitted(console, text, indent=6))}")
    if next_step:
        console.print(f"[bold]Next:[/bold] {escape(next_step)}")
    if verbose:
        show_facts(console, estimate.facts())


def show_statement(found: Estimate | Comparison) -> None:
    """The answer of a campaign, whatever it asks."""
    from fieldcheck.core.estimate import Estimate

    if isinstance(found, Estimate):
        show_estimate(found)
        return
    console = console_for_lines()
    for line in found.sentence().splitlines():
        console.print(f"[bold]{escape(fitted(console, line))}[/bold]")
    show_facts(console, found.facts())
    for text in found.warnings:
        console.print(f"  [yellow]warning:[/yellow] {escape(fitted(console, text, indent=11))}")


def show_facts(console: Console, facts: Sequence[tuple[str, str]], *, indent: int = 2) -> None:
    """Pairs of what and how much, below each other."""
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        shown = escape(fitted(console, text, indent=indent + width + 2))
        console.print(f"{'':{indent}}[dim]{escape(f'{name:<{width}}')}[/dim]  {shown}")


def fitted(console: Console, text: str, *, indent: int = 0) -> str:
    """Text from column ``indent`` on, its lines broken where the terminal ends; elsewhere it stays one line."""
    text = words.on_one_line(text)  # line ends come from here, none from ids and names
    if not console.is_terminal:
        return text
    room = max(console.width - indent, 20)
    return ("\n" + " " * indent).join(textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False))


def on_terminal() -> bool:
    """Whether a person looks at standard output, and not a program."""
    return console().is_terminal


def show_table(table: Table) -> None:
    """A table; without a terminal, cells between tabs."""
    wide = console()
    if not wide.is_terminal:
        say(words.on_one_line(table.title))
        for row in (table.columns, *table.rows):
            say_lines("\t".join(cell_text(cell) for cell in row))
        return
    rich = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False, title_justify="left", caption_justify="left")
    rich.title, rich.caption = escape(words.on_one_line(table.title)), escape(words.on_one_line(table.note)) or None
    numeric = [
        all(isinstance(row[at], (int, float, type(None))) for row in table.rows) for at in range(len(table.columns))
    ]
    for name, is_number in zip(table.columns, numeric, strict=True):
        rich.add_column(
            escape(cell_text(name)), justify="right" if is_number else "left", overflow="fold", no_wrap=is_number
        )
    for row in table.rows:
        rich.add_row(*(escape(cell_text(cell)) for cell in row))
    wide.print(rich)


def cell_text(cell: Cell) -> str:
    """A cell in few characters."""
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else words.on_one_line(str(cell))


def tell(text: str) -> None:
    """A line for the person, on standard error: never in the way of results."""
    print(words.on_one_line(text), file=sys.stderr)


def tell_error(error: FieldcheckError) -> None:
    """A problem that the user can mend, in plain words."""
    print(words.visible(f"{type(error).__name__}: {error}"), file=sys.stderr)


Report = Callable[[int, int], None]
"""Takes how many steps are done, and of how many."""


@contextmanager
def progress(title: str) -> Iterator[Report]:
    """A bar on a terminal, a plain line now and then elsewhere."""
    with watching.watched(None):  # one at a time
        if sys.stderr.isatty():
            with _bar(title) as report:
                yield report
        else:
            yield _lines(title)


STEPS = "looking at the pool"


@contextmanager
def steps_shown() -> Iterator[None]:
    """How far each step over a large pool is, in a command that takes its time."""
    with ExitStack() as bar, watching.watched(_StepBars(bar) if sys.stderr.isatty() else _lines(STEPS)):
        yield


class _StepBars:
    """A bar for each step, which goes with it; none before the command has taken ``SLOW`` seconds.

    bar
        What there is of it: where an error ends the command between two parts, it goes with the command.
    """

    def __init__(self, bar: ExitStack) -> None:
        self._began, self._bar = time.monotonic(), bar
        self._report: Report | None = None

    def __call__(self, done: int, total: int) -> None:
        if done == total:
            self._bar.close()
            self._report = None
        elif self._report is None and time.monotonic() - self._began > SLOW:
            self._report = self._bar.enter_context(_bar(STEPS))
        if self._report is not None:
            self._report(done, total)


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(title), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(title: str) -> Report:
    last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PLAIN_EVERY:
            last = time.monotonic()
            tell(f"{title}: {done} of {total}")

    return report
