"""From what people wrote in a label column to losses."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fieldcheck.core.errors import LabelError
from fieldcheck.core.words import counted

Meaning = Literal["as read", "right", "wrong", "lost", "disputed"]


@dataclass(frozen=True)
class SheetLabel:
    """One filled-in cell: where it stands and what it says.

    meant
        ``as read``: what the text says. A live campaign knows when a label is given whether it says that the model is
        right or wrong, or that the item cannot be labelled, whatever the classes are called; and where people disagree.
    """

    id: str
    line: int
    text: str
    meant: Meaning = "as read"


LOST = frozenset({"skip", "skipped", "?", "unclear", "unknown", "cannot say"})
"""What people write when an item cannot be labelled."""


def is_lost(answer: SheetLabel, classes: Sequence[str]) -> bool:
    """True where the answer is that there is none, or none yet, unless it names a class."""
    if answer.meant != "as read":
        return answer.meant in ("lost", "disputed")
    return answer.text.lower() in LOST and answer.text not in classes


def classification_losses(
    answers: Sequence[SheetLabel], predictions: Sequence[str] | None, classes: Sequence[str]
) -> tuple[list[float], tuple[str, ...]]:
    """1.0 where the model fails, one per answer, and what to tell the user.

    Answers are true classes, or all of them say right or wrong. A class that the model never predicts in this pool
    may be right (there are things it does not know) or a slip of the pen: it counts as a failure, and is named.
    """
    read = [at for at, answer in enumerate(answers) if answer.meant == "as read"]
    losses = [float(answer.meant == "wrong") for answer in answers]
    said = None if predictions is None else [predictions[at] for at in read]
    found, remarks = _losses_as_read([answers[at] for at in read], said, classes)
    for at, loss in zip(read, found, strict=True):
        losses[at] = loss
    return losses, remarks


def _losses_as_read(
    answers: Sequence[SheetLabel], predictions: Sequence[str] | None, classes: Sequence[str]
) -> tuple[list[float], tuple[str, ...]]:
    if are_outcomes(answers, predictions, classes):
        return [0.0 if answer.text.lower() in RIGHT else 1.0 for answer in answers], ()
    if predictions is None:
        first = next(answer for answer in answers if answer.text.lower() not in RIGHT | WRONG)
        raise LabelError(
            f"label '{first.text}' of item '{first.id}' on line {first.line} says neither right nor wrong",
            rule="this pool has no predictions to compare a class with",
            hint="right or wrong for every item",
        )
    meant = spelling(classes)
    said = [meant.get(plain(answer.text), meant.get(plain(answer.text).casefold())) for answer in answers]
    strange = [answer for answer, name in zip(answers, said, strict=True) if name is None]
    _refuse_digits(strange, answers, classes)
    losses = [float(name != plain(p)) for name, p in zip(said, predictions, strict=True)]
    return losses, _strangers(strange)


def spelling(classes: Sequence[str]) -> dict[str, str]:
    """From what may be written to the class it names: any case will do where no two classes differ in nothing else."""
    names = [plain(name) for name in classes]
    folded = [name.casefold() for name in names]
    alike = {fold: name for fold, name in zip(folded, names, strict=True) if folded.count(fold) == 1}
    return alike | {name: name for name in names}


def _refuse_digits(strange: Sequence[SheetLabel], answers: Sequence[SheetLabel], classes: Sequence[str]) -> None:
    """Refuse 0 and 1 beside classes with other names: they are meant as right and wrong, or the other way round."""
    if not strange or len(strange) < len(answers) or not {answer.text for answer in answers} <= PLAIN:
        return
    first = answers[0]
    names = ", ".join(classes[:5]) + (", ..." if len(classes) > 5 else "")
    raise LabelError(
        f"label '{first.text}' of item '{first.id}' on line {first.line} is no class, and may mean right or wrong",
        rule=f"labels are true classes ({names}), or right and wrong",
        hint="write right or wrong instead of 1 and 0",
    )


def are_outcomes(answers: Sequence[SheetLabel], predictions: Sequence[str] | None, classes: Sequence[str]) -> bool:
    """True where the answers say right or wrong, or where one says no more than wrong."""
    if any(answer.meant == "wrong" for answer in answers):
        return True
    words = {answer.text.lower() for answer in answers}
    if not words <= RIGHT | WRONG:
        return False
    return predictions is None or not (words <= PLAIN or {name.lower() for name in classes} & words)


def _strangers(strange: Sequence[SheetLabel]) -> tuple[str, ...]:
    if not strange:
        return ()
    first, labels = strange[0], counted(len(strange), "label names", "labels name")
    return (
        f"{labels} a class that the model never predicts in this pool, first '{first.text}' for item '{first.id}' on "
        f"line {first.line}: each counts as a failure; check that none is misspelt",
    )


def plain(text: str) -> str:
    """A class as it is compared: 7.0, which spreadsheets make of 7, is 7; an umlaut is one character."""
    text = unicodedata.normalize("NFC", text.strip())
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if math.isfinite(number) and number == int(number) else text


def regression_offsets(answers: Sequence[SheetLabel], predictions: Sequence[float]) -> list[float]:
    """Absolute error, one per answer."""
    return [abs(_number(answer) - value) for answer, value in zip(answers, predictions, strict=True)]


def _number(answer: SheetLabel) -> float:
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


RIGHT = frozenset({"pass", "passed", "right", "correct", "ok", "success", "true", "yes", "1"})


WRONG = frozenset({"fail", "failed", "wrong", "incorrect", "failure", "error", "false", "no", "0"})


PLAIN = frozenset({"1", "0"})
"""As likely to be classes: they mean an outcome only in a column that is named as one."""
