"""A campaign at one moment, as plain values: how far it is, for all; what it found, for the lead."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fieldcheck.accuracy.assessment import slices
from fieldcheck.accuracy.assessment.development import Point
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.progress import Failure, Progress
from fieldcheck.campaign.state import State
from fieldcheck.core.errors import FieldcheckError, LabelError, SampleError, StoreError
from fieldcheck.core.estimate import Estimate
from fieldcheck.report.campaign import on_scale

GALLERY = 48
"""Failures that are shown; the report has all of them."""


FEW_CLASSES = 20
"""Predicted classes up to which the desk shows each."""


UNSETTLED = 30
"""Items that wait for the lead, as many as are shown at once."""


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
        "people": _people(campaign, state.invited),
        "unsettled": [_unsettled(campaign, name) for name in campaign.view.unsettled()[:UNSETTLED]],
        "slices": [] if estimate is None else _slices(campaign),
        "estimate": None if estimate is None else estimate_json(estimate),
        "change": None if estimate is None else _change(campaign),
        "why": why,
        "failures": _gallery(campaign),
        "development": [] if estimate is None else _development(campaign, estimate, state),
    }
    return Snapshot(state.number, json.dumps(found))


def _gallery(campaign: Campaign) -> list[dict[str, Any]]:
    newest_first = sorted(campaign.failures(), key=lambda failure: failure.at, reverse=True)
    return [_failure(campaign, failure) for failure in newest_first[:GALLERY]]


def _people(campaign: Campaign, invited: Mapping[str, str]) -> list[dict[str, Any]]:
    """What each person did, and whether their link is valid (None: they have none)."""
    return [
        {
            "name": one.name,
            "labels": one.labels,
            "skips": one.skips,
            "seconds": finite(one.seconds),
            "agreement": finite(one.agreement),
            "open": one.open,
            "link": bool(invited[one.name]) if one.name in invited else None,
        }
        for one in campaign.view.annotators()
    ]


def _unsettled(campaign: Campaign, name: str) -> dict[str, Any]:
    """An item that waits for the lead: what it is, and what people said about it; not what the model did."""
    item = campaign.state.items[name]
    content = campaign.view.content(item.position)
    return {
        **content_json(content, item.position),
        "disputed": item.standing == "disputed",
        "label": None if item.label is None else str(item.label),
        "said": [[one.by, "skipped" if one.skipped else str(one.label)] for one in (*item.labels, *item.skips)],
        "flags": [[flag.by, flag.note] for flag in item.flags],
    }


def _slices(campaign: Campaign) -> list[dict[str, Any]]:
    """Parts of the pool by what the model said, where there are few classes."""
    pool = campaign.pool
    if pool.predictions is None or pool.task != "classification" or len(pool.classes) > FEW_CLASSES:
        return []
    try:
        labelled, _ = campaign.view.labelled()
        return [row.to_dict() for row in slices.slices(labelled, pool, "prediction").rows]
    except (LabelError, SampleError):
        return []


def _change(campaign: Campaign) -> dict[str, Any] | None:
    """What the new version does better and worse than the one before; None where there is no one before."""
    found = campaign.view.change() if campaign.settings.task == "classification" else None
    if found is None:
        return None
    lists = {name: [asdict(one) for one in items[:GALLERY]] for name, items in found.both().items()}
    return {"sentence": found.sentence(), **lists}


def _development(campaign: Campaign, estimate: Estimate | Comparison, state: State) -> list[dict[str, float | None]]:
    if isinstance(estimate, Comparison):
        return []
    points = campaign.view.development(state=state)
    return [_point(on_scale(campaign, point, estimate.metric)) for point in points]


def metric_of(campaign: Campaign) -> str:
    """What the desk speaks of: of errors, in the unit of the predictions."""
    settings = campaign.settings
    if settings.task == "classification":
        return "accuracy"
    return {"squared": "rmse", "absolute": "mae"}[settings.loss]


def _estimate(campaign: Campaign, state: State) -> tuple[Estimate | Comparison | None, str]:
    try:
        found = campaign.view.estimate(state=state)
        if isinstance(found, Comparison):
            return found, ""
        return found.as_metric(metric_of(campaign)), ""
    except LabelError as error:
        return None, f"{error.problem}: {error.rule}"
    except StoreError:
        raise
    except FieldcheckError as error:
        return None, error.problem


def _comparison_json(found: Comparison) -> dict[str, Any]:
    """The first pair in numbers, all of them in words."""
    first = found.differences[0]
    return {
        "metric": "difference",
        "what": f"{first.first} against {first.second}" if len(found.differences) == 1 else "comparison so far",
        "value": finite(first.value),
        "shown": found.headline(),
        "low": first.shown(first.interval.low),
        "high": first.shown(first.interval.high),
        "half": None,
        "level": f"{first.interval.level:.0%}".replace("%", " %"),
        "trusted": True,
        "note": "",
        "labels": found.labels,
        "population": found.population,
        "sentence": found.sentence(),
        "said": found.sentence().splitlines(),
        "warnings": list(found.warnings),
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
        "said": list(estimate.notes),
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
