"""A run: measure part by part, keep every outcome, and answer from what is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck import surrogates
from fieldcheck.core.answer import Answer
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.surrogate import Evidence, FittedSurrogate
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.query import parse
from fieldcheck.tomography.ask import ask
from fieldcheck.tomography.ending import Ending, ending
from fieldcheck.tomography.ledger import Ledger
from fieldcheck.tomography.measured import WithMeasured
from fieldcheck.tomography.plan import Plan, Spread
from fieldcheck.tomography.profile import Profile
from fieldcheck.tomography.schedule import Schedule, Stage
from fieldcheck.tomography.stopping import Stopping, width_of
from fieldcheck.tomography.subject import Subject

Progress = Callable[[int, int], None]
"""Told how many rows are done, of how many."""

Tell = Callable[[str], None]
"""Told what a person may want to know while waiting."""

NEEDED = {"space", "guess", "surrogate", "seed", "inputs"}
"""Parts of a head without which nothing can be answered."""

LOOKED_AT = 1_000
"""Tests whose bands decide when a spread plan may stop."""


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

    @classmethod
    def open(cls, folder: str | Path, *, surrogate: str | None = None) -> Run:
        """The run in a folder, finished or not."""
        ledger = Ledger.open(folder)
        head = ledger.head()
        if lacking := NEEDED - head.keys():
            raise SpaceError(
                f"{folder}: its run.json says nothing of '{min(lacking)}'",
                rule="the folder of a run, as it was written",
            )
        outcomes, arrangements = ledger.read()
        if not len(outcomes):
            raise SpaceError(f"{folder} has no outcomes yet", rule="run it first", hint="tomography run --resume")
        classes = head.get("classes")
        return cls(
            space=space_of(head["space"]),
            outcomes=outcomes,
            classes=None if classes is None else np.array(classes, dtype=np.int64),
            guess=float(head["guess"]),
            surrogate=surrogate or str(head["surrogate"]),
            seed=int(head["seed"]),
            arrangements=arrangements,
            folder=Path(folder),
            inputs=int(head["inputs"]),
            kept=Path(folder) / "surrogate.npz",
        )

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.space, self.outcomes, self.classes, self.guess)

    @cached_property
    def fitted(self) -> FittedSurrogate:
        """The surrogate, fitted to all outcomes."""
        chosen = surrogates.registry.build(self.surrogate)
        found = surrogates.fitted(chosen, self.evidence, seed=self.seed, path=self.kept)
        return found if self.arrangements is not None else WithMeasured.of(found, self.outcomes, self.inputs)

    def ask(self, query: str, *, profile: Profile | None = None, level: float = 0.95, worst: int = 5) -> Answer:
        """The answer to a query."""
        found = parse(query, self.space)  # before the surrogate is fitted: what is wrong with it is said at once
        return ask(self.fitted, self.outcomes, found, profile=profile, quality=self.quality, level=level, worst=worst)

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
        temporary = target.with_name(".outcomes.part")
        pq.write_table(pa.table(columns), temporary)
        temporary.replace(target)
        return target

    @property
    def quality(self) -> FloatArray | None:
        """One per test, where the run measured it."""
        path = None if self.folder is None else self.folder / "quality.npz"
        if path is None or not path.exists():
            return None
        with np.load(path, allow_pickle=False) as file:
            found: FloatArray = file["predicted"].astype(np.float64)
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
) -> Run:
    """Run the plan on a subject.

    folder
        Where outcomes are kept as they come; None keeps them in memory only.
    resume
        Go on with what the folder holds, if it was begun with the same settings. The budget may be larger and the
        half-width of the rule narrower than they were: the run is extended (see ``Schedule``).
    progress, tell
        Told how far the run is, and in words what was seen on the way.
    """
    surrogates.registry.build(surrogate)  # a wrong name is said before anything is measured
    if budget is None and rule is None and isinstance(plan, Spread):
        budget = plan.usual
    head = _head(subject, plan, budget=budget, rule=rule, surrogate=surrogate, seed=seed, ordered=ordered)
    ledger = None if folder is None else Ledger.create(folder, head, resume=resume)
    schedule = Schedule(
        subject.space,
        subject.inputs,
        plan,
        budget,
        rule,
        seed,
        bands=_Bands(subject, surrogate, seed, tell),
        ordered=ordered,
        earlier=() if ledger is None else tuple(Stage(**stage) for stage in ledger.head().get("earlier", ())),
    )
    outcomes, arrangements = _carried_out(schedule, subject, ledger, progress)
    return Run(
        subject.space,
        outcomes,
        subject.classes,
        subject.guess,
        surrogate,
        seed,
        arrangements,
        folder=None if folder is None else Path(folder),
        inputs=subject.inputs,
        ending=ending(schedule, outcomes),
    )


def _carried_out(
    schedule: Schedule, subject: Subject, ledger: Ledger | None, progress: Progress | None
) -> tuple[Outcomes, IntArray | None]:
    """All outcomes, those that the ledger has already first, and their arrangements where order matters."""
    outcomes, arrangements = (_EMPTY, None) if ledger is None else ledger.read()
    while True:
        rows, variants = schedule.next(outcomes)
        if not len(rows):
            return outcomes, arrangements
        found = Outcomes(rows.tests, rows.inputs, subject.measure(rows.tests, rows.inputs, variants), rows.chance)
        if ledger is not None:
            ledger.add(found, variants)
        outcomes, arrangements = _joined(outcomes, found), _appended(arrangements, variants)
        if progress is not None:
            progress(len(outcomes), schedule.total(outcomes))


@dataclass(frozen=True, eq=False)
class _Bands:
    """95 % half-widths of the bands of tests that are spread evenly over the space.

    known
        By number of rows: a schedule asks again whenever it looks at what is next, and a fit takes seconds.
    """

    subject: Subject
    surrogate: str
    seed: int
    tell: Tell | None = None
    known: dict[int, FloatArray] = field(default_factory=dict)

    def __call__(self, outcomes: Outcomes) -> FloatArray:
        if len(outcomes) not in self.known:
            found = self.known[len(outcomes)] = self._of(outcomes)
            if self.tell is not None:
                self.tell(f"half-width after {len(outcomes):,} inferences: {found.mean():.3g} on average")
        return self.known[len(outcomes)]

    def _of(self, outcomes: Outcomes) -> FloatArray:
        space = self.subject.space
        evidence = Evidence(space, outcomes, self.subject.classes, self.subject.guess)
        fitted = surrogates.registry.build(self.surrogate).fit(evidence, seed=self.seed)
        fitted = WithMeasured.of(fitted, outcomes, self.subject.inputs)
        tests = np.unique(np.linspace(0, space.size - 1, min(LOOKED_AT, space.size)).astype(np.int64))
        return 1.96 * fitted.predict(tests)[1]


def _head(subject: Subject, plan: Plan, **settings: Any) -> dict[str, Any]:
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
        "classes": None if subject.classes is None else subject.classes.tolist(),
        "guess": subject.guess,
    }


def _rule_record(rule: Stopping | None) -> dict[str, Any] | None:
    """A rule as plain values, without the width that it waits for."""
    if rule is None:
        return None
    return {"name": rule.name, **{name: value for name, value in vars(rule).items() if name != "width"}}


def space_record(space: Space) -> list[dict[str, Any]]:
    """A space as plain values."""
    return [
        {"name": axis.name, "levels": axis.levels, "perturbation": axis.perturbation, "words": dict(axis.words)}
        for axis in space.axes
    ]


def space_of(record: Any) -> Space:
    """The inverse of ``space_record``."""
    return Space(
        tuple(
            Axis(row["name"], row["levels"], row["perturbation"], {k: (v[0], v[1]) for k, v in row["words"].items()})
            for row in json.loads(json.dumps(record))
        )
    )


_NONE = np.zeros(0, dtype=np.int64)
_EMPTY = Outcomes(_NONE, _NONE, np.zeros(0))


def _joined(before: Outcomes, after: Outcomes) -> Outcomes:
    if not len(before):
        return after
    columns = ((getattr(one, name) for one in (before, after)) for name in ("tests", "inputs", "held", "chance"))
    return Outcomes(*(np.concatenate(list(pair)) for pair in columns))


def _appended(before: IntArray | None, after: IntArray | None) -> IntArray | None:
    return after if before is None or after is None else np.concatenate([before, after])
