"""A run: measure part by part, keep every outcome, and answer from what is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
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
from fieldcheck.tomography.ledger import Ledger
from fieldcheck.tomography.measured import WithMeasured
from fieldcheck.tomography.plan import Plan
from fieldcheck.tomography.profile import Profile
from fieldcheck.tomography.schedule import Schedule
from fieldcheck.tomography.stopping import Stopping
from fieldcheck.tomography.subject import Subject

Progress = Callable[[int, int], None]
"""Told how many rows are done, of how many."""

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

    @classmethod
    def open(cls, folder: str | Path, *, surrogate: str | None = None) -> Run:
        """The run in a folder, finished or not."""
        ledger = Ledger.open(folder)
        head = ledger.head()
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
        )

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.space, self.outcomes, self.classes, self.guess)

    @cached_property
    def fitted(self) -> FittedSurrogate:
        """The surrogate, fitted to all outcomes."""
        found = surrogates.registry.build(self.surrogate).fit(self.evidence, seed=self.seed)
        return found if self.arrangements is not None else WithMeasured.of(found, self.outcomes, self.inputs)

    def ask(self, query: str, *, profile: Profile | None = None, level: float = 0.95, worst: int = 5) -> Answer:
        """The answer to a query."""
        return ask(
            self.fitted, self.outcomes, parse(query, self.space), profile=profile, quality=self.quality, level=level,
            worst=worst,
        )  # fmt: skip

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


def measure(
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
) -> Run:
    """Run the plan on a subject.

    folder
        Where outcomes are kept as they come; None keeps them in memory only.
    resume
        Go on with what the folder holds, if it was begun with the same settings.
    """
    head = _head(subject, plan, budget=budget, rule=rule, surrogate=surrogate, seed=seed, ordered=ordered)
    ledger = None if folder is None else Ledger.create(folder, head, resume=resume)
    schedule = Schedule(
        subject.space, subject.inputs, plan, budget, rule, seed,
        bands=lambda seen: _half_widths(subject, seen, surrogate, seed), ordered=ordered,
    )  # fmt: skip
    outcomes, arrangements = (_EMPTY, None) if ledger is None else ledger.read()
    while True:
        rows, variants = schedule.next(outcomes)
        if not len(rows):
            break
        found = Outcomes(rows.tests, rows.inputs, subject.measure(rows.tests, rows.inputs, variants), rows.chance)
        if ledger is not None:
            ledger.add(found, variants)
        outcomes, arrangements = _joined(outcomes, found), _appended(arrangements, variants)
        if progress is not None:
            progress(len(outcomes), schedule.total(outcomes))
    place = None if folder is None else Path(folder)
    return Run(
        subject.space, outcomes, subject.classes, subject.guess, surrogate, seed, arrangements, place, subject.inputs
    )


def _half_widths(subject: Subject, outcomes: Outcomes, surrogate: str, seed: int) -> FloatArray:
    """95 % half-widths of tests spread evenly over the space."""
    evidence = Evidence(subject.space, outcomes, subject.classes, subject.guess)
    fitted = surrogates.registry.build(surrogate).fit(evidence, seed=seed)
    count = min(LOOKED_AT, subject.space.size)
    tests = np.unique(np.linspace(0, subject.space.size - 1, count).astype(np.int64))
    return 1.96 * fitted.predict(tests)[1]


def _head(subject: Subject, plan: Plan, **settings: Any) -> dict[str, Any]:
    """Everything that the outcomes depend on, as plain values."""
    return {
        "space": space_record(subject.space),
        "plan": repr(plan),
        "budget": settings["budget"],
        "rule": None if settings["rule"] is None else repr(settings["rule"]),
        "surrogate": settings["surrogate"],
        "seed": settings["seed"],
        "ordered": settings["ordered"],
        "subject": dict(subject.digest or {}),
        "inputs": subject.inputs,
        "classes": None if subject.classes is None else subject.classes.tolist(),
        "guess": subject.guess,
    }


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
