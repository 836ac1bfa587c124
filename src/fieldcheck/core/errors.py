"""What can go wrong, as a tree: every error says the problem, the rule it breaks, and what to try.

FieldcheckError
├── PoolError      the pool: a file, a column, a row
├── DesignError    a technique: an unknown name, a wrong parameter, something it needs is missing
├── BudgetError    too few or too many labels asked for
├── LabelError     labels that do not fit the sample
├── SampleError    a sample and an estimator that do not belong together, a damaged sidecar
├── BenchError     a comparison that cannot be run or resumed
├── ModelError     a model that cannot be opened, trusted or run; a package that is missing for it
├── InputsError    the items that a model is to be run on
├── CampaignError  a campaign that does not allow what was asked for
├── StoreError     where a campaign is kept: damaged, read-only, full, newer than this version
│   └── StaleError     somebody else changed it in between
├── SpaceError     a space of perturbations, its file, a run of it
└── QueryError     a query that cannot be read; it points at the place
"""

from __future__ import annotations

from typing import Any

from fieldcheck.core.words import on_one_line, visible


class FieldcheckError(Exception):
    """A problem that the user can mend; ``shown`` is how its words are made harmless."""

    shown = staticmethod(on_one_line)

    def __init__(self, problem: str, *, rule: str = "", hint: str = "") -> None:
        self.problem, self.rule, self.hint = self.shown(problem), on_one_line(rule), on_one_line(hint)
        lines = [self.problem]
        if rule:
            lines.append(f"  rule: {self.rule}")
        if hint:
            lines.append(f"  try:  {self.hint}")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        """Its words as they are, also when it comes from another process: Python would make one of its whole text."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[FieldcheckError], args: tuple[Any, ...], words: dict[str, Any]) -> FieldcheckError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(words)
    return error


class PoolError(FieldcheckError):
    """The pool cannot be used as it is."""


class DesignError(FieldcheckError):
    """The technique does not exist, is misconfigured, or lacks something that it needs."""


class BudgetError(FieldcheckError):
    """The number of labels asked for cannot be spent."""


class LabelError(FieldcheckError):
    """The labels do not fit the sample."""


class SampleError(FieldcheckError):
    """A sample was given to an estimator that does not accept it, or its record is damaged."""


class BenchError(FieldcheckError):
    """A comparison cannot be run, resumed or read."""


class ModelError(FieldcheckError):
    """The model cannot be opened or run."""


class InputsError(FieldcheckError):
    """The items that the model is to be run on cannot be read."""


class CampaignError(FieldcheckError):
    """The campaign does not allow this."""


class StoreError(FieldcheckError):
    """The campaign cannot be read or written where it is kept."""


class DamageError(StoreError):
    """What is kept of the campaign is not what was stored."""


class StaleError(StoreError):
    """The campaign went on since it was read."""


class SpaceError(FieldcheckError):
    """The space of perturbations, or a run of it, cannot be used as it is."""


class QueryError(FieldcheckError):
    """The query cannot be read."""

    shown = staticmethod(visible)  # a line of it points at the place
