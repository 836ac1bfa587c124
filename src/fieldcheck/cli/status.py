"""``fieldcheck status``: how far a campaign is."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from rich.markup import escape

from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.progress import Progress
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.next_step import next_step
from fieldcheck.cli.show import console_for_lines, fitted, show_estimate, show_facts, show_json
from fieldcheck.core import words
from fieldcheck.core.errors import LabelError
from fieldcheck.core.estimate import BAR, Estimate
from fieldcheck.core.requirement import Requirement


def status(
    storage: campaigns.Storage,
    level: options.Level = 0.95,
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Show how far a campaign is: labels, open and skipped items, who labelled, and the estimate so far."""
    with campaigns.open_campaign(storage, pool) as campaign:
        progress, (found, why) = campaign.progress(), so_far(campaign, level=level)
        if as_json:
            show_json(_as_dict(campaign, progress, found))
            return
        console = console_for_lines()
        console.print(f"[bold]{escape(fitted(console, campaign.settings.title))}[/bold]: {escape(_headline(progress))}")
        console.print(escape(_bar(progress)))
        show_facts(console, facts_of(campaign, progress))
        step = next_step(campaign, found if isinstance(found, Estimate) else None, storage)
        if isinstance(found, Estimate):
            show_estimate(found, next_step=step)
            return
        for line in (why if found is None else found.sentence()).splitlines():
            console.print(escape(fitted(console, line)))
        console.print(f"[bold]Next:[/bold] {escape(step)}")


def so_far(campaign: Campaign, *, level: float) -> tuple[Estimate | Comparison | None, str]:
    """The estimate, or why there is none yet."""
    try:
        return campaign.estimate(level=level), ""
    except LabelError as error:
        return None, f"no estimate yet: {error.problem}"


def _bar(progress: Progress) -> str:
    """Labels so far, of those that are wanted."""
    done, wanted = progress.labelled + progress.skipped, progress.budget or progress.drawn
    filled = round(BAR * min(done / max(wanted, 1), 1.0))
    return f"{'█' * filled}{'░' * (BAR - filled)} {done:,} of {wanted:,}"


def _headline(progress: Progress) -> str:
    if progress.closed:
        return "closed"
    if progress.complete:
        return "complete"
    if drawn := progress.open + progress.disputed:
        return words.counted(drawn, "item") + " to label"
    return "the next wave is drawn when it is asked for"


def facts_of(campaign: Campaign, progress: Progress) -> list[tuple[str, str]]:
    """Progress as pairs of what and how much."""
    limit = campaign.view.question.until if progress.budget is None else f"a budget of {progress.budget:,}"
    annotators = ", ".join(f"{name or '(no name)'} {count:,}" for name, count in progress.annotators.items())
    rows = [
        ("labelled", f"{progress.labelled:,} of {progress.drawn:,} drawn; {limit}"),
        ("begun", _begun(campaign, progress)),
        ("decision", _certified(campaign)),
        ("failures", f"{progress.failures:,}"),
        ("skipped", f"{progress.skipped:,}"),
        ("in hands", f"{progress.leased:,}"),
        ("flagged", f"{progress.flagged:,}" if progress.flagged else ""),
        (
            "disputed",
            f"{progress.disputed:,}: people disagree; the lead settles them on the desk, or by `next --disputed`"
            if progress.disputed
            else "",
        ),
        ("annotators", annotators or "none yet"),
        (
            "agreement",
            "" if math.isnan(progress.agreement) else f"{progress.agreement:.0%} of items with several labels",
        ),
        ("design", f"{campaign.settings.design}, seed {campaign.settings.seed}"),
    ]
    return [(name, text) for name, text in rows if text]


def _certified(campaign: Campaign) -> str:
    """What is proven so far, in a campaign that is to prove something."""
    wanted = campaign.settings.certify
    return "" if wanted is None else campaign.view.check(Requirement("accuracy", wanted)).sentence()


def _begun(campaign: Campaign, progress: Progress) -> str:
    """What was done already for items that want several people."""
    waiting = words.counted(progress.begun, "item waits for more of its", "items wait for more of their")
    return f"{waiting} {campaign.settings.labels_per_item:,} people" if progress.begun else ""


def _as_dict(campaign: Campaign, progress: Progress, found: Estimate | Comparison | None) -> dict[str, Any]:
    settings = campaign.settings
    return {
        "campaign": campaign.place,
        "title": settings.title,
        "design": settings.design,
        "seed": settings.seed,
        **asdict(progress),
        "estimate": None if found is None else found.to_dict(),
    }
