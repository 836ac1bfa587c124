"""Which of two or more models is better on one pool, from labels of the items on which they disagree.

Where the predictions agree the difference is 0, whatever the truth, so only disagreements are labelled. On the
published pairs that took a tenth to a seventeenth of the labels of two campaigns of simple random sampling, one per
model, with the same error (benchmarks/results/compare_and_reuse.md).
"""

from __future__ import annotations

from fieldcheck.accuracy.comparison.difference import Comparison, Difference
from fieldcheck.accuracy.comparison.disagreements import ContestedItems
from fieldcheck.accuracy.comparison.estimate import Rule
from fieldcheck.core import words
from fieldcheck.core.errors import BudgetError
from fieldcheck.core.versions import versions

BUDGET = 200

FIRST = 40
"""Labels before the first look, where every wave is looked at."""

FEW = 20


def comparison(
    contested: ContestedItems,
    differences: tuple[Difference, ...],
    labels: int,
    *,
    budget: int,
    seed: int,
    rule: Rule,
    warnings: tuple[str, ...] = (),
) -> Comparison:
    """The differences with how they were made."""
    return Comparison(
        differences=differences,
        labels=labels,
        contested=len(contested.items),
        population=contested.population,
        budget=budget,
        seed=seed,
        certify=rule.certify,
        warnings=warnings + _unsure(contested, labels),
        versions=versions(),
    )


def _unsure(contested: ContestedItems, labels: int) -> tuple[str, ...]:
    notes = []
    if contested.task == "classification" and any(pool.confidence is None for pool in contested.pools):
        notes.append(
            "a model has no confidence: disagreements are drawn with equal chances, and more labels are needed"
        )
    if labels < FEW and labels < len(contested.items):
        notes.append(f"only {words.counted(labels, 'label')}: intervals of so few are a rough guide")
    return tuple(notes)


def spend(contested: ContestedItems, budget: int | None, *, certify: bool) -> int:
    """The labels that may be spent."""
    if budget is None:
        return contested.open if certify else BUDGET
    if not 2 <= budget <= contested.population:
        raise BudgetError(
            f"a budget of {words.counted(budget, 'label')} for a pool of {words.counted(contested.population, 'item')}",
            rule=f"a budget is at least 2 and at most the size of the pool, {contested.population:,}",
            hint=f"--budget {min(BUDGET, contested.population)}",
        )
    return budget
