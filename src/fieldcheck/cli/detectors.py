"""``fieldcheck predict --decoder``: pictures and a detector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldcheck import models
from fieldcheck.accuracy import predict as running
from fieldcheck.cli import options
from fieldcheck.cli.show import Report
from fieldcheck.core import measures
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.pool.pool import Pool

FOLDER = "--out FOLDER"


BATCH = 16
"""Pictures at once: they are larger than what classifiers get."""


def refuse(given: Mapping[str, Any]) -> None:
    """Refuse options that mean nothing for a detector."""
    wrong = next((name for name, value in given.items() if value), None)
    if wrong is not None:
        raise FieldcheckError(
            f"{wrong} with --decoder",
            rule="the pool of a detector has boxes, a confidence and, with --truth, outcomes; it is one file",
            hint=f"leave {wrong} out" if wrong != FOLDER else "--out pool.parquet",
        )


def pool_of(
    opened: models.Opened,
    items: Inputs,
    *,
    decoder: str,
    check: str,
    match: Sequence[str],
    classes: Sequence[str],
    truth: bool,
    trust: bool,
    batch: int,
    told: Report,
) -> Pool:
    right = measures.registry.build(check)
    if not isinstance(right, measures.Detection | measures.DetectionF1):
        raise FieldcheckError(
            f"--check {check} with --decoder", rule="detection or detection-f1", hint="--check detection:share=0.5"
        )
    pairs = _pairs(match)
    names = getattr(items, "classes", ())
    groups = models.ClassGroups.of(pairs.values(), truth=names, model=classes) if pairs else None
    detector = models.Detector.of(opened, items, decoder, groups=groups, trust=trust)
    shown = list(pairs) if pairs else classes
    return running.detected(
        detector, items, check=right, truth=truth, classes=shown, batch=min(batch, BATCH), progress=told
    )


def _pairs(match: Sequence[str]) -> Mapping[str, tuple[list[int | str], list[int | str]]]:
    """Classes of the truth and of the model, by what was written for the former."""
    found = {}
    for one in match:
        true, sign, said = one.partition("=")
        if not sign or not true.strip() or not said.strip():
            raise FieldcheckError(f"--match {one}", rule="classes of the truth = classes of the model: --match 0,3=2,5")
        found[true.strip()] = (_codes(true), _codes(said))
    return found


def _codes(text: str) -> list[int | str]:
    return [int(one) if one.isdecimal() else one for one in options.split_list(text)]
