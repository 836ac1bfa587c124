"""From what people wrote in a label column to losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fieldcheck.core.errors import LabelError
from fieldcheck.core.labels import PLAIN, RIGHT, WRONG


@dataclass(frozen=True)
class Answer:
    """One filled-in cell: where it stands and what it says."""

    id: str
    line: int
    text: str


def classification_losses(
    answers: Sequence[Answer], predictions: Sequence[str] | None, classes: Sequence[str]
) -> tuple[list[float], tuple[str, ...]]:
    """1.0 where the model fails, one per answer, and what to tell the user.

    Answers are true classes, or all of them say right or wrong. A class that the model never predicts in this pool
    may be right (there are things it does not know) or a slip of the pen: it counts as a failure, and is named.
    """
    if _are_outcomes(answers, predictions, classes):
        return [0.0 if answer.text.lower() in RIGHT else 1.0 for answer in answers], ()
    if predictions is None:
        first = next(answer for answer in answers if answer.text.lower() not in RIGHT | WRONG)
        raise LabelError(
            f"label '{first.text}' of item '{first.id}' on line {first.line} says neither right nor wrong",
            rule="this pool has no predictions to compare a class with",
            hint="right or wrong for every item",
        )
    known = {_plain(name) for name in classes}
    strange = [answer for answer in answers if _plain(answer.text) not in known]
    losses = [float(_plain(a.text) != _plain(p)) for a, p in zip(answers, predictions, strict=True)]
    return losses, _strangers(strange)


def _are_outcomes(answers: Sequence[Answer], predictions: Sequence[str] | None, classes: Sequence[str]) -> bool:
    words = {answer.text.lower() for answer in answers}
    if not words <= RIGHT | WRONG:
        return False
    return predictions is None or not (words <= PLAIN or {name.lower() for name in classes} & words)


def _strangers(strange: Sequence[Answer]) -> tuple[str, ...]:
    if not strange:
        return ()
    first = strange[0]
    return (
        f"{len(strange)} labels name a class that the model never predicts in this pool, first '{first.text}' for item "
        f"'{first.id}' on line {first.line}: they count as failures; check that they are not misspelt",
    )


def _plain(text: str) -> str:
    """A class as it is compared: 7.0, which spreadsheets make of 7, is 7."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if math.isfinite(number) and number == int(number) else text


def regression_offsets(answers: Sequence[Answer], predictions: Sequence[float]) -> list[float]:
    """Absolute error, one per answer."""
    return [abs(_number(answer) - value) for answer, value in zip(answers, predictions, strict=True)]


def _number(answer: Answer) -> float:
    try:
        value = float(answer.text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LabelError(
            f"label '{answer.text}' of item '{answer.id}' on line {answer.line} is not a number",
            rule="the labels of a regression are finite numbers, with a decimal point",
            hint="correct the line, or clear the cell to leave the item unlabelled",
        )
    return value
