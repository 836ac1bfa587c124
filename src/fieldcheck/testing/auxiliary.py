"""What every auxiliary variable must do, whoever wrote it."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from fieldcheck.accuracy.auxiliary import base as auxiliary
from fieldcheck.core.rng import stream
from fieldcheck.testing.require import check_described, check_refused, made_of, require
from fieldcheck.testing.traces import lean, part, trace

ITEMS = 60


def check_auxiliary(variable: auxiliary.Auxiliary | type[auxiliary.Auxiliary], *, rounding: float = 1e-11) -> None:
    """Raise AssertionError unless the variable keeps its contract on a small classification and a small regression.

    One finite value per item, zero or more in the end and in the same order; the same for every split into batches;
    the same for the same reference and seed; from nothing but the parts that it names; what is missing is named.

    rounding
        By how much values may depend on the batch, relative to the largest.
    """
    made: auxiliary.Auxiliary = made_of(variable)
    _check_words(made)
    if "classification" in made.tasks:
        reference = trace(stream(0, "testing", "reference"), 150, labels=True)
        _check(made, reference, trace(stream(1, "testing", "pool"), ITEMS, shift=0.5), rounding)
    if "regression" in made.tasks:
        reference = _numeric(trace(stream(0, "testing", "reference"), 150))
        _check(made, reference, _numeric(trace(stream(1, "testing", "pool"), ITEMS, shift=0.5)), rounding)


def _check_words(made: auxiliary.Auxiliary) -> None:
    check_described(made, auxiliary.Auxiliary, "title", "paper", "tasks")
    parts = {one.name for one in fields(auxiliary.Trace)} - {"task"}
    require(made.tasks <= {"classification", "regression"}, f"{made.name}: tasks {sorted(made.tasks)}")
    require(made.needs | made.needs_reference <= parts, f"{made.name} needs what no trace has")


def _numeric(whole: auxiliary.Trace) -> auxiliary.Trace:
    """The same items with numbers as predictions."""
    values = np.linspace(0, 1, len(whole))
    return auxiliary.Trace("regression", values, activations=whole.activations, inputs=whole.inputs)


def _check(made: auxiliary.Auxiliary, reference: auxiliary.Trace, pool: auxiliary.Trace, rounding: float) -> None:
    given = reference if made.needs_reference else None
    fitted = made.fit(given, seed=4)
    require(isinstance(fitted, auxiliary.FittedAuxiliary), f"{made.name}: fit gives no FittedAuxiliary")
    values = fitted.values(pool)
    _check_values(made, fitted, pool)
    _check_batches(made, fitted, pool, rounding)
    again = made.fit(given, seed=4)
    require(np.array_equal(again.values(pool), values), f"{made.name}: the same reference and seed give other values")
    _check_parts(made, reference, pool)


def _check_values(made: auxiliary.Auxiliary, fitted: auxiliary.FittedAuxiliary, pool: auxiliary.Trace) -> None:
    values = fitted.values(pool)
    require(values.shape == (len(pool),) and values.dtype == np.float64, f"{made.name}: one float per item, please")
    require(np.isfinite(values).all(), f"{made.name}: a value is not finite")
    finished = fitted.finish(values)
    require((finished >= 0).all(), f"{made.name}: finished values are zero or more")
    before, after = (np.argsort(one, kind="stable") for one in (values, finished))
    require(np.array_equal(before, after), f"{made.name}: finishing changes the order of items")
    some = np.append(values[::3], (values.min(), values.max()))
    apart = np.array_equal(fitted.finish(some)[:-2], finished[::3])
    require(apart, f"{made.name}: finishing looks at more than the smallest and the largest value")
    require(len(np.unique(values)) > 1, f"{made.name}: every item has the same value")


def _check_batches(
    made: auxiliary.Auxiliary, fitted: auxiliary.FittedAuxiliary, pool: auxiliary.Trace, rounding: float
) -> None:
    whole = fitted.values(pool)
    for size in (1, 7, ITEMS - 1):
        chunks = [np.arange(at, min(at + size, ITEMS)) for at in range(0, ITEMS, size)]
        pieces = [fitted.values(part(pool, chosen)) for chosen in reversed(chunks)]
        far = np.abs(np.concatenate(pieces[::-1]) - whole).max()
        require(far <= rounding * np.abs(whole).max(), f"{made.name}: batches of {size} change values by {far:g}")
    require(fitted.values(part(pool, np.arange(0))).shape == (0,), f"{made.name}: an empty batch has no value")


def _check_parts(made: auxiliary.Auxiliary, reference: auxiliary.Trace, pool: auxiliary.Trace) -> None:
    whole = made.fit(reference if made.needs_reference else None, seed=4).values(pool)
    fitted = made.fit(lean(reference, made.needs_reference) if made.needs_reference else None, seed=4)
    found = fitted.values(lean(pool, made.needs))
    require(np.array_equal(found, whole), f"{made.name} looks at parts that it does not name")
    if made.needs - {"predictions"}:
        check_refused(lambda: fitted.values(lean(pool, frozenset())), f"{made.name}: what is missing is not said")
    if made.needs_reference:
        check_refused(lambda: made.fit(None, seed=0), f"{made.name} needs a reference and does not say so")
