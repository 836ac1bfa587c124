"""What can go wrong, as a tree: every error says the problem, the rule it breaks, and what to try.

FieldcheckError
├── PoolError      the pool: a file, a column, a row
├── DesignError    a technique: an unknown name, a wrong parameter, something it needs is missing
├── BudgetError    too few or too many labels asked for
├── LabelError     labels that do not fit the sample
├── SampleError    a sample and an estimator that do not belong together, a damaged sidecar
└── BenchError     a comparison that cannot be run or resumed
"""

from __future__ import annotations


class FieldcheckError(Exception):
    """A problem that the user can mend."""

    def __init__(self, problem: str, *, rule: str = "", hint: str = "") -> None:
        self.problem, self.rule, self.hint = problem, rule, hint
        lines = [problem]
        if rule:
            lines.append(f"  rule: {rule}")
        if hint:
            lines.append(f"  try:  {hint}")
        super().__init__("\n".join(lines))


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
