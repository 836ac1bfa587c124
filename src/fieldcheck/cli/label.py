"""``fieldcheck label``: the labelling page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def label(
    storage: Annotated[
        str, typer.Argument(metavar="CAMPAIGN", help="The campaign's file, or its postgresql:// address.")
    ],
    host: Annotated[
        str, typer.Option(help="Where to listen. Any other than this machine itself needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8765,
    token: Annotated[
        str | None, typer.Option(help="What visitors must know; left out, one is made where it is needed.")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="classes or right-wrong: what people are asked for. Default: classes, where the pool names them.",
        ),
    ] = None,
    show_prediction: Annotated[
        bool, typer.Option("--show-prediction", help="Show what the model said from the start: it biases labels.")
    ] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A further name that the server answers to."),
    ] = None,
    pool: Annotated[Path | None, typer.Option("--pool", help="The pool, where it has been moved.")] = None,
) -> None:
    """Label a campaign's items in the browser, alone or together, with the estimate beside it."""
    from fieldcheck.web import serve

    serve(
        storage,
        host=host,
        port=port,
        token=token,
        pool=pool,
        hosts=tuple(allow_host or ()),
        answers=answers,
        show_prediction=show_prediction,
        open_browser=not no_browser,
    )
