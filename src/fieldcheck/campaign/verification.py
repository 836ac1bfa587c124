"""Whether a campaign is what it says: its events are whole, its pool is the one, and a replay leads to the same."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.kept_state import as_text
from fieldcheck.campaign.log import EventLog
from fieldcheck.campaign.places import find_pool
from fieldcheck.campaign.questions import question_of
from fieldcheck.campaign.state import State, fold
from fieldcheck.campaign.stores import fingerprint, open_store
from fieldcheck.campaign.stores.base import Event, Store
from fieldcheck.campaign.view import CampaignView
from fieldcheck.core.errors import CampaignError, DamageError, DesignError, LabelError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool.pool import Pool

CLOSE = 1e-9
"""Relative difference that rounding makes between machines: sums of floats, in another order. Items are equal."""


@dataclass(frozen=True)
class Finding:
    """What one check found.

    holds
        None where it could not be checked.
    """

    name: str
    holds: bool | None
    words: str


@dataclass(frozen=True)
class Verification:
    """What all checks found.

    events, digest
        How many there are, and the fingerprint of them all: that of a copy on another machine is the same.
    estimate
        From the replay; None where there are too few labels, or where there was none.
    """

    events: int
    digest: str
    findings: tuple[Finding, ...]
    estimate: Estimate | Comparison | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.holds is not False for finding in self.findings)


def verify(storage: str | Path, *, pool: Pool | str | Path | None = None) -> Verification:
    """Check a campaign; no event is added, and it may be in use meanwhile.

    pool
        Where it is, if it was moved. A pool that cannot be found or read is an error, not a finding.
    """
    with contextlib.closing(open_store(storage)) as store:
        try:
            events = store.read()
        except DamageError as error:
            return Verification(0, "", (Finding("events", False, str(error)),))
        return _of_events(store, events, pool)


def _of_events(store: Store, events: Sequence[Event], given: Pool | str | Path | None) -> Verification:
    whole = Finding("events", True, f"all {len(events):,} are there, as they were stored")
    log = EventLog(store)
    state = fold(events)
    found = find_pool(state, given, store.path)
    findings = [whole, _kept(log, state), _pool(found, state, store.path)]
    estimate = None
    if findings[-1].holds:
        replayed, estimate = _replay(log, found, events)
        findings += replayed
    return Verification(len(events), fingerprint(events), tuple(findings), estimate)


def _kept(log: EventLog, state: State) -> Finding:
    """Programs start from a state that was kept: it is what the events add up to, if nobody labelled meanwhile."""
    if log.state.number != state.number:
        return Finding("state", None, "not compared: the campaign went on meanwhile")
    same = as_text(log.state) == as_text(state)
    return Finding("state", same, f"what programs start from is {'' if same else 'NOT '}what the events add up to")


def _pool(pool: Pool, state: State, file: Path | None) -> Finding:
    """With all that the question needs beside it: pools of other models, an earlier campaign."""
    same = question_of(state.settings, pool, file).digest() == state.settings.pool_digest
    return Finding("pool", same, f"{'' if same else 'NOT '}the one that the campaign was started on")


def _replay(log: EventLog, pool: Pool, events: Sequence[Event]) -> tuple[list[Finding], Estimate | Comparison | None]:
    """Draw everything again, as if for the first time, and estimate from that."""
    try:
        again = redrawn(CampaignView(log, pool, clock=time.time), events)
    except DesignError as error:
        return [Finding("draws", None, f"cannot be drawn again: {error.problem}")], None
    except (CampaignError, SampleError) as error:
        return [Finding("draws", False, f"NOT drawn again: {error.problem}")], None
    stored = [event for event in events if event.kind == "drawn"]
    fresh = [event for event in again if event.kind == "drawn"]
    other = next((at for at, pair in enumerate(zip(stored, fresh, strict=True)) if not _same_draw(*pair)), None)
    if other is not None:
        number = stored[other].number
        return [Finding("draws", False, f"NOT the same: event {number} draws other items, or with other chances")], None
    same = Finding("draws", True, f"drawn again {len(stored):,} times, with the same items and chances")
    finding, estimate = _estimate(log, pool, events, again)
    return [same, finding], estimate


def redrawn(view: CampaignView, events: Sequence[Event]) -> list[Event]:
    """The same events, with what the design draws now in the place of what it drew."""
    state, found, before = fold(events[:1]), [events[0]], 1
    for at, event in enumerate(events):
        if event.kind == "drawn":
            state = fold(events[before:at], state)
            found += [*events[before:at], replace(view.next_draw(state), number=event.number, at=event.at)]
            state, before = fold([event], state), at + 1
    return [*found, *events[before:]]


def _same_draw(one: Event, other: Event) -> bool:
    """Facts of the prior are compared where they were kept: what was drawn does not depend on that."""
    kept = bool(one.data["sample"]["draws"].get("facts"))
    return one.key == other.key and _alike(*(_with_facts(event.data, kept=kept) for event in (one, other)))


def _with_facts(data: Mapping[str, Any], *, kept: bool) -> Mapping[str, Any]:
    sample = data["sample"]
    draws = {name: value for name, value in sample["draws"].items() if kept or name != "facts"}
    return {**data, "sample": {**sample, "draws": draws}}


def _alike(one: Any, other: Any) -> bool:
    """Equal, but for rounding."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, (float, int)):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def _estimate(
    log: EventLog, pool: Pool, events: Sequence[Event], again: Sequence[Event]
) -> tuple[Finding, Estimate | Comparison | None]:
    views = (CampaignView(log, pool, clock=time.time) for _ in range(2))  # a view remembers what it found
    try:
        stored, fresh = (view.estimate_of(fold(one)) for view, one in zip(views, (events, again), strict=True))
    except LabelError as error:
        return Finding("estimate", None, f"none yet: {error.problem}"), None
    same = _alike(_numbers(stored), _numbers(fresh))
    words = fresh.sentence()
    return Finding("estimate", same, words if same else f"NOT the same: {stored.sentence()} Replayed: {words}"), fresh


def _numbers(estimate: Estimate | Comparison) -> tuple[float, ...]:
    if isinstance(estimate, Comparison):
        return tuple(
            number for one in estimate.differences for number in (one.value, one.interval.low, one.interval.high)
        )
    return estimate.value, estimate.interval.low, estimate.interval.high, float(estimate.labels)
