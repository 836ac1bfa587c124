"""A requirement held against an estimate."""

from __future__ import annotations

from dataclasses import replace

from fieldcheck.accuracy.assessment.stopping import more_labels
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.interval import Interval
from fieldcheck.core.requirement import Decision, Look, Requirement, Stop


def decide(estimate: Estimate, requirement: Requirement, *, protected: bool = False) -> Decision:
    """Hold an estimate against a requirement, by its interval.

    protected
        Go by the wider interval that also holds where items which look safe fail more often than they should.
    """
    found = estimate.as_metric(requirement.metric)
    interval = found.protected if protected else found.interval
    if interval is None:
        raise FieldcheckError(
            f"'{found.design}' knows no protected interval", rule="waves has one", hint="leave out --protected"
        )
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


def decision_of(stop: Stop, requirement: Requirement) -> Decision:
    """The same from a campaign that allows for a look after every wave."""
    return Decision(requirement, stop.decision, stop.estimate, stop.estimate.interval, more=stop.more)


def too_early(requirement: Requirement, why: str) -> Decision:
    """Where there are too few labels for any interval."""
    return Decision(requirement, "undecided", why=why)
