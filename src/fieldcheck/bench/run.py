"""Run a comparison: every cell once, over several processes, going on where a killed run stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fieldcheck.bench.cells import Bench
from fieldcheck.bench.finished_cells import FinishedCells, key_of
from fieldcheck.bench.plan import Cell, Contender, Offer, Study, cells
from fieldcheck.bench.result import CellResult, Result
from fieldcheck.bench.rows import unique
from fieldcheck.bench.signals import FailureCurve
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.engine import AsDone, Engine
from fieldcheck.core.versions import versions

Progress = Callable[[int, int, Cell], None]
"""Called after each cell with the number of finished cells, the number of all, and the cell."""


def run(
    plan: Study, *, engine: Engine | None = None, progress: Progress | None = None, resume: Path | str | None = None
) -> Result:
    """Measure every cell of the plan.

    engine
        Where; by default here. A worker loads a subject when its first cell comes up; results do not depend on it.
    resume
        Cells found in this file are taken from it, new ones are added to it as soon as they are finished.
    """
    bench = Bench(plan)
    entries = [bench.entry(subject) for subject in plan.sources()]
    lineup, refusals = _able(bench, entries)
    planned, notes = cells(plan, entries, lineup)
    finished = _collect(bench, planned, engine=engine, progress=progress, resume=resume)
    ordered = tuple(finished[cell] for cell in planned)
    leaks = _leaks(bench, planned)
    warnings = unique(text for texts in leaks.values() for text in texts)
    return Result(
        cells=ordered,
        seed=plan.seed,
        level=plan.level,
        leaks=tuple(leaks),
        notes=(*refusals, *notes, *warnings),
        groups=dict(plan.groups),
        curves=_curves(bench, [cell for cell in planned if (cell.subject, cell.auxiliary) not in leaks]),
        versions=versions(),
    )


def _leaks(bench: Bench, planned: Sequence[Cell]) -> dict[tuple[str, str], tuple[str, ...]]:
    """By subject and auxiliary variable, what to say where the variable gives away the outcome."""
    found = {(cell.subject, cell.auxiliary): bench.leak(cell) for cell in planned}
    return {
        (subject, auxiliary): tuple(f"{subject}: {text}; left out of the ranking" for text in texts)
        for (subject, auxiliary), texts in found.items()
        if texts
    }


def _curves(bench: Bench, planned: Sequence[Cell]) -> tuple[FailureCurve, ...]:
    """Of every variable that a technique looked at."""
    used = dict.fromkeys((cell.subject, name) for cell in planned for name in bench.names(cell))
    return tuple(bench.failure_curve(subject, name) for subject, name in used)


def _able(bench: Bench, entries: Sequence[Offer]) -> tuple[list[Contender], tuple[str, ...]]:
    """The techniques that accept their auxiliary variables, and notes on those that do not."""
    able: list[Contender] = []
    notes: list[str] = []
    for contender in bench.lineup:
        hosts = [entry.name for entry in entries if not entry.lacks(contender)]
        refusal = bench.refusal(contender, hosts[0]) if hosts else ""
        if refusal:
            notes.append(f"{contender.spec} is left out with {contender.auxiliary}: {refusal}")
        else:
            able.append(contender)
    if not able:
        raise DesignError("; ".join(notes), rule="a technique takes one auxiliary variable unless it says otherwise")
    return able, tuple(notes)


def _collect(
    bench: Bench,
    planned: Sequence[Cell],
    *,
    engine: Engine | None,
    progress: Progress | None,
    resume: Path | str | None,
) -> dict[Cell, CellResult]:
    kept = None if resume is None else FinishedCells(Path(resume))
    keys = {} if kept is None else {cell: key_of(bench.determinants(cell)) for cell in planned}
    known = {} if kept is None else {cell: kept.find(key) for cell, key in keys.items()}
    finished = {cell: result for cell, result in known.items() if result is not None}
    missing = [cell for cell in planned if cell not in finished]
    for result in _measure(bench, missing, engine):
        finished[result.cell] = result
        if kept is not None:
            kept.add(keys[result.cell], result)
        if progress is not None:
            progress(len(finished), len(planned), result.cell)
    return finished


def _measure(bench: Bench, missing: Sequence[Cell], engine: Engine | None) -> Iterator[CellResult]:
    if engine is None or len(missing) < 2:
        yield from map(bench.measure, missing)
        return
    there = _There(bench.plan)
    if isinstance(engine, AsDone):
        yield from (result for _, result in engine.as_done(_measure_there, missing, there))
    else:
        yield from engine.map(_measure_there, missing, there)


@dataclass
class _There:
    """In a worker process: opened once, so that subjects are loaded once."""

    plan: Study

    @cached_property
    def bench(self) -> Bench:
        return Bench(self.plan)


def _measure_there(cell: Cell, there: _There) -> CellResult:
    return there.bench.measure(cell)
