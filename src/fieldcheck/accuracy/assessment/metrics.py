"""Precision, recall, F1 and the confusion matrix of the whole pool, from few labels.

All of them follow from one estimated matrix: of the items predicted ``a``, how many truly are ``c``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment.confusion import Crosstab, too_few
from fieldcheck.accuracy.assessment.scores import ClassScore, Metrics
from fieldcheck.accuracy.assessment.slices import Slice, slices
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError, LabelError, PoolError
from fieldcheck.core.label import Label, TrueClass
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled

WHICH = ("accuracy", "precision", "recall", "f1", "confusion")

FROM_OUTCOMES = ("accuracy", "precision")
"""What right and wrong suffice for."""


def metrics(
    labelled: Labelled,
    pool: Pool,
    true_classes: Sequence[str] | None,
    which: Sequence[str] = WHICH,
    *,
    level: float = 0.95,
) -> Metrics:
    """Metrics of the whole pool.

    true_classes
        One per draw, in draw order; None where labels only say right or wrong, which suffices for accuracy and
        precision.
    """
    _check(labelled, pool, true_classes, which)
    by_class = slices(labelled, pool, "prediction", level=level)
    scores: list[ClassScore] = []
    if "accuracy" in which:
        found = estimators.estimate(labelled, level=level)
        interval = found.interval.map(lambda loss: 1 - loss)
        scores.append(ClassScore("accuracy", "all", 1 - found.value, interval))
    if "precision" in which:
        scores += [_precision(row) for row in by_class.rows]
    confusion, notes = None, list[str]()
    if true_classes is not None and set(which) - set(FROM_OUTCOMES):
        table = Crosstab.of(labelled, pool, true_classes)
        scores += [score for name in ("precision", "recall", "f1") if name in which
                   for score in table.scores(name, by_class.rows, level=level)]  # fmt: skip
        if "confusion" in which and table.too_few_failures:
            notes = [f"no confusion matrix: {table.too_few_failures}"]
        elif "confusion" in which:
            confusion = table.confusion(level)
    return Metrics(tuple(scores), confusion, level, (*notes, *_notes(scores, level)))


def _check(labelled: Labelled, pool: Pool, true_classes: Sequence[str] | None, which: Sequence[str]) -> None:
    strange = [name for name in which if name not in WHICH]
    if strange:
        raise FieldcheckError(f"no metric '{strange[0]}'", rule="there are: " + ", ".join(WHICH))
    if labelled.task != "classification":
        raise FieldcheckError(
            "precision, recall and the like of a regression", rule="they are defined for classes", hint="--metric rmse"
        )
    if pool.predictions is None:
        raise PoolError("the pool has no predictions", rule="metrics of a class need the predicted class of each item")
    asked = [name for name in which if name not in FROM_OUTCOMES]
    if true_classes is None and asked:
        raise LabelError(
            f"{asked[0]} from labels that say right or wrong",
            rule="it needs the true class of the items that fail, and these labels do not say it",
            hint="label with true classes, or --metrics accuracy,precision",
        )
    if true_classes is not None and len(true_classes) != len(labelled.sample):
        raise LabelError(
            f"{words.counted(len(true_classes), 'true class', 'true classes')} for "
            f"{words.counted(len(labelled.sample), 'draw')}",
            rule="one per draw, in draw order",
        )


def _notes(scores: Sequence[ClassScore], level: float) -> tuple[str, ...]:
    shown = sum(score.interval is not None for score in scores)
    said = ["metrics of the items of this pool; nothing is said about future data"]
    if any(score.metric in ("recall", "f1") for score in scores):
        said.append("recall and F1 take failures that were not found to be of the same true classes as those that were")
    if shown > 1:
        said.append(f"{shown} intervals at {level:.0%}: about {shown * (1 - level):.1f} of them are expected to miss")
    return tuple(said)


def _precision(row: Slice) -> ClassScore:
    """The precision of a class is the accuracy of what was predicted to be it."""
    remark = "" if row.interval is not None else too_few(row)
    return ClassScore("precision", row.name, row.value, row.interval, remark)


def true_classes_of(labelled: Labelled, pool: Pool, answers: Mapping[str, Label]) -> list[str] | None:
    """The true class at each draw; None where a label says no more than wrong."""
    said = [answers[name] for name in pool.ids_of(labelled.sample.items)]
    names = [label.name for label in said if isinstance(label, TrueClass)]
    return names if len(names) == len(said) and pool.predictions is not None else None
