"""What to do next with a campaign, as a line that ends with a command that works when pasted."""

from __future__ import annotations

import shlex

from fieldcheck.accuracy.assessment import stopping
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import sheet
from fieldcheck.campaign.questions.evidence import FIRST_NUMBER
from fieldcheck.core import requirement, words
from fieldcheck.core.estimate import Estimate

HALF_WIDTHS = (0.1, 0.07, 0.05, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001)
"""Of an accuracy, that a further step may aim at."""


NARROWER = 0.8
"""A further step makes the interval at least so much narrower."""


def next_step(campaign: Campaign, found: Estimate | None, storage: str) -> str:
    """Label what is asked for; then, more labels for a narrower interval; a campaign that is closed has a report."""
    progress, place = campaign.progress(), shlex.quote(storage)
    if progress.closed:
        return f"the report · fieldcheck report {place} --out report.html"
    if not progress.complete:
        return f"{_to_label(campaign)} · {_label_command(campaign, storage)}"
    if found is None and campaign.settings.most < FIRST_NUMBER and campaign.view.question.extendable:
        return f"more labels for a first number · fieldcheck extend {place} --budget {FIRST_NUMBER}"
    further = campaign.view.question.extendable and campaign.settings.certify is None
    aim = _narrower(found) if found is not None and further else None
    if aim is None:
        return f"the report · fieldcheck report {place} --out report.html"
    more, target = aim
    return f"{words.counted(more, 'more label')} for ± {target} · fieldcheck extend {place} --budget +{more}"


def _to_label(campaign: Campaign) -> str:
    left = sum(1 for _ in campaign.state.items.open())
    budget = campaign.settings.budget
    if budget is None:
        return f"{words.counted(left, 'item')} to label" if left else "the next wave"
    done = sum(item.done for item in campaign.state.items.values())
    return f"{words.counted(max(budget - done, left), 'label')} of the budget to go"


def _label_command(campaign: Campaign, storage: str) -> str:
    if not sheet.is_sheet(storage):
        return f"fieldcheck label {shlex.quote(storage)}"
    if next(iter(campaign.state.items.open()), None) is not None:
        return f"fill in the column 'label', then fieldcheck estimate {shlex.quote(storage)}"
    return shlex.join(["fieldcheck", "sample", campaign.view.pool_place, "--out", storage, "--continue"])


def _narrower(found: Estimate) -> tuple[int, str] | None:
    """Labels for the next round half-width, and that; None where all are known, or where it has no scale of its own."""
    half = found.interval.width / 2
    aims = [one for one in HALF_WIDTHS if one <= NARROWER * half]
    if not found.scale.share or not aims or found.labels >= found.population:
        return None
    more = requirement.rounded(
        stopping.more_labels(
            requirement.Look(found.labels, found.value, found.interval), aims[0] / half, found.population
        )
    )
    return min(more, found.population - found.labels), found.scale.distance(aims[0])
