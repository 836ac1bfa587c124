"""A run: what a folder of outcomes says, and how it comes about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.core import boxes as box
from fieldcheck.core.errors import QueryError, SpaceError
from fieldcheck.core.space import Answer, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.files import npz, schema
from fieldcheck.files.damage import decoding
from fieldcheck.files.whole import whole_file
from fieldcheck.tomography import surrogates
from fieldcheck.tomography.answers.arranged import Orders, in_order
from fieldcheck.tomography.answers.ask import ask, drawn_rows
from fieldcheck.tomography.answers.fit_file import fitted
from fieldcheck.tomography.answers.higher_orders import HigherOrders, higher_orders
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.plans.base import Plan
from fieldcheck.tomography.query import Query, parse
from fieldcheck.tomography.runs.ending import Ending, ending
from fieldcheck.tomography.runs.folder import BACKUP, HEAD, RunFolder, space_of
from fieldcheck.tomography.runs.measure import Bands, Look, Progress, Tell, Workers, carried_out, head_of
from fieldcheck.tomography.runs.schedule import Schedule, Stage
from fieldcheck.tomography.runs.stopping import Stopping
from fieldcheck.tomography.setup.scenes import LEAST_LEFT
from fieldcheck.tomography.setup.subject import Subject
from fieldcheck.tomography.surrogates.alike import Alike
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate
from fieldcheck.tomography.surrogates.left import ShareLeft
from fieldcheck.tomography.surrogates.measured import WithMeasured

NEEDED: schema.Schema = {
    "space": list,
    "guess": schema.NUMBER,
    "surrogate": str,
    "seed": int,
    "inputs": int,
    "classes": list | None,
    "budget": int | None,
    "width": schema.NUMBER | None,
    "earlier": list,
    "left": dict | None,
    "alike": str | None,
}
"""What a head says."""


@dataclass(frozen=True, eq=False)
class Run:
    """What a folder of outcomes says.

    classes, guess
        As in ``Evidence``.
    arrangements
        Where the order of perturbations matters, the rank of each row's order.
    inputs
        Number of inputs of the data; 0 where it is not known.
    ending
        How it ended; None where it was opened from a folder.
    kept
        Where the fitted surrogate is kept for the next time that the run is opened; None fits it anew.
    left
        The share of the inputs with an object left in each test, where the truth is boxes.
    rows, objects
        All rows, also those in which nothing was left that could be found: ``outcomes`` are without them. Single
        objects, by row, where they were kept.
    draws
        Rows that were drawn, where ``outcomes`` are some of them only.
    alike
        Which tests make the same of an input, where the model was asked once about it.
    """

    space: Space
    outcomes: Outcomes
    classes: IntArray | None = None
    guess: float = 0.0
    surrogate: str = "auto"
    seed: int = 0
    arrangements: IntArray | None = None
    folder: Path | None = None
    inputs: int = 0
    ending: Ending | None = None
    kept: Path | None = None
    left: ShareLeft | None = None
    rows: Outcomes | None = None
    objects: box.Objects | None = None
    draws: int | None = None
    alike: Alike | None = None

    @classmethod
    def open(cls, folder: str | Path, *, surrogate: str | None = None) -> Run:
        """The run in a folder, finished or not."""
        ledger = RunFolder.open(folder)
        head = schema.checked(ledger.head(), NEEDED, Path(folder) / HEAD, SpaceError, hint=BACKUP)
        outcomes, arrangements = ledger.read()
        if not len(outcomes):
            raise SpaceError(f"{folder} has no outcomes yet", rule="run it first", hint="tomography run --resume")
        space = space_of(head["space"], Path(folder) / HEAD)
        with decoding(Path(folder) / HEAD, SpaceError, rule="only --resume writes to it", hint=BACKUP):
            left = ShareLeft.of_record(head["left"], space, int(head["inputs"]))
            alike = Alike.of_record(head["alike"], space.size, int(head["inputs"]))
        _refuse_nothing(outcomes, folder)
        return cls(
            space=space,
            outcomes=outcomes.applicable,
            classes=_classes(head, Path(folder) / HEAD),
            guess=float(head["guess"]),
            surrogate=surrogate or str(head["surrogate"]),
            seed=int(head["seed"]),
            arrangements=None if arrangements is None else arrangements[~np.isnan(outcomes.held)],
            folder=Path(folder),
            inputs=int(head["inputs"]),
            kept=Path(folder) / "surrogate.npz",
            left=left,
            rows=outcomes,
            objects=ledger.objects(),
            alike=alike,
        )

    @cached_property
    def known(self) -> Outcomes:
        """The outcomes, and those that follow from them because a test makes the same of an input."""
        return self.outcomes if self.alike is None else self.alike.known(self.outcomes)

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.space, self.known, self.classes, self.guess, self.left, self.alike)

    @cached_property
    def fitted(self) -> FittedSurrogate:
        """The surrogate, fitted to all outcomes."""
        if not self.outcomes.tests.any():
            raise SpaceError(
                "only unperturbed inputs were measured",
                rule="the run ended before its first perturbed input",
                hint="tomography run as before with --resume",
            )
        chosen = surrogates.registry.build(self.surrogate)
        found = fitted(chosen, self.evidence, seed=self.seed, path=self.kept)
        return (
            found
            if self.arrangements is not None
            else WithMeasured.of(found, self.known if self.rows is None or self.alike else self.rows, self.inputs)
        )

    @property
    def higher_orders(self) -> HigherOrders | None:
        """What lower orders foretell of the higher ones, held against what was measured there."""
        return higher_orders(self.space, self.known, guess=self.guess, seed=self.seed)

    def shares(self, tests: IntArray) -> FloatArray:
        """The share of the inputs that have an object left, one per test; 1 where the truth is no boxes."""
        return np.ones(len(tests)) if self.left is None else self.left.of(self.space.severities(tests))

    def applicable(self, tests: IntArray) -> IntArray:
        """Those tests in which enough inputs have an object left."""
        return tests[self.shares(tests) >= LEAST_LEFT]

    def objects_in(self, tests: IntArray) -> box.Objects | None:
        """Single objects of the rows of some tests."""
        if self.objects is None or self.rows is None:
            return None
        return self.objects.select(np.flatnonzero(np.isin(self.rows.tests, tests)))

    def ask(self, query: str, *, profile: Profile | None = None, level: float = 0.95, worst: int = 5) -> Answer:
        """The answer to a query."""
        found = parse(query, self.space)  # before the surrogate is fitted: what is wrong with it is said at once
        if found.orders:
            return self._in_order(found.orders, query)._answer(found, profile, level, worst)
        return self._answer(found, profile, level, worst)

    def _in_order(self, orders: Orders, query: str) -> Run:
        """The run as if these perturbations had always been applied so; its surrogate is fitted anew."""
        if self.arrangements is None:
            raise QueryError(
                f"'{query}' names an order, and this run has one: {', '.join(self.space.names)}",
                rule="ordered = true in the space file applies perturbations in every order",
            )
        rows = in_order(self.space, self.outcomes, self.arrangements, orders)
        if not len(rows):
            raise QueryError(f"no row of this run was applied as '{query}' says", rule="one or more", hint="--resume")
        return replace(self, outcomes=rows, kept=None, rows=None, objects=None, draws=drawn_rows(self.outcomes))

    def _answer(self, query: Query, profile: Profile | None, level: float, worst: int) -> Answer:
        return ask(
            self.fitted,
            self.known,
            query,
            profile=profile,
            quality=self.quality,
            level=level,
            worst=worst,
            shares=None if self.left is None else self.shares,
            objects=self.objects_in,
            draws=self.draws if self.rows is None or self.left is None else drawn_rows(self.rows),
            asked=None if self.alike is None else self.outcomes,
        )

    def export(self) -> Path | None:
        """All outcomes as one Parquet table in the folder, severities by name; for other tools."""
        if self.folder is None:
            return None
        import pyarrow as pa
        import pyarrow.parquet as pq

        severities = self.space.severities(self.outcomes.tests)
        columns: dict[str, Any] = {name: severities[:, at] for at, name in enumerate(self.space.names)}
        columns |= {"test": self.outcomes.tests, "input": self.outcomes.inputs, "held": self.outcomes.held}
        if self.arrangements is not None:
            columns["arrangement"] = self.arrangements
        target = self.folder / "outcomes.parquet"
        with whole_file(target) as place:
            pq.write_table(pa.table(columns), place)
        return target

    @property
    def quality(self) -> FloatArray | None:
        """One per test, where the run measured it."""
        path = None if self.folder is None else self.folder / "quality.npz"
        if path is None or not path.exists():
            return None
        rule, again = f"one number for each of {self.space.size:,} tests", "delete it, and measure the quality again"
        with npz.open_npz(path, SpaceError, rule=rule, hint=again) as file:
            found = file.read(["predicted"])["predicted"]
        if found.shape != (self.space.size,) or found.dtype.kind != "f":
            raise SpaceError(f"{path} is damaged: {found.dtype} of shape {found.shape}", rule=rule, hint=again)
        return found.astype(np.float64)


def _refuse_nothing(outcomes: Outcomes, where: object) -> None:
    """Refuse a run in which no row says anything about the model."""
    if len(outcomes) and np.isnan(outcomes.held).all():
        raise SpaceError(
            f"{where}: no input has a true box that is left",
            rule="true boxes as x0, y0, x1, y1, class, in the pixels of the images, of classes that are looked at",
            hint="look at boxes in [data] and classes in [check]",
        )


def _classes(head: Mapping[str, Any], where: Path) -> IntArray | None:
    """The class of every input, where they have one."""
    if head["classes"] is None:
        return None
    with decoding(where, SpaceError, rule="one class for each input", hint=BACKUP):
        found = np.array(head["classes"], dtype=np.int64).reshape(head["inputs"])
    if np.any(found < 0):
        raise SpaceError(f"{where} is damaged: a class of {found.min()}", rule="classes count from 0", hint=BACKUP)
    return found


def measure(  # noqa: PLR0913 -- all optional
    subject: Subject,
    *,
    plan: Plan,
    budget: int | None = None,
    rule: Stopping | None = None,
    surrogate: str = "auto",
    seed: int = 0,
    ordered: bool = False,
    folder: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    tell: Tell | None = None,
    base: int = 0,
    look: Look | None = None,
    workers: Workers | None = None,
) -> Run:
    """Run the plan on a subject.

    folder
        Where outcomes are kept as they come; None keeps them in memory only.
    resume
        Go on with what the folder holds, if it was begun with the same settings. The budget may be larger and the
        half-width of the rule narrower than they were: the run is extended (see ``Schedule``).
    progress, tell
        Told how far the run is, and in words what was seen on the way.
    base, look
        Unperturbed inputs that are measured first, at least; shown to ``look`` before the rest is spent.
    workers
        Where the rest is run; by default here.
    """
    surrogates.registry.build(surrogate)  # a wrong name is said before anything is measured
    if ordered and subject.one_order:
        raise SpaceError("a recorded truth knows one order", rule="ordered = false")
    if rule is None:
        budget = budget or plan.usual
    alike = subject.alike() if plan.adds == "rows" and not ordered else None
    settings = {"budget": budget, "rule": rule, "surrogate": surrogate, "seed": seed, "ordered": ordered, "base": base}
    head = head_of(subject, plan, alike=alike, **settings)
    schedule = Schedule(
        subject.space,
        subject.inputs,
        plan,
        budget,
        rule,
        seed,
        bands=Bands(subject, surrogate, seed, alike, tell),
        ordered=ordered,
        base=base,
        alike=alike,
    )
    schedule.check()  # what cannot be run leaves no folder
    ledger = None if folder is None else RunFolder.create(folder, head, resume=resume)
    if ledger is not None:
        schedule = replace(schedule, earlier=tuple(Stage(**stage) for stage in ledger.head().get("earlier", ())))
    outcomes, arrangements = carried_out(schedule, subject, ledger, progress, look, workers)
    _refuse_nothing(outcomes, "the run")
    return Run(
        subject.space,
        outcomes.applicable,
        subject.classes,
        subject.guess,
        surrogate,
        seed,
        None if arrangements is None else arrangements[~np.isnan(outcomes.held)],
        folder=None if folder is None else Path(folder),
        inputs=subject.inputs,
        ending=ending(schedule, outcomes),
        left=ShareLeft.of_record(head["left"], subject.space, subject.inputs),
        rows=outcomes,
        objects=None if ledger is None else ledger.objects(),
        alike=alike,
    )
