"""What to compare: subjects, techniques, auxiliary variables and budgets, and the cells that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import base as bases
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.bench.rows import NONE, unique
from fieldcheck.core.errors import BenchError
from fieldcheck.core.rng import stream

if TYPE_CHECKING:
    from fieldcheck.core.pool.pool import Pool


class Cell(NamedTuple):
    """One technique on one subject with one auxiliary variable and one budget."""

    subject: str
    design: str
    auxiliary: str
    budget: int


@dataclass(frozen=True)
class Study:
    """A comparison.

    subjects
        Labelled pools, or the files to load them from; a file's stem is the name of its subject.
    designs
        As on the command line: ``ssrs:k=8``.
    auxiliaries
        Alternatives; ``a+b`` is one that techniques take together. Empty: each technique's own default.
    repetitions
        Simulated campaigns per cell. Repetition r has the same seed in every cell, whatever else is run.
    threshold
        Regression: absolute error over which an item counts as a failure.
    offset_scale
        Regression: offsets are shown in bins of 2.5 up to 25 after multiplication by this (25 gives degrees
        for the published steering models). None: ten equal bins up to the largest offset.
    activations
        By subject, a ``.npy`` file with one row per item, for CES.
    groups
        By subject, what it is one of (the dataset of several models); tables pool the subjects of a group.
    truth
        The column of labels in the files of all subjects, where it has to be named.
    """

    subjects: Sequence[Path | str | Pool]
    designs: Sequence[str]
    auxiliaries: Sequence[str] = ()
    budgets: Sequence[int] = (200,)
    repetitions: int = 30
    seed: int = 0
    level: float = 0.95
    loss: Literal["squared", "absolute"] = "squared"
    threshold: float | None = None
    offset_scale: float | None = None
    activations: Mapping[str, Path] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    truth: str | None = None

    def __post_init__(self) -> None:
        for name in ("subjects", "designs", "budgets"):
            if not getattr(self, name):
                raise BenchError(f"no {name} to compare", rule="at least one of subjects, designs and budgets")
        if self.repetitions < 1:
            raise BenchError(f"{self.repetitions} repetitions", rule="1 or more", hint="30, as in the papers")
        if min(self.budgets) < 2:
            raise BenchError(f"a budget of {min(self.budgets)}", rule="2 labels or more")
        if not 0 < self.level < 1:
            raise BenchError(f"a confidence level of {self.level:g}", rule="between 0 and 1", hint="0.95")
        if self.loss not in ("squared", "absolute"):
            raise BenchError(f"no loss '{self.loss}'", rule="squared or absolute")
        names = [subject_name(subject) for subject in self.subjects]
        _refuse_twins(names)
        _refuse_strangers(names, self.groups)

    def sources(self) -> dict[str, Path | Pool]:
        """Where each subject comes from, by its name."""
        return {subject_name(s): Path(s) if isinstance(s, str) else s for s in self.subjects}

    def seeds(self) -> list[int]:
        """One per repetition; 53 bits, so that they survive every JSON reader."""
        raw = (stream(self.seed, "bench", r).bit_generator for r in range(self.repetitions))
        return [int(generator.random_raw() >> 11) for generator in raw]


@dataclass(frozen=True)
class Contender:
    """A technique as it enters: with an auxiliary variable, or with ``none``."""

    spec: str
    auxiliary: str
    design: Design

    @classmethod
    def of(cls, spec: str, auxiliary: str | None) -> Contender:
        """The technique ``spec``; an auxiliary variable that the spec itself names wins."""
        design = sampling.build_design(spec, auxiliary=auxiliary)
        taken = str(getattr(design, "auxiliary", NONE)) if design.needs == "auxiliary" else NONE
        return cls(spec.strip(), taken, design)


@dataclass(frozen=True)
class Offer:
    """What a subject offers."""

    name: str
    size: int
    auxiliaries: frozenset[str]
    activations: bool

    def lacks(self, contender: Contender) -> str:
        """What the technique needs and this subject does not have; empty when it has all."""
        if contender.design.needs == "activations" and not self.activations:
            return "activations"
        missing = set(bases.auxiliaries_of(contender.design, derived.helpful(self.auxiliaries))) - self.auxiliaries
        return ", ".join(f"auxiliary '{name}'" for name in sorted(missing))


def subject_name(source: Path | str | Pool) -> str:
    return Path(source).stem if isinstance(source, Path | str) else source.name


def split_specs(text: str) -> tuple[str, ...]:
    """The techniques in ``ssrs:k=8,deepest:r=0.6,weights=selected``: ``key=value`` continues one."""
    specs: list[str] = []
    for piece in filter(None, (part.strip() for part in text.split(","))):
        continues = specs and "=" in piece and ":" not in piece
        if continues:
            specs[-1] += f",{piece}"
        else:
            specs.append(piece)
    return tuple(specs)


def contenders(plan: Study) -> tuple[Contender, ...]:
    """Every technique with every auxiliary variable it can use, each once."""
    choices: Sequence[str | None] = plan.auxiliaries or (None,)
    made = [Contender.of(spec, auxiliary) for spec in plan.designs for auxiliary in choices]
    return tuple({(one.spec, one.auxiliary): one for one in made}.values())


def cells(
    plan: Study, entries: Sequence[Offer], lineup: Sequence[Contender]
) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """The cells in the order to run them, and notes on those left out because a subject lacks something."""
    _refuse_overspending(plan, entries)
    found: list[Cell] = []
    lacking: dict[str, list[str]] = {}
    for entry in entries:
        for contender in lineup:
            lack = entry.lacks(contender)
            if lack:
                lacking.setdefault(lack, []).append(entry.name)
            else:
                found += [Cell(entry.name, contender.spec, contender.auxiliary, n) for n in _ordered(plan.budgets)]
    _refuse_absent(entries, lineup, found)
    notes = [f"no {lack} in {', '.join(unique(names))}: left out there" for lack, names in lacking.items()]
    return tuple(found), tuple(notes)


def _ordered(budgets: Sequence[int]) -> list[int]:
    return sorted(set(budgets))


def _refuse_twins(names: Sequence[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise BenchError(
            f"several subjects are called '{twins[0]}'",
            rule="a file's stem is the name of its subject, and names are unique",
            hint="rename one of the files",
        )


def _refuse_strangers(names: Sequence[str], groups: Mapping[str, str]) -> None:
    strangers = sorted(set(groups) - set(names))
    if strangers:
        raise BenchError(
            f"a group names '{strangers[0]}', which is not among the subjects",
            rule="subjects here: " + ", ".join(names),
            hint=f"--group {groups[strangers[0]]}={names[0]}",
        )


def _refuse_overspending(plan: Study, entries: Sequence[Offer]) -> None:
    for entry in entries:
        if max(plan.budgets) > entry.size:
            raise BenchError(
                f"a budget of {max(plan.budgets):,} on '{entry.name}', which has {entry.size:,} items",
                rule="a budget is at most the size of the pool",
                hint=f"--budget {entry.size} or less, or leave this subject out",
            )


def _refuse_absent(entries: Sequence[Offer], lineup: Sequence[Contender], found: Sequence[Cell]) -> None:
    ran = {(cell.design, cell.auxiliary) for cell in found}
    for contender in lineup:
        if (contender.spec, contender.auxiliary) not in ran:
            have = sorted(set().union(*(entry.auxiliaries for entry in entries)))
            raise BenchError(
                f"{contender.spec} cannot run: no subject has {entries[0].lacks(contender)}",
                rule="auxiliary variables here: " + (", ".join(have) or "none"),
                hint="--auxiliary with one of these; CES needs a file of activations",
            )
