"""``fieldcheck extend``: a larger budget."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import sheet
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_json
from fieldcheck.core import requirement, words


def extend(
    storage: campaigns.Storage,
    budget: Annotated[str, typer.Option("--budget", "-n", help="Labels in all: 125; or so many more: +25.")],
    by: campaigns.Annotator = "",
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Go on with more labels: what was drawn and labelled stays.

    Every extension is a further look at the labels: `check` then decides at a smaller error, so that all looks together
    stay under 5 %.
    """
    with campaigns.open_campaign(storage, pool) as campaign:
        campaign.extend(budget, by=by)
        if not sheet.is_sheet(storage):
            campaign.draw()
        settings, left = campaign.settings, sum(1 for _ in campaign.state.items.open())
        if as_json:
            extensions = len(settings.earlier)
            show_json({"budget": settings.budget, "extensions": extensions, "to_label": left})
            return
        say(f"the budget is {words.counted(settings.most, 'label')} now; {words.counted(left, 'item')} to label")
        error = requirement.look_error(len(settings.earlier))
        say(f"`check` decides at {100 * error:.2g} % error, when all of them are there")
        for line in _what_next(campaign, storage):
            say(line)


def _what_next(campaign: Campaign, storage: str) -> list[str]:
    if sheet.is_sheet(storage):
        further = ["fieldcheck", "sample", campaign.view.pool_place, "--out", storage, "--continue"]
        return [f"for the further items: {shlex.join(further)}"]
    place = shlex.quote(campaign.place)
    return [
        f"label them on a page:  fieldcheck label {place}",
        f"or with files:         fieldcheck next {place} --out to_label.csv",
    ]
