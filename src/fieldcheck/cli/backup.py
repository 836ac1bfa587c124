"""``fieldcheck backup``: a copy of a campaign."""

from __future__ import annotations

import contextlib
import shlex
import time
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck.campaign import stores
from fieldcheck.cli import campaigns
from fieldcheck.cli.show import say
from fieldcheck.core.errors import FieldcheckError


def backup(
    storage: campaigns.Storage,
    out: Annotated[
        Path | None, typer.Option(help="The copy's file. Default: beside the campaign, with the time.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Copy a campaign, as it is now, into one file, while people go on labelling.

    The copy is a campaign in an SQLite file, also that of a PostgreSQL database. The pool and the items' files are not
    in it. To restore it, stop the server, and start it with the copy.
    """
    target = out or _default(storage)
    if target.exists() and not force:
        raise FieldcheckError(f"{target} is there already", rule="a backup is not written over", hint="--force")
    with contextlib.closing(stores.open_store(storage)) as store:
        count = stores.back_up(store, target)
    say(f"{target}: {count:,} events, checked")
    say(f"to check it again: fieldcheck verify {shlex.quote(str(target))}")


def _default(storage: str) -> Path:
    """Beside the campaign; that of a database here."""
    place = Path("campaign.db") if stores.is_address(storage) else Path(storage)
    return place.with_name(f"{place.stem}-{time.strftime('%Y%m%d-%H%M%S')}{place.suffix or '.db'}")
