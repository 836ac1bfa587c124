"""``fieldcheck verify``: whether a campaign is what it says."""

from __future__ import annotations

import typer
from rich.markup import escape

from fieldcheck.campaign import verification
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.exit_codes import Check
from fieldcheck.cli.show import console_for_lines, show_facts, show_json
from fieldcheck.core.requirement import EXIT_CODES

COMMAND = Check


def verify(
    storage: campaigns.Storage,
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a campaign, or a backup, on any machine. Exit code 0: all holds, 1: something does not, 3: cannot be told.

    Its events are whole (each carries a fingerprint of all before it); the pool is the one that it was started on; and
    a replay draws the same items with the same chances, and leads to the same estimate. Nothing is changed.

    Compare the fingerprint with that of another copy: two copies with the same fingerprint are the same campaign.
    """
    found = verification.verify(storage, pool=pool)
    if as_json:
        show_json(_as_dict(found))
    else:
        console = console_for_lines()
        title = "holds" if found.holds else "DOES NOT HOLD"
        console.print(f"[bold]{escape(storage.rpartition('@')[2])}[/bold]: {title}")
        facts = [(finding.name, _words(finding)) for finding in found.findings]
        show_facts(console, [*facts, *([("fingerprint", found.digest)] if found.digest else [])])
    raise typer.Exit(EXIT_CODES["passed" if found.holds else "failed"])


def _words(finding: verification.Finding) -> str:
    return finding.words if finding.holds is not None else f"not checked: {finding.words}"


def _as_dict(found: verification.Verification) -> dict[str, object]:
    return {
        "holds": found.holds,
        "events": found.events,
        "fingerprint": found.digest,
        "checks": [{"name": one.name, "holds": one.holds, "words": one.words} for one in found.findings],
        "estimate": None if found.estimate is None else found.estimate.to_dict(),
    }
