"""Verbs that decide: their exit code is the decision, so that what keeps them from one needs a code of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand

from fieldcheck.cli.show import tell_error
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.requirement import EXIT_CODES, Decided

UNUSABLE = 3
"""Exit code where nothing is decided: a file is missing or damaged, an option is wrong."""


MISUSED = 2
"""What Typer ends with where the words of a command cannot be read."""


def leave(word: Decided, undecided: int) -> None:
    """End with the code of a decision; pipelines may have another one for what is undecided."""
    raise typer.Exit(undecided if word == "undecided" else EXIT_CODES[word])


class Check(TyperCommand):
    """A command whose exit code is a decision; trouble on the way to it ends with ``UNUSABLE``."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with _undecidable():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _undecidable():
            return super().invoke(ctx)


@contextmanager
def _undecidable() -> Iterator[None]:
    try:
        yield
    except typer.Exit:
        raise
    except FieldcheckError as error:
        tell_error(error)
        raise typer.Exit(UNUSABLE) from error
    except Exception as error:
        # Typer ends with the code that its error carries, after its own words.
        if getattr(error, "exit_code", None) == MISUSED:
            error.exit_code = UNUSABLE  # type: ignore[attr-defined]
        raise
