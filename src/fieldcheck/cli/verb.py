"""What all verbs that read files have in common: how much a file may unpack to, and how far they are."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

import typer

from fieldcheck.cli.show import steps_shown
from fieldcheck.files import limits

MaxSize = Annotated[
    str | None,
    typer.Option(
        "--max-size",
        metavar="SIZE",
        envvar=limits.SETTING,
        show_envvar=False,
        help="What a compressed file may unpack to: 4GB. By default 256 MB, or 100 times its size.",
    ),
]


def reads_files(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with the option ``--max-size``."""

    @wraps(verb)
    def within(*args: Any, max_size: str | None, **options: Any) -> None:
        with _allowing(max_size), steps_shown():
            verb(*args, **options)

    own = inspect.signature(verb, eval_str=True)
    option = inspect.Parameter("max_size", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=MaxSize)
    parameters = [*own.parameters.values(), option]
    within.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    within.__annotations__ = {one.name: one.annotation for one in parameters}
    return within


@contextmanager
def _allowing(size: str | None) -> Iterator[None]:
    """The environment has the size as long as the command runs: threads and processes that read for it see it."""
    before = os.environ.get(limits.SETTING)
    if size is not None:
        limits.read_size(size)
        os.environ[limits.SETTING] = size
    try:
        yield
    finally:
        os.environ.pop(limits.SETTING, None)
        os.environ.update({} if before is None else {limits.SETTING: before})
