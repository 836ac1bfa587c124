"""A detector and pictures become a pool: a picture is an item, and right where the check says so."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fieldcheck import models
from fieldcheck.core import measures
from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray
from fieldcheck.sources.pools import arrays

Check = measures.Detection | measures.DetectionF1


DIGITS = 3
"""Of the numbers of boxes."""


def detected(
    detector: models.Detector,
    items: Inputs,
    *,
    check: Check,
    truth: bool = False,
    classes: Sequence[str] = (),
    batch: int = 16,
    progress: Callable[[int, int], None] | None = None,
) -> Pool:
    """The pool of what a detector says about pictures.

    The prediction is in words (``2 car, 1 person``, those boxes that the check looks at); all boxes are in the column
    ``boxes``, as JSON. Confidence is the share of all objects that the detector expects to have found: each box counts
    as much as its score says.

    truth
        Whether the true boxes of the items say which pictures are right; else people do, picture by picture.
    classes
        Names of the model's classes, in order.
    """
    said: list[FloatArray] = []
    for start in range(0, len(items), batch):
        said += detector(items.batch(start, min(start + batch, len(items))))
        if progress is not None:
            progress(len(said), len(items))
    outcome, notes = _outcomes(detector, items, said, check) if truth else (None, ())
    pool = arrays.from_arrays(
        ids=items.ids,
        y_pred=[_words(boxes[boxes[:, 4] >= check.score], classes) for boxes in said],
        confidence=np.array([_confidence(boxes[:, 4], check.score) for boxes in said]),
        outcome=outcome,
        auxiliary={"objects": np.array([(boxes[:, 4] >= check.score).sum() for boxes in said], dtype=np.int64)},
        metadata={"boxes": [_json(boxes) for boxes in said]},
        task="classification",
        name=items.name,
    )
    return replace(pool, notes=(f"right is decided by {check!r}", *notes, *pool.notes))


def _outcomes(
    detector: models.Detector, items: Inputs, said: Sequence[FloatArray], check: Check
) -> tuple[list[str], tuple[str, ...]]:
    """Pass or Fail for each picture, and what to say about it."""
    if items.labels is None:
        raise InputsError(
            f"{items.name}: the true boxes are not known here",
            rule="an npz with boxes and box_offsets, or a column of JSON: [[x0, y0, x1, y1, class]]",
            hint="--label COLUMN; or leave --truth out: people say which pictures are right",
        )
    truths = [detector.true_boxes(label) for label in items.labels]
    empty = sum(not len(boxes) for boxes in truths)
    failed = check.failed(check.losses(said, truths))
    about = f"{empty:,} of {len(truths):,} pictures have no true object that is looked at"
    if isinstance(check, measures.Detection):
        about += ": they are right, whatever was found (--check detection-f1 counts boxes that should not be there)"
    return ["Fail" if one else "Pass" for one in failed], (about,) if empty else ()


def _confidence(scores: FloatArray, least: float) -> float:
    """Of all boxes by their scores, the share of those that are looked at; 1 where nothing is expected."""
    expected = np.clip(scores, 0.0, 1.0)
    return float(expected[scores >= least].sum() / expected.sum()) if expected.any() else 1.0


def _words(boxes: FloatArray, classes: Sequence[str]) -> str:
    """How many of which class, most first."""
    counts = Counter(boxes[:, 5].tolist())
    found = sorted(counts.items(), key=lambda one: (-one[1], str(one[0])))
    return ", ".join(f"{count} {_name(code, classes)}" for code, count in found) or "nothing"


def _name(code: float, classes: Sequence[str]) -> str:
    if np.isnan(code):
        return "object"
    return classes[int(code)] if code < len(classes) else f"of class {code:g}"


def _json(boxes: FloatArray) -> str:
    """Rows ``x0, y0, x1, y1, score, class``; null where the class is not known."""
    rows = [[None if np.isnan(value) else round(value, DIGITS) for value in row] for row in boxes.tolist()]
    return json.dumps(rows)
