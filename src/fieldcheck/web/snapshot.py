"""What the page shows beside the item, as plain values: the estimate, how it developed, how far the campaign is."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

from fieldcheck.accuracy.assessment.development import Point
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.progress import Failure, Progress
from fieldcheck.core.errors import FieldcheckError, LabelError, StoreError
from fieldcheck.core.estimate import METRICS, Estimate

GALLERY = 48
"""Failures that are shown; the report has all of them."""


FIRST = 2
"""Labels before which nobody asks why there is no estimate."""


EXCERPT = 160
"""Characters of a text in the gallery."""


@dataclass(frozen=True)
class Snapshot:
    """The campaign at one moment, as JSON: written once, however many people look at it.

    number
        Of the last event that went into it.
    state
        Estimate, development and progress, and a word that changes with the gallery.
    gallery
        The newest failures, and how many there are.
    """

    number: int
    state: str
    gallery: str


def snapshot_of(campaign: Campaign) -> Snapshot:
    """Estimate, development, progress and failures. Takes a while: never inside a request that labels."""
    number = campaign.refresh().number
    progress = campaign.progress()
    estimate, why = _estimate(campaign)
    gallery = json.dumps(_gallery(campaign))
    state = {
        "number": number,
        "gallery": hashlib.sha256(gallery.encode()).hexdigest()[:16],
        "progress": _progress(progress),
        "estimate": None if estimate is None else estimate_json(estimate),
        "why": why,
        "development": [] if estimate is None else [_point(point) for point in campaign.view.development()],
    }
    return Snapshot(number, json.dumps(state), gallery)


def _estimate(campaign: Campaign) -> tuple[Estimate | Comparison | None, str]:
    try:
        return campaign.estimate(), ""
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


def estimate_json(estimate: Estimate | Comparison) -> dict[str, Any]:
    """The answer as numbers and in the words that every other face uses."""
    if isinstance(estimate, Comparison):
        return _comparison_json(estimate)
    interval = estimate.interval
    bounds = (interval.low, interval.high)
    known = all(map(math.isfinite, bounds))
    return {
        "metric": estimate.metric,
        "what": METRICS[estimate.metric] if estimate.metric != "accuracy" else "accuracy so far",
        "value": finite(estimate.value),
        "shown": _shown(estimate.value, estimate.metric),
        "low": _shown(interval.low, estimate.metric),
        "high": _shown(interval.high, estimate.metric),
        "half": interval.width / 2 if known else None,
        "level": f"{interval.level:.0%}".replace("%", " %"),
        "trusted": interval.trusted,
        "note": interval.note,
        "labels": estimate.labels,
        "population": estimate.population,
        "sentence": estimate.sentence(),
        "warnings": list(estimate.warnings),
    }


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


def _shown(value: float, metric: str) -> str:
    if metric != "accuracy":
        return f"{value:.4g}"
    return f"{100 * value:.1f} %".replace("-0.0 %", "0.0 %")


def _progress(progress: Progress) -> dict[str, Any]:
    return {
        "drawn": progress.drawn,
        "labelled": progress.labelled,
        "skipped": progress.skipped,
        "disputed": progress.disputed,
        "begun": progress.begun,
        "budget": progress.budget,
        "failures": progress.failures,
        "complete": progress.complete,
        "closed": progress.closed,
        "annotators": dict(progress.annotators),
        "agreement": finite(progress.agreement),
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


def _gallery(campaign: Campaign) -> dict[str, Any]:
    newest_first = sorted(campaign.failures(), key=lambda failure: failure.at, reverse=True)
    shown = [_failure(campaign, failure) for failure in newest_first[:GALLERY]]
    return {"failures": shown, "total": len(newest_first)}


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
        "src": f"/items/{position}" if content.kind == "image" else None,
        "text": content.text,
        "pairs": [list(pair) for pair in content.pairs],
        "note": content.note,
    }
