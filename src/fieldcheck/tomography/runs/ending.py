"""How a run ended: what was spent, why the rest was not, and how narrow the intervals became."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core.space import Outcomes
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.runs.schedule import MOST, Schedule
from fieldcheck.tomography.runs.stopping import width_of


@dataclass(frozen=True)
class Reached:
    """Half-widths at the end of a run that was to go on until they are narrow.

    mean, largest, tests
        Over the tests that were looked at, and how many these are.
    wider
        Tests whose half-width is more than wanted.
    why
        What kept them from it; empty where there are none.
    """

    wanted: float
    mean: float
    largest: float
    tests: int
    wider: int
    why: str = ""

    def __str__(self) -> str:
        head = f"half-width: {self.largest:.3g} at most, {self.mean:.3g} on average, wanted {self.wanted:g}"
        if not self.wider:
            return f"{head}; all {self.tests:,} tests that were looked at reached it"
        return f"{head}; {self.wider:,} of {self.tests:,} tests that were looked at are wider: {self.why}"


@dataclass(frozen=True)
class Ending:
    """What a run came to.

    budget
        Inferences that it was allowed; None for no limit.
    spent
        Inferences that it made.
    unspent
        Why not all were spent; empty where they were.
    reached
        Half-widths, where the run was to stop by them.
    """

    budget: int | None
    spent: int
    unspent: str = ""
    reached: Reached | None = None

    def sentences(self) -> list[str]:
        """For people; nothing where a run simply spent its inferences."""
        found = [str(self.reached)] if self.reached is not None else []
        if self.unspent and self.budget is not None:
            found.append(f"{self.budget - self.spent:,} of {self.budget:,} inferences were not spent: {self.unspent}")
        return found


def ending(schedule: Schedule, outcomes: Outcomes) -> Ending:
    """How a finished run ended."""
    seen = _Seen.of(outcomes, schedule.inputs)
    return Ending(schedule.budget, len(outcomes), _unspent(schedule, seen), _reached(schedule, outcomes, seen))


@dataclass(frozen=True)
class _Seen:
    """Rows, distinct tests, rows of one input, and whether each of the tests ran on all inputs of the data."""

    rows: int
    tests: int
    each: int
    whole: bool

    @classmethod
    def of(cls, outcomes: Outcomes, inputs: int) -> _Seen:
        pairs = len(np.unique(outcomes.tests * inputs + outcomes.inputs))
        tests = len(np.unique(outcomes.tests))
        return cls(len(outcomes), tests, int(np.bincount(outcomes.inputs).max()), pairs == tests * inputs)


def _unspent(schedule: Schedule, seen: _Seen) -> str:
    if schedule.budget is None or seen.rows >= schedule.budget:
        return ""
    by_test = schedule.plan.adds == "tests"
    if seen.whole and (not by_test or seen.tests == schedule.space.size):
        return f"{_each(seen.tests)} ran on all {schedule.inputs:,} inputs"
    if schedule.rule is not None:
        return "the rule was content before"
    if by_test:
        return f"they do not pay for one more test on all {schedule.inputs:,} inputs"
    if schedule.plan.adds == "inputs":
        return f"one more input takes {seen.each:,}, one in each test"
    return "the plan has no more rows" if schedule.alike is None else "no test makes another text of an input"


def _reached(schedule: Schedule, outcomes: Outcomes, seen: _Seen) -> Reached | None:
    wanted = width_of(schedule.rule)
    if wanted is None:
        return None
    widths = schedule.half_widths(outcomes)
    wider = int(np.count_nonzero(widths > wanted))
    why = _why(schedule, seen, widths, wanted) if wider else ""
    return Reached(wanted, float(widths.mean()), float(widths.max()), len(widths), wider, why)


def _why(schedule: Schedule, seen: _Seen, widths: FloatArray, wanted: float) -> str:
    if schedule.budget is not None and seen.rows >= schedule.budget:
        return f"the {schedule.budget:,} inferences were spent"
    if schedule.plan.adds != "rows":
        return "the plan has no more rows"
    if widths.mean() <= wanted:
        return "a spread plan stops by the average"
    return f"a run ends at {MOST:,} inferences" if seen.rows >= MOST else f"{_each(seen.tests)} ran on every input"


def _each(tests: int) -> str:
    return f"each of the {tests:,} tests" if tests > 1 else "the test"
