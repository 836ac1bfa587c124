"""The command line: one file per verb, all of them thin; what they do is in the packages they call."""

from __future__ import annotations

import os
import sys

from fieldcheck.cli.app import app
from fieldcheck.cli.show import tell, tell_error
from fieldcheck.core.errors import FieldcheckError

__all__ = ["app", "main"]


INTERRUPTED = 130


def main() -> None:
    """Run a command; a problem that the user can mend is told in plain words, on standard error.

    The exit code is then 2; 3 where 2 is a decision.
    """
    try:
        _run()
    finally:
        _flush()
        if "fieldcheck.engines" in sys.modules:  # most commands need none
            sys.modules["fieldcheck.engines"].let_go()


def _run() -> None:
    try:
        app(prog_name="fieldcheck")
    except SystemExit as end:
        # Typer turns Ctrl-C into this code without a word.
        if end.code == INTERRUPTED:
            tell("interrupted; files that were complete are kept")
        raise
    except FieldcheckError as error:
        tell_error(error)
        sys.exit(2)
    except MemoryError:
        _fail("not enough memory for this pool: give fewer columns, or a part of it", code=3)
    except Exception as error:
        if os.environ.get("FIELDCHECK_DEBUG"):
            raise
        tell(f"unexpected {type(error).__name__}: {error}")
        _fail("  try:  FIELDCHECK_DEBUG=1 to see where, and report it", code=3)


def _fail(text: str, *, code: int) -> None:
    tell(text)
    sys.exit(code)


def _flush() -> None:
    """Write what is left now: when a reader such as ``head`` has gone, Python would complain about it at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
