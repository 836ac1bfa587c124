"""One judge per predicted class, and what to do with items of a class that has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.auxiliary.traces.parts import SingleArray, activations, codes
from fieldcheck.core.types import FloatArray, IntArray

Judge = Callable[[SingleArray], FloatArray]


@dataclass(frozen=True, eq=False)
class ByClass:
    """Judges of activation traces by class. An item of a class without one is judged by the class that it fits best.

    whole
        There is one judge for all items, that of class 0.
    neurons
        Columns of the activations.
    """

    judges: Mapping[int, Judge]
    whole: bool
    neurons: int

    def values(self, trace: Trace, *, by: str) -> FloatArray:
        """One per item; 0 where there is no judge at all."""
        traces = activations(trace, by=by, columns=self.neurons)
        said = _groups(trace, whole=self.whole, by=by)
        result = np.zeros(len(said))
        for code, judge in self.judges.items():
            at = np.flatnonzero(said == code)
            if len(at):
                result[at] = judge(traces[at])
        rest = np.flatnonzero(~np.isin(said, list(self.judges)))
        if len(rest) and self.judges:
            result[rest] = np.min([judge(traces[rest]) for judge in self.judges.values()], axis=0)
        return result


def split(reference: Trace, *, whole: bool, by: str) -> dict[int, SingleArray]:
    """The activation traces of each predicted class; all under 0 where they are judged as a whole."""
    traces, said = activations(reference, by=by), _groups(reference, whole=whole, by=by)
    return {int(code): traces[said == code] for code in np.unique(said)}


def _groups(trace: Trace, *, whole: bool, by: str) -> IntArray:
    return np.zeros(len(trace), dtype=np.int64) if whole else codes(trace, by=by)


def missing_classes(reference: Trace) -> list[int]:
    """Classes that are known to exist and that no item of the reference is predicted as."""
    known = [int(np.max(reference.predictions)) + 1]
    if reference.probabilities is not None:
        known.append(reference.probabilities.shape[1])
    if reference.labels is not None:
        known.append(int(np.max(reference.labels)) + 1)
    return sorted(set(range(max(known))) - set(np.unique(reference.predictions).tolist()))


def listed(classes: Iterable[int], *, most: int = 10) -> str:
    """``class 3``, or ``classes 3, 5, 8``; long lists are cut."""
    numbers = [str(code) for code in classes]
    more = f" and {len(numbers) - most:,} more" if len(numbers) > most else ""
    return ("class " if len(numbers) == 1 else "classes ") + ", ".join(numbers[:most]) + more


def orphans_note(name: str, classes: Iterable[int], *, why: str) -> tuple[str, ...]:
    """What to say about classes without a judge; nothing when there are none."""
    found = list(classes)
    if not found:
        return ()
    return (f"{name}: {why} {listed(found)}: items predicted as such are judged by the class that they fit best",)
