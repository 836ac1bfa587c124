"""Where cells are measured: the subjects of a plan, each loaded and prepared once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy.assessment import simulate
from fieldcheck.accuracy.assessment.diagnostics import leak_warning
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import base as designs
from fieldcheck.bench.offsets import OffsetBins
from fieldcheck.bench.plan import Cell, Contender, Offer, Study, contenders
from fieldcheck.bench.result import CellResult
from fieldcheck.bench.rows import unique
from fieldcheck.bench.signals import FailureCurve
from fieldcheck.core.errors import BenchError, DesignError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.versions import versions
from fieldcheck.files.damage import decoding


class Bench:
    """The subjects of a plan and the techniques that are compared on them.

    Loading and preparing are remembered (auxiliary variables, k-means partitions), results never are: a cell
    gives the same numbers in whichever bench, and after whichever cells, it is measured.
    """

    def __init__(self, plan: Study) -> None:
        self.plan = plan
        self.lineup = contenders(plan)
        self._seeds = plan.seeds()
        self._sources = plan.sources()
        self._fields: dict[str, Field] = {}
        self._leaks: dict[tuple[str, str], tuple[str, ...]] = {}
        self._bins: dict[str, OffsetBins | None] = {}

    def entry(self, subject: str) -> Offer:
        """What the subject offers."""
        field = self.field(subject)
        return Offer(
            name=subject,
            size=field.frame.size,
            auxiliaries=frozenset(field.frame.auxiliary),
            activations=field.frame.activations is not None,
        )

    def field(self, subject: str) -> Field:
        """The subject, ready to be simulated on."""
        if subject not in self._fields:
            self._fields[subject] = self._prepare(subject)
        return self._fields[subject]

    def measure(self, cell: Cell) -> CellResult:
        """All repetitions of a cell."""
        field, design = self.field(cell.subject), self._design(cell)
        bins = self._offset_bins(cell.subject)
        start = time.process_time()
        outcomes = [
            simulate.repetition(field, design, budget=cell.budget, seed=seed, level=self.plan.level)
            for seed in self._seeds
        ]
        seconds = time.process_time() - start
        return CellResult(
            cell=cell,
            task=field.frame.task,
            truth=field.truth,
            failing=int(field.failed.sum()),
            values=np.array([one.value for one in outcomes]),
            low=np.array([one.low for one in outcomes]),
            high=np.array([one.high for one in outcomes]),
            trusted=np.array([one.trusted for one in outcomes], dtype=np.bool_),
            failures=np.array([one.failures for one in outcomes], dtype=np.int64),
            exposed=np.array([one.exposed for one in outcomes], dtype=np.int64),
            labels=np.array([one.labels for one in outcomes], dtype=np.int64),
            cpu_seconds=seconds,
            **_histogram(bins, outcomes),
        )

    def determinants(self, cell: Cell) -> dict[str, Any]:
        """All that the numbers of a cell depend on, as plain values."""
        plan = self.plan
        return {
            "cell": list(cell),
            "design": repr(self._design(cell)),
            "data": self._digest(cell),
            "seed": plan.seed,
            "repetitions": plan.repetitions,
            "level": plan.level,
            "offset_scale": plan.offset_scale,
            "fieldcheck": versions()["fieldcheck"],
        }

    def refusal(self, contender: Contender, subject: str) -> str:
        """Why the technique cannot take several auxiliary variables together; empty when it can."""
        if "+" not in contender.auxiliary and contender.auxiliary != "auto":
            return ""
        try:
            budget = min(self.plan.budgets)
            simulate.repetition(self.field(subject), contender.design, budget=budget, seed=0, level=self.plan.level)
        except DesignError as error:
            return error.problem
        return ""

    def leak(self, cell: Cell) -> tuple[str, ...]:
        """What to say where an auxiliary variable of this cell gives away the outcome; else nothing."""
        return tuple(text for name in self.names(cell) for text in self._leaks.get((cell.subject, name), ()))

    def failure_curve(self, subject: str, name: str) -> FailureCurve:
        """How failing goes with one auxiliary variable of a subject."""
        field = self.field(subject)
        return FailureCurve.of(subject, name, field.frame.values(name), field.failed)

    def _design(self, cell: Cell) -> designs.Design:
        return next(one.design for one in self.lineup if (one.spec, one.auxiliary) == (cell.design, cell.auxiliary))

    def names(self, cell: Cell) -> list[str]:
        """The auxiliary variables that the technique of this cell looks at."""
        return designs.auxiliaries_of(self._design(cell), self.field(cell.subject).frame.helpful())

    def _prepare(self, subject: str) -> Field:
        source = self._sources[subject]
        pool = sources.load(source, truth=self.plan.truth) if isinstance(source, Path) else source
        names = [name for name in self._wanted(pool) if _has(pool, name)]
        field = Field.of(
            pool,
            auxiliary=names,
            loss=self.plan.loss,
            threshold=self.plan.threshold,
            activations=self._activations(subject),
        )
        everything = np.arange(field.frame.size)
        for name in names:
            self._leaks[subject, name] = leak_warning(pool, name, items=everything, failed=field.failed)
        return field

    def _wanted(self, pool: Pool) -> tuple[str, ...]:
        return unique(
            name for one in self.lineup for name in designs.auxiliaries_of(one.design, derived.automatic(pool))
        )

    def _activations(self, subject: str) -> npt.NDArray[Any] | None:
        path = self.plan.activations.get(subject)
        if path is None:
            return None
        rule = f"activations of '{subject}': a .npy file with one row per item and one column per neuron"
        with decoding(path, BenchError, rule=rule):
            loaded: npt.NDArray[Any] = np.load(path, allow_pickle=False)
        return loaded

    def _offset_bins(self, subject: str) -> OffsetBins | None:
        if subject not in self._bins:
            offsets = self.field(subject).offsets
            self._bins[subject] = None if offsets is None else OffsetBins.of(offsets, self.plan.offset_scale)
        return self._bins[subject]

    def _digest(self, cell: Cell) -> str:
        """Of the columns that this cell uses: a file may gain others without losing finished cells."""
        field, activated = self.field(cell.subject), self._design(cell).needs == "activations"
        return field.frame.memo(
            ("bench digest", cell.auxiliary, activated),
            lambda: _hash(field, self.names(cell), field.frame.activations if activated else None),
        )


def _hash(field: Field, names: Sequence[str], activations: npt.NDArray[Any] | None) -> str:
    columns = [field.frame.predictions, *(field.frame.values(name) for name in names)]
    whole = hashlib.sha256(field.frame.task.encode())
    for values in (field.losses, field.failed, field.offsets, *columns, activations):
        whole.update(b"-" if values is None else np.ascontiguousarray(values).tobytes())
    return whole.hexdigest()


def _has(pool: Pool, name: str) -> bool:
    """Whether there is such a variable; an unusable one counts, so that it is refused with the reason."""
    return name in derived.names(pool) or name in {column.strip().lower() for column in pool.columns}


def _histogram(bins: OffsetBins | None, outcomes: Sequence[simulate.Repetition]) -> dict[str, Any]:
    if bins is None:
        return {}
    return {"offsets": np.stack([bins.count(one.items) for one in outcomes]), "offset_edges": bins.edges}
