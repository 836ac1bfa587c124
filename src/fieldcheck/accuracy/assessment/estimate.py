"""The estimate of a campaign, with everything a reader needs to judge it."""

from __future__ import annotations

import math

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment.diagnostics import signal_warnings, small_sample_warning
from fieldcheck.accuracy.designs.base import Design, auxiliary_of, spec
from fieldcheck.core import measures
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import Loss
from fieldcheck.core.versions import versions


def estimate(
    labelled: Labelled,
    design: Design,
    *,
    budget: int,
    seed: int,
    level: float = 0.95,
    loss: Loss = "squared",
    truth: float | None = None,
    warnings: tuple[str, ...] = (),
) -> Estimate:
    """The estimate from a labelled sample."""
    found = estimators.estimate(labelled, level=level)
    metric = measures.measure_of(labelled.task, loss).scales[0]
    value = SCALES[metric].of(found.value)
    return Estimate(
        metric=metric,
        value=value,
        interval=found.interval.map(SCALES[metric].of),
        standard_error=math.sqrt(max(found.variance, 0.0)) if not math.isnan(found.variance) else math.nan,
        labels=labelled.labels,
        failures=labelled.failures,
        population=labelled.sample.population,
        task=labelled.task,
        design=spec(design),
        design_title=design.title,
        paper=design.paper,
        auxiliary=auxiliary_of(design) if labelled.sample.frame is None else _named(labelled.sample.frame),
        budget=budget,
        seed=seed,
        mean_loss=found.value,
        loss=loss,
        truth=truth,
        beside=None if found.beside is None else found.beside.map(SCALES[metric].of),
        audit=None if math.isnan(found.audit) else SCALES[metric].of(found.audit),
        warnings=tuple(
            dict.fromkeys((*labelled.sample.warnings, *warnings, *signal_warnings(labelled), *_few(labelled)))
        ),
        versions=versions(),
    )


def _named(frame: Frame) -> str:
    return "+".join(frame.auxiliary) or "none"


def _few(labelled: Labelled) -> tuple[str, ...]:
    exact = isinstance(labelled.sample.draws, EqualDraws) or labelled.labels == labelled.sample.population
    return () if exact else small_sample_warning(labelled.labels)
