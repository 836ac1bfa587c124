"""What the verbs of a campaign share: how it is opened, whichever file names it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import sheet
from fieldcheck.cli import options, wrong_files

Storage = Annotated[
    str,
    typer.Argument(
        metavar="CAMPAIGN",
        help="The campaign's file or postgresql:// address; or a CSV that `fieldcheck sample` wrote, filled in.",
    ),
]


PoolMoved = Annotated[Path | None, typer.Option("--pool", help="The pool, where it has been moved.")]


Annotator = Annotated[str, typer.Option("--by", metavar="NAME", help="Whose labels they are.")]


def open_campaign(
    storage: str, pool: Path | None = None, *, new_classes: Sequence[str] = (), engine: str = "local"
) -> Campaign:
    """The campaign at a place, to be used in a ``with`` statement; of a sheet, what is filled in is taken first."""
    runs = options.engine_named(engine)
    if sheet.is_sheet(storage):
        with wrong_files.expecting(storage, "a campaign" if _is_lost(storage) else "a sheet"):
            return sheet.open_sheet(Path(storage), pool=pool, new_classes=new_classes, engine=runs)
    campaign = Campaign.open(storage, pool=pool, engine=runs)
    campaign.declare(*new_classes)
    return campaign


def _is_lost(storage: str) -> bool:
    """Whether there is no campaign beside what may be a sheet."""
    return Path(storage).is_dir() or not sheet.campaign_file(Path(storage)).exists()
