"""What the numbers of a confidence column are: shares, percent, logits, or the probability of one of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldcheck.core import words
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.types import BoolArray, FloatArray

SHARE, PERCENT, LOGIT = "share", "percent", "logit"


SLACK = 1e-6


OUTRIGHT = ("confidence", "conf")
"""Names that say what it is; they are believed, and what speaks against it is said."""


ENOUGH = 20
"""Items from which on it is no chance that the values of two classes are apart."""


HALF = 50.0
"""A percentage of a predicted class seldom stays below in a whole column; a logit seldom gets there."""


ODD = 0.05
"""From this share of values under 0.5 on it has to be said what they are, where there are two classes."""


@dataclass(frozen=True, eq=False)
class ReadConfidence:
    """The confidence in [0, 1], what its numbers were, and what to tell the user."""

    values: FloatArray
    scale: str = SHARE
    note: str = ""


def fits(values: FloatArray) -> bool:
    """Whether numbers can be a confidence by themselves: shares, or percent."""
    return _in_unit(values) or _are_percent(values)


def read_confidence(
    values: FloatArray,
    scale: str | None,
    *,
    codes: Any,
    classes: Sequence[str],
    name: str,
    origin: Origin,
    named: bool = False,
) -> ReadConfidence:
    """The confidence behind numbers.

    scale
        What they are: ``share``, ``percent``, ``logit``, or the class of which they are the probability; None: taken as
        they are; empty: found out.
    codes
        The predictions, as codes into ``classes``; None where there are none.
    named
        Whether the user said that this column is the confidence.
    """
    if scale is None or scale == SHARE:
        return ReadConfidence(values)
    if scale == PERCENT:
        return ReadConfidence(values / 100, PERCENT)
    if scale == LOGIT:
        return _logit(values, codes, classes=classes, name=name, origin=origin)
    if scale:
        return _of_class(values, scale, codes=codes, classes=classes, name=name, origin=origin)
    sure = named or name.strip().lower() in OUTRIGHT
    return _found_out(values, codes, classes=classes, name=name, origin=origin, outright=sure)


def _found_out(
    values: FloatArray, codes: Any, *, classes: Sequence[str], name: str, origin: Origin, outright: bool
) -> ReadConfidence:
    if not np.all(np.isfinite(values)):
        return ReadConfidence(values)
    if not (_in_unit(values) or _are_percent(values)):
        return _outside(values, codes, classes=classes, name=name, origin=origin)
    percent = not _in_unit(values)
    shares = values / 100 if percent else values
    low, high = (f"{values[at]:.4g}" for at in (np.argmin(values), np.argmax(values)))
    plain = ReadConfidence(shares, PERCENT, f"'{name}' goes from {low} to {high}: taken as percent")
    plain = plain if percent else ReadConfidence(shares)
    below = float(np.mean(shares < 0.5))
    if codes is None or len(classes) > 2 or not below or (outright and len(values) < ENOUGH):
        return plain
    side = _side(shares, codes, len(classes))
    if side is not None:
        said = classes[side] if side < len(classes) else f"not {classes[0]}"
        note = (
            f"'{name}' is the probability of '{said}', and was turned into the confidence in what was predicted"
            f" ({below:.0%} are under 0.5)"
        )
        return ReadConfidence(np.where(codes == side, shares, 1 - shares), said if side < len(classes) else "", note)
    if len(classes) < 2:
        return plain
    if below < ODD or outright:
        note = f"'{name}' is under 0.5 for {below:.1%} of the items, though there are two classes"
        return ReadConfidence(
            shares, plain.scale, f"{note}; if it is the probability of one: 'confidence={name}:CLASS'"
        )
    raise origin.error(
        f"is '{name}' the confidence in the prediction, or the probability of '{classes[-1]}'?"
        f" It is under 0.5 for {below:.0%} of the items, with two classes",
        rule="confidence is the probability of the predicted class",
        hint=f"--column 'confidence={name}:{classes[-1]}' for the probability of '{classes[-1]}', "
        f"--column 'confidence={name}:{SHARE}' if it is the confidence",
    )


def _side(shares: FloatArray, codes: Any, count: int) -> int | None:
    """The class whose probability it is: all items predicted as it have larger values than all others."""
    for side in (1, 0):
        here, there = shares[codes == side], shares[codes != side]
        if len(here) and len(there) and float(here.min()) >= float(there.max()):
            return side
    return 1 if count == 1 and float(shares.max()) < 0.5 else None


def _of_class(
    values: FloatArray, wanted: str, *, codes: Any, classes: Sequence[str], name: str, origin: Origin
) -> ReadConfidence:
    if codes is None or wanted not in classes or len(classes) > 2:
        raise origin.error(
            f"'{name}:{wanted}'",
            rule=f"what the numbers are: {SHARE}, {PERCENT}, {LOGIT}, or one of two classes that they are the"
            " probability of",
            hint=f"--column 'confidence={name}:{classes[-1] if len(classes) == 2 else PERCENT}'",
        )
    shares = values if _in_unit(values) else values / 100
    return ReadConfidence(np.where(codes == list(classes).index(wanted), shares, 1 - shares), wanted)


def _outside(values: FloatArray, codes: Any, *, classes: Sequence[str], name: str, origin: Origin) -> ReadConfidence:
    """Numbers that are neither shares nor percent: logits of two classes; a few bad values are refused later."""
    if np.mean(_beyond(values)) <= 0.5:
        return ReadConfidence(values)
    if codes is not None and len(classes) == 2 and _signed(values, codes) is not None:
        return _logit(values, codes, classes=classes, name=name, origin=origin)
    raise _no_confidence(values, name, origin)


def _logit(values: FloatArray, codes: Any, *, classes: Sequence[str], name: str, origin: Origin) -> ReadConfidence:
    side = None if codes is None or len(classes) != 2 else _signed(values, codes)
    if side is None:
        raise _no_confidence(values, name, origin)
    note = f"'{name}' is positive where '{classes[side]}' is predicted: taken as its logit"
    return ReadConfidence(1 / (1 + np.exp(-np.abs(values))), LOGIT, note)


def _signed(values: FloatArray, codes: Any) -> int | None:
    """The class that is predicted exactly where the values are positive."""
    return next((side for side in (1, 0) if np.array_equal(values > 0, codes == side)), None)


def _no_confidence(values: FloatArray, name: str, origin: Origin) -> Exception:
    return origin.error(
        f"'{name}' goes from {values.min():.4g} to {values.max():.4g}, which is no confidence",
        rule="confidence is the probability of the predicted class, from 0 to 1 or in percent",
        hint=f"--column confidence=none to go without it (--auxiliary '{name}' may use it if larger is riskier); "
        f"--column 'confidence={name}:percent' if that is what it is",
    )


def _beyond(values: FloatArray) -> BoolArray:
    return np.asarray((values < -SLACK) | (values > 1 + SLACK))


def _in_unit(values: FloatArray) -> bool:
    return not np.any(_beyond(values))


def _are_percent(values: FloatArray) -> bool:
    low, high = float(np.min(values)), float(np.max(values))
    return low >= 0 and HALF < high <= 100 * (1 + SLACK) and float(np.median(values)) > 1


def as_shares(matrix: Any, names: Sequence[str]) -> tuple[Any, str]:
    """Probabilities from percent or from logits, and what to tell the user; else the matrix as it is."""
    given = np.asarray(matrix)
    if given.dtype.kind not in "fiu" or given.ndim != 2 or not given.size or not np.all(np.isfinite(given)):
        return matrix, ""
    beyond = np.any(_beyond(given), axis=1)
    if not np.any(beyond):
        return matrix, ""
    totals = given.sum(axis=1, dtype=np.float64)
    if given.min() >= 0 and np.all(np.abs(totals - 100) <= 2):
        return (
            given / 100,
            f"the probabilities of {words.counted(given.shape[1], 'class', 'classes')} are taken as percent",
        )
    unlike = np.mean(beyond) > 0.5 and np.mean(np.abs(totals - 1) > 0.02) > 0.5
    if not unlike:
        return matrix, ""
    scaled = np.exp(given - given.max(axis=1, keepdims=True))
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    note = f"{shown} go from {given.min():.4g} to {given.max():.4g}: taken as logits, softmax applied"
    return scaled / scaled.sum(axis=1, keepdims=True), note
