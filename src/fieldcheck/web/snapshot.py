"""A campaign at one moment, as plain values: how far it is, for all; what it found, for the lead."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fieldcheck.accuracy.assessment.development import Point
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.progress import Failure, Progress
from fieldcheck.campaign.state import State
from fieldcheck.core.errors import FieldcheckError, LabelError, StoreError
from fieldcheck.core.estimate import Estimate

GALLERY = 48
"""Failures that are shown; the report has all of them."""


FIRST = 2
"""Labels before which nobody asks why there is no estimate."""


EXCERPT = 160
"""Characters of a text in the gallery."""


@dataclass(frozen=True)
class Snapshot:
    """Something about the campaign at one moment, as JSON: written once, however many people look at it.

    number
        Of the last event that went into it.
    """

    number: int
    text: str


def progress_json(campaign: Campaign) -> Snapshot:
    """How far the campaign is, for people who label: nothing that depends on what the model said."""
    number, progress = campaign.refresh().number, campaign.progress()
    return Snapshot(number, json.dumps({"number": number, "progress": _progress(progress)}))


def desk_json(campaign: Campaign) -> Snapshot:
    """Estimate, development, failures, progress and people, for the lead. Takes a while: never inside a request."""
    state, progress = campaign.refresh(), campaign.progress()
    estimate, why = _estimate(campaign, state)
    found = {
        "number": state.number,
        "progress": {**_progress(progress), "failures": progress.failures, "agreement": finite(progress.agreement)},
        "people": _people(state.invited, progress.annotators),
        "estimate": None if estimate is None else estimate_json(estimate),
        "why": why,
        "failures": _gallery(campaign),
        "development": [] if estimate is None else [_point(point) for point in campaign.view.development(state=state)],
    }
    return Snapshot(state.number, json.dumps(found))


def _gallery(campaign: Campaign) -> list[dict[str, Any]]:
    newest_first = sorted(campaign.failures(), key=lambda failure: failure.at, reverse=True)
    return [_failure(campaign, failure) for failure in newest_first[:GALLERY]]


def _people(invited: Mapping[str, str], labels: Mapping[str, int]) -> list[dict[str, Any]]:
    """Everyone who labelled or was invited: how many labels, and whether their link is valid (None: they have none)."""
    return [
        {"name": name, "labels": labels.get(name, 0), "link": bool(invited[name]) if name in invited else None}
        for name in sorted({*labels, *invited}, key=lambda name: (-labels.get(name, 0), name))
    ]


def _estimate(campaign: Campaign, state: State) -> tuple[Estimate | Comparison | None, str]:
    try:
        return campaign.view.estimate(state=state), ""
    except LabelError as error:
        return None, _too_few(campaign) if campaign.progress().labelled < FIRST else f"{error.problem}: {error.rule}"
    except StoreError:
        raise
    except FieldcheckError as error:
        return None, error.problem


def _too_few(campaign: Campaign) -> str:
    wanted = campaign.settings.labels_per_item
    if wanted == 1:
        return "It comes with the first labels of the list."
    return f"It comes when the first items of the list have labels of {wanted} people."


def _comparison_json(found: Comparison) -> dict[str, Any]:
    """The first pair in numbers, all of them in words."""
    first = found.differences[0]
    return {
        "metric": "difference",
        "what": f"{first.first} against {first.second}" if len(found.differences) == 1 else "comparison so far",
        "value": finite(first.value),
        "shown": found.headline(),
        "low": f"{first.interval.low:+.4f}",
        "high": f"{first.interval.high:+.4f}",
        "half": None,
        "level": f"{first.interval.level:.0%}".replace("%", " %"),
        "trusted": True,
        "note": "",
        "labels": found.labels,
        "population": found.population,
        "sentence": found.sentence(),
        "warnings": [*found.sentence().splitlines(), *found.warnings],
    }


def estimate_json(estimate: Estimate | Comparison) -> dict[str, Any]:
    """The answer as numbers and in the words that every other face uses."""
    if isinstance(estimate, Comparison):
        return _comparison_json(estimate)
    interval = estimate.interval
    bounds = (interval.low, interval.high)
    known = all(map(math.isfinite, bounds))
    return {
        "metric": estimate.metric,
        "what": estimate.scale.words if estimate.metric != "accuracy" else "accuracy so far",
        "value": finite(estimate.value),
        "shown": estimate.scale.shown(estimate.value),
        "low": estimate.scale.shown(interval.low),
        "high": estimate.scale.shown(interval.high),
        "half": interval.width / 2 if known else None,
        "level": f"{interval.level:.0%}".replace("%", " %"),
        "trusted": interval.trusted,
        "note": interval.note,
        "labels": estimate.labels,
        "population": estimate.population,
        "sentence": estimate.sentence(),
        "warnings": list(estimate.warnings),
    }


def _progress(progress: Progress) -> dict[str, Any]:
    return {
        "drawn": progress.drawn,
        "labelled": progress.labelled,
        "skipped": progress.skipped,
        "disputed": progress.disputed,
        "begun": progress.begun,
        "budget": progress.budget,
        "complete": progress.complete,
        "closed": progress.closed,
    }


def _point(point: Point) -> dict[str, float | None]:
    return {
        "labels": point.labels,
        "value": finite(point.value),
        "low": finite(point.low),
        "high": finite(point.high),
        "failures": point.failures,
    }


def finite(value: float) -> float | None:
    """A number that JSON knows."""
    return value if math.isfinite(value) else None


def _failure(campaign: Campaign, failure: Failure) -> dict[str, Any]:
    """One picture of the gallery."""
    content = campaign.view.content(failure.position)
    return {
        **content_json(content, failure.position),
        "text": _excerpt(content),
        "pairs": [],
        "label": str(failure.label),
        "prediction": failure.prediction,
        "by": failure.by,
    }


def _excerpt(content: Content) -> str:
    words = content.text or "\n".join(f"{name}: {value}" for name, value in content.pairs)
    return words if len(words) <= EXCERPT else words[:EXCERPT] + "…"


def content_json(content: Content, position: int) -> dict[str, Any]:
    """An item as the page draws it; its picture is fetched by its place in the pool, never by a path."""
    return {
        "id": content.name,
        "kind": content.kind,
        "src": f"items/{position}" if content.kind == "image" else None,
        "text": content.text,
        "pairs": [list(pair) for pair in content.pairs],
        "note": content.note,
    }
