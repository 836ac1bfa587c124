"""What to notice about a campaign before its number is believed."""

from __future__ import annotations

import numpy as np

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core import words
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import BoolArray, IntArray
from fieldcheck.numerics import ranks
from fieldcheck.numerics.regression import signals

LEAK_AUC = 0.998

LEAK_EXPLAINED = 0.95

ENOUGH = 20


def leak_warning(pool: Pool, auxiliary: str, *, items: IntArray, failed: BoolArray) -> tuple[str, ...]:
    """A warning when an auxiliary variable all but gives away the outcome of these items.

    No signal that is known before labelling does that; it usually was computed with the labels. One published subject
    has such a column: it takes ten values, one for each true class, and with the predicted class beside it nothing is
    left to estimate.
    """
    if min(int(failed.sum()), int((~failed).sum())) < ENOUGH:
        return ()
    values = derived.values(pool, auxiliary)[items]
    classes = None
    if pool.task == "classification" and pool.predictions is not None:
        classes = pool.predictions[items].astype(np.int64)
    if ranks.auc(values, failed) < LEAK_AUC and not ranks.explained(values, failed, classes) > LEAK_EXPLAINED:
        return ()
    return (leak_words(auxiliary),)


def leak_words(name: str) -> str:
    """What to say about a variable that gives away the outcome."""
    return (
        f"'{name}' separates right from wrong (nearly) perfectly: it looks as if it was computed from the labels; "
        "an estimate that uses it proves nothing"
    )


def signal_warnings(labelled: Labelled) -> tuple[str, ...]:
    """What the labels say about the signals that the sample was drawn by, one sentence for each worry."""
    frame = labelled.sample.frame
    if frame is None or labelled.task != "classification" or not (frame.auxiliary or frame.constant):
        return ()
    names = ", ".join(frame.auxiliary)
    found = signals.judged(frame, labelled.sample.items, labelled.losses)
    confident = {
        "over-confident": "the model is over-confident: it fails more often than its confidence says",
        "under-confident": "the model is under-confident: it fails less often than its confidence says",
    }
    return tuple(
        filter(
            None,
            [
                f"{names}: useless here, failures are as frequent where all looks safe; a random sample does as well"
                if found.useless
                else "",
                f"{names}: reversed, failures are where all looks safe; trust the protected interval only"
                if found.reversed
                else "",
                *map(leak_words, found.leaking),
                confident[found.calibration] if found.calibration else "",
                *(f"{name}: the same for all items, it tells nothing" for name in (*frame.constant, *found.constant)),
            ],
        )
    )


def small_sample_warning(labels: int) -> tuple[str, ...]:
    """A warning when the labels are too few for approximate intervals."""
    if labels < 20:
        few = words.counted(labels, "label")
        return (f"only {few}: simple random sampling (srs), whose interval is exact, is the better choice here",)
    return ()
