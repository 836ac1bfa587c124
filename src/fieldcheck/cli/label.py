"""``fieldcheck label``: the labelling page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck.campaign.items import blind
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import tell
from fieldcheck.core.errors import InputsError

LOOKED_AT = 200
"""Items to label that are looked for."""


def label(
    storage: Annotated[
        str, typer.Argument(metavar="CAMPAIGN", help="The campaign's file, or its postgresql:// address.")
    ],
    host: Annotated[
        str, typer.Option(help="Where to listen. Any other than this machine itself needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8765,
    invite: Annotated[
        str,
        typer.Option(metavar="NAME,NAME", help="Print a link for each person: its labels are in that name."),
    ] = "",
    revoke: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="End these people's links, and leave. Their labels stay.")
    ] = "",
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="The lead's name, for the lead's own labels.")] = "",
    token: Annotated[
        str | None, typer.Option(help="The lead's token; left out, one is made where it is needed.")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="classes or right-wrong: what people are asked for. Default: classes, where the pool names them;"
            " of texts that a model wrote, right-wrong.",
        ),
    ] = None,
    show_predictions: Annotated[
        bool, typer.Option("--show-predictions", help="Show labellers what the model said (it biases them).")
    ] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    address: Annotated[
        str, typer.Option(metavar="URL", help="How people reach the server, for the links: behind a proxy.")
    ] = "",
    root_path: Annotated[
        str, typer.Option(metavar="PATH", help="The path below which a proxy has put the server: /pool-7.")
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A further name that the server answers to."),
    ] = None,
    pool: Annotated[Path | None, typer.Option("--pool", help="The pool, where it has been moved.")] = None,
) -> None:
    """Label a campaign's items in the browser, alone or together. The lead has a desk, with the estimate.

    Alone on this machine there is no sign-in. Together: --invite ada,bob prints a link for each person and one for the
    lead, and --host makes the server reachable for them.
    """
    from fieldcheck.web import serve

    if revoke:
        _revoke(storage, options.split_list(revoke), pool)
        return
    _check_seen(storage, pool)
    serve(
        storage,
        host=host,
        port=port,
        token=token,
        by=by.strip(),
        invite=options.split_list(invite),
        address=address,
        root=root_path,
        pool=pool,
        hosts=tuple(allow_host or ()),
        answers=answers,
        show_predictions=show_predictions,
        open_browser=not no_browser,
    )


def _check_seen(storage: str, pool: Path | None) -> None:
    """Refuse where people would label what they cannot see."""
    with campaigns.open_campaign(storage, pool) as campaign:
        folder, recorded = campaign.view.items_folder, campaign.settings.items
        waiting = [item.position for item in campaign.state.items.open()][:LOOKED_AT]
        why = f"{recorded} is not found" if recorded and folder is None else blind(folder or "", campaign.pool, waiting)
    if why and recorded:
        raise InputsError(
            f"{why}: people would label blind",
            rule="people who label see the item",
            hint=f"put it back, or beside the campaign as {Path(recorded).name}",
        )
    if why:
        tell(f"note: {why}; people see no more than its name")


def _revoke(storage: str, names: list[str], pool: Path | None) -> None:
    with campaigns.open_campaign(storage, pool) as campaign:
        for name in names:
            tell(f"the link of {campaign.revoke(name).data['person']} is not valid any more")
