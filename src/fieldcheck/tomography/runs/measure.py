"""Measuring part by part: every outcome is kept as it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from fieldcheck.core import boxes as box
from fieldcheck.core.pool.engine import Engine, Loop
from fieldcheck.core.space import Outcomes
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography import surrogates
from fieldcheck.tomography.plans.base import Plan, Rows
from fieldcheck.tomography.runs.folder import RunFolder, space_record
from fieldcheck.tomography.runs.schedule import Schedule
from fieldcheck.tomography.runs.stopping import Stopping, width_of
from fieldcheck.tomography.setup.executor import Clock
from fieldcheck.tomography.setup.subject import Subject
from fieldcheck.tomography.surrogates.alike import Alike
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.left import ShareLeft
from fieldcheck.tomography.surrogates.measured import WithMeasured

Progress = Callable[[int, int], None]
"""Told how many rows are done, of how many."""


Tell = Callable[[str], None]
"""Told what a person may want to know while waiting."""


Look = Callable[[Outcomes], None]


LOOKED_AT = 1_000
"""Tests whose bands decide when a spread plan may stop."""


PART = 1_024
"""Rows that a worker gets at once."""


@dataclass(frozen=True)
class Workers:
    """Where rows are run, and how a worker there opens the subject, which it does once."""

    engine: Engine
    opened: Callable[[], Subject]


def carried_out(
    schedule: Schedule,
    subject: Subject,
    ledger: RunFolder | None,
    progress: Progress | None,
    look: Look | None = None,
    workers: Workers | None = None,
) -> tuple[Outcomes, IntArray | None]:
    """All outcomes, those that the ledger has already first, and their arrangements where order matters.

    look
        Shown the unperturbed inputs before the rest is spent, and when a run goes on; it may raise.
    workers
        Where all but the unperturbed inputs are run; by default here.
    """
    outcomes, arrangements = (_EMPTY, None) if ledger is None else ledger.read()
    here = Workers(Loop(), lambda: subject)
    clean = len(schedule.unperturbed)
    if look is not None and 0 < clean <= len(outcomes):
        schedule.next(outcomes)  # refuses outcomes of other rows
        look(outcomes.select(np.arange(clean)))
    while True:
        first = len(outcomes) < clean
        there = here if workers is None or first else workers
        parts = schedule.coming(outcomes, schedule.chunk if there is here else PART)
        if not parts:
            return outcomes, arrangements
        job = _Opened(there.opened, subject if there is here else None)
        for (rows, variants), seen in zip(parts, there.engine.map(_observed, parts, job), strict=True):
            found = Outcomes(rows.tests, rows.inputs, seen.held, rows.chance)
            if ledger is not None:
                ledger.add(found, variants, seen.objects)
            if there is not here and subject.clock is not None:
                subject.clock.add(seen.clock)
            outcomes, arrangements = _joined(outcomes, found), _appended(arrangements, variants)
            if look is not None and len(outcomes) == clean:
                look(outcomes)
            if progress is not None:
                progress(len(outcomes), schedule.total(outcomes))


@dataclass(eq=False)
class _Opened:
    """What all parts of a run share; in a worker of its own the subject is opened when its first part comes."""

    opened: Callable[[], Subject]
    subject: Subject | None = None


@dataclass(frozen=True, eq=False)
class _Seen:
    """What came of some rows, and what it took."""

    held: FloatArray
    objects: box.Objects | None
    clock: Clock


def _observed(part: tuple[Rows, IntArray | None], job: _Opened) -> _Seen:
    subject = job.subject = job.subject or job.opened()
    before = replace(subject.clock) if subject.clock is not None else Clock()
    rows, variants = part
    held, objects = subject.observe(rows.tests, rows.inputs, variants)
    return _Seen(held, objects, subject.clock.since(before) if subject.clock is not None else Clock())


@dataclass(frozen=True, eq=False)
class Bands:
    """95 % half-widths of the bands of tests that are spread evenly over the space.

    known
        By number of rows: a schedule asks again whenever it looks at what is next, and a fit takes seconds.
    """

    subject: Subject
    surrogate: str
    seed: int
    alike: Alike | None = None
    tell: Tell | None = None
    known: dict[int, FloatArray] = field(default_factory=dict)

    def __call__(self, outcomes: Outcomes) -> FloatArray:
        if len(outcomes) not in self.known:
            found = self.known[len(outcomes)] = self._of(outcomes)
            if self.tell is not None:
                self.tell(f"half-width after {len(outcomes):,} inferences: {found.mean():.3g} on average")
        return self.known[len(outcomes)]

    @cached_property
    def _left(self) -> ShareLeft | None:
        return self.subject.left()

    def _of(self, outcomes: Outcomes) -> FloatArray:
        space = self.subject.space
        outcomes = outcomes if self.alike is None else self.alike.known(outcomes)
        classes, guess = self.subject.classes, self.subject.guess
        evidence = Evidence(space, outcomes.applicable, classes, guess, self._left, self.alike)
        fitted = surrogates.registry.build(self.surrogate).fit(evidence, seed=self.seed)
        fitted = WithMeasured.of(fitted, outcomes, self.subject.inputs)
        tests = np.unique(np.linspace(0, space.size - 1, min(LOOKED_AT, space.size)).astype(np.int64))
        return 1.96 * fitted.predict(tests)[1]


def head_of(subject: Subject, plan: Plan, **settings: Any) -> dict[str, Any]:
    """Everything that the outcomes depend on, as plain values."""
    return {
        "space": space_record(subject.space),
        "plan": repr(plan),
        "budget": settings["budget"],
        "rule": _rule_record(settings["rule"]),
        "width": width_of(settings["rule"]),
        "earlier": [],
        "surrogate": settings["surrogate"],
        "seed": settings["seed"],
        "ordered": settings["ordered"],
        "subject": dict(subject.digest or {}),
        "inputs": subject.inputs,
        "base": settings["base"],
        "classes": None if subject.classes is None else subject.classes.tolist(),
        "guess": subject.guess,
        "left": left.record() if (left := subject.left()) is not None else None,
        "alike": None if settings["alike"] is None else settings["alike"].record(),
    }


def _rule_record(rule: Stopping | None) -> dict[str, Any] | None:
    """A rule as plain values, without the width that it waits for."""
    if rule is None:
        return None
    return {"name": rule.name, **{name: value for name, value in vars(rule).items() if name != "width"}}


_NONE = np.zeros(0, dtype=np.int64)


_EMPTY = Outcomes(_NONE, _NONE, np.zeros(0))


def _joined(before: Outcomes, after: Outcomes) -> Outcomes:
    if not len(before):
        return after
    columns = ((getattr(one, name) for one in (before, after)) for name in ("tests", "inputs", "held", "chance"))
    return Outcomes(*(np.concatenate(list(pair)) for pair in columns))


def _appended(before: IntArray | None, after: IntArray | None) -> IntArray | None:
    return after if before is None or after is None else np.concatenate([before, after])
