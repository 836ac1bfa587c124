"""A requirement held against an estimate."""

from __future__ import annotations

from dataclasses import replace

from fieldcheck.accuracy.assessment.stopping import more_labels
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.interval import Interval
from fieldcheck.core.requirement import Decision, Look, Requirement


def decide(estimate: Estimate, requirement: Requirement) -> Decision:
    """Hold an estimate against a requirement: by its protected interval, where it has one, whatever its objective."""
    found = estimate.as_metric(requirement.metric)
    interval = found.protected or found.interval
    if not interval.trusted:
        why = f"the interval cannot be trusted: {interval.note or 'its weights are too uneven'}"
        return Decision(requirement, "undecided", found, interval, why=why)
    decision = replace(requirement.decide(interval), estimate=found)
    return replace(decision, more=_more(found, interval, requirement)) if decision.word == "undecided" else decision


def _more(found: Estimate, interval: Interval, requirement: Requirement) -> int:
    """The bound on the side of the requirement must come as near to the estimate as the requirement is."""
    gap = found.value - requirement.bound
    reach = found.value - (interval.low if gap > 0 else interval.high)
    shrink = max(gap / reach, 0.0) if reach else 0.0
    return more_labels(Look(found.labels, found.value, interval), shrink, found.population)


def too_early(requirement: Requirement, why: str) -> Decision:
    """Where there are too few labels for any interval."""
    return Decision(requirement, "undecided", why=why)
