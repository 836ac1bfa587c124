"""One campaign on a field: draw, look up the labels, estimate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment.certify import CertifyingBets
from fieldcheck.accuracy.assessment.diagnostics import leak_warning
from fieldcheck.accuracy.assessment.estimate import estimate
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.assessment.stopping import (
    Certify,
    HalfWidth,
    StopRule,
    concluded,
    first_look,
    open_ended,
    until_settled,
)
from fieldcheck.accuracy.designs import Waves
from fieldcheck.accuracy.designs import base as designs
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core import words
from fieldcheck.core.errors import BudgetError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.requirement import Look, Requirement, Stop
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import IntArray, Loss
from fieldcheck.numerics.sampling import schedule


def simulate_accuracy(
    pool: Pool | str | Path,
    design: Design | str = "waves",
    *,
    budget: int,
    seed: int = 0,
    auxiliary: str | None = None,
    level: float = 0.95,
    loss: Loss = "squared",
    threshold: float | None = None,
    activations: npt.NDArray[Any] | None = None,
) -> Estimate:
    """Simulate one campaign on a pool whose truth is known, and show the estimate beside the truth."""
    pool = sources.load(pool)
    pool.check_budget(budget)
    chosen = build_design(design, auxiliary)
    names = auxiliary_names(chosen, pool)
    matrix = activations if chosen.needs == "activations" else None
    field = Field.of(pool, auxiliary=names, loss=loss, threshold=threshold, activations=matrix)
    labelled = play(field, chosen, budget=budget, seed=seed)
    everything = np.arange(len(pool))
    leaks = [text for name in names for text in leak_warning(pool, name, items=everything, failed=field.failed)]
    return estimate(
        labelled,
        chosen,
        budget=budget,
        seed=seed,
        level=level,
        loss=loss,
        truth=field.truth,
        warnings=tuple(leaks),
    )


@dataclass(frozen=True, eq=False)
class Repetition:
    """What a repetition of a comparison keeps.

    failures
        Failing draws, as the papers count them: with replacement, an item that is drawn twice counts twice.
    exposed
        Distinct failing items: what the next training round gets.
    items
        The distinct items labelled.
    """

    value: float
    low: float
    high: float
    trusted: bool
    failures: int
    exposed: int
    labels: int
    items: IntArray


def play(field: Field, design: Design, *, budget: int, seed: int) -> Labelled:
    """The labelled sample of one campaign."""
    sample = design.draw(field.frame, field.losses, budget=budget, seed=seed)
    return Labelled(sample, field.losses[sample.items], field.failed[sample.items], field.frame.task)


def repetition(field: Field, design: Design, *, budget: int, seed: int, level: float = 0.95) -> Repetition:
    """One campaign, as one point of a comparison."""
    labelled = play(field, design, budget=budget, seed=seed)
    found = estimators.estimate(labelled, level=level)
    interval = found.interval.map(SCALES[field.metric].of)
    items = np.unique(labelled.sample.items)
    return Repetition(
        value=SCALES[field.metric].of(found.value),
        low=interval.low,
        high=interval.high,
        trusted=interval.trusted,
        failures=int(np.count_nonzero(labelled.failed)),
        exposed=int(np.count_nonzero(field.failed[items])),
        labels=len(items),
        items=items,
    )


ENOUGH = 5000
"""Labels at which to give up, unless told otherwise."""


def simulate_until(
    pool: Pool | str | Path,
    rule: StopRule,
    design: Design | str = "waves",
    *,
    max_labels: int | None = None,
    seed: int = 0,
    auxiliary: str | None = None,
    level: float = 0.95,
    loss: Loss = "squared",
    threshold: float | None = None,
) -> Stop:
    """Simulate a campaign on a pool whose truth is known, until the rule is settled.

    max_labels
        Where to give up: 5,000, or the whole of a smaller pool.
    threshold
        Regression: an absolute error over this counts as a failure found.
    """
    pool = sources.load(pool)
    if isinstance(rule, HalfWidth):
        rule.check_for(pool.task)
    chosen = build_design(design, auxiliary)
    if isinstance(rule, Certify) and design == chosen.name == Waves.name and pool.task == "classification":
        chosen = CertifyingBets(rule.threshold, auxiliary or "auto")
    names = auxiliary_names(chosen, pool)
    field = Field.of(pool, auxiliary=names, loss=loss, threshold=threshold)
    everything = np.arange(len(pool))
    leaks = [text for name in names for text in leak_warning(pool, name, items=everything, failed=field.failed)]
    most = min(len(pool), ENOUGH) if max_labels is None else max_labels
    return run_until(field, chosen, rule, max_labels=most, seed=seed, level=level, warnings=tuple(leaks))


def run_until(
    field: Field,
    design: Design,
    rule: StopRule,
    *,
    max_labels: int,
    seed: int = 0,
    level: float = 0.95,
    warnings: tuple[str, ...] = (),
) -> Stop:
    """Simulate a campaign that labels until the rule is settled, or ``max_labels`` are spent."""
    if not 2 <= max_labels <= field.frame.size:
        raise BudgetError(
            f"at most {words.counted(max_labels, 'label')} for a pool of {words.counted(field.frame.size, 'item')}",
            rule=f"at least 2, and at most the size of the pool, {field.frame.size:,}",
            hint=f"--max-labels {min(max(max_labels, 2), field.frame.size)}",
        )
    if isinstance(design, CertifyingBets):
        return certified(field, design, max_labels=max_labels, seed=seed, level=level, warnings=warnings)
    chosen = open_ended(design, rule, field.frame)
    loss: Loss = "absolute" if field.metric == "mae" else "squared"
    at_once = chosen.ends(max_labels) == [max_labels]
    ends, looks = [min(schedule.OPEN_FIRST, max_labels) if at_once else chosen.ends(max_labels)[0]], list[Look]()
    whole = play(field, chosen, budget=max_labels, seed=seed) if at_once else None
    while True:
        if whole is not None:
            labelled = first_look(whole, ends[-1])
        else:
            labelled = play(field, designs.extended(chosen, tuple(ends[:-1])), budget=ends[-1], seed=seed)
        looks += until_settled(labelled, rule, after=looks[-1].labels if looks else 0, level=level, loss=loss)
        if rule.decision(looks[-1]) != "undecided" or ends[-1] == max_labels:
            break
        ends.append(min(ends[-1] + rule.wave(looks[-1]), max_labels))
    at_stop = first_look(labelled, looks[-1].labels)
    found = estimate(
        at_stop,
        chosen,
        budget=max_labels,
        seed=seed,
        level=level,
        loss=loss,
        truth=field.truth,
        warnings=warnings,
    )
    return concluded(rule, looks, found)


def certified(
    field: Field, design: CertifyingBets, *, max_labels: int, seed: int, level: float, warnings: tuple[str, ...] = ()
) -> Stop:
    """Simulate a campaign of bets, until something is proven or ``max_labels`` are spent."""
    error = 1 - level
    for budget in design.ends(max_labels):
        labelled = play(field, design, budget=budget, seed=seed)
        bets = estimators.replayed(labelled)
        if bets.claim(error=error) is not None:
            break
    # A claim that was made stays made: the first label with one is found by bisection.
    low, high = (1, len(labelled.sample)) if bets.claim(error=error) else (len(labelled.sample),) * 2
    while low < high:
        middle = (low + high) // 2
        proven = estimators.replayed(first_look(labelled, middle)).claim(error=error)
        low, high = (low, middle) if proven else (middle + 1, high)
    at_stop = first_look(labelled, max(low, 2))
    bets = estimators.replayed(at_stop)
    claim = bets.claim(error=error)
    found = estimate(at_stop, design, budget=max_labels, seed=seed, level=level, truth=field.truth, warnings=warnings)
    return Stop(
        decision="undecided" if claim is None else "passed" if claim == "at least" else "failed",
        estimate=found,
        looks=(Look(len(at_stop.sample), found.value, found.interval),),
        aim=Requirement("accuracy", design.threshold),
        more=0 if claim else bets.to_go(error=error) or field.frame.size - len(at_stop.sample),
    )
