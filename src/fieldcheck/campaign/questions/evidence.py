"""From the state of a campaign to the evidence for its question, and whether it is enough for a number."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import numpy as np

from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.questions.base import LabelEvidence
from fieldcheck.campaign.state import Draw, State
from fieldcheck.core import draws, words
from fieldcheck.core.errors import LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.sample import Sample


def labels_of(state: State) -> dict[str, Label]:
    """By id, what is settled: the label that counts, or that there is none.

    While people disagree about an item, it has none: that must not keep the others from being counted.
    """
    return {
        item.id: item.label or Missing(disputed=not item.done)
        for item in state.items.values()
        if item.done or item.standing == "disputed"
    }


def _sample(parts: tuple[Draw, ...], population: int) -> Sample:
    """The sample so far, to the last bit as it was drawn."""
    last = parts[-1]
    return Sample(
        population=population,
        items=np.concatenate([np.array(draw.items, dtype=np.int64) for draw in parts]),
        estimator=last.estimator,
        draws=draws.joined([draws.draws_from(draw.draws) for draw in parts]),
        complete=True,  # whether more is to come is said by the progress of the campaign, not by each of its estimates
        warnings=last.warnings,
        train=None if last.train is None else np.concatenate([np.array(draw.train, dtype=bool) for draw in parts]),
    )


def evidence_of(state: State, labels: Mapping[str, Label] | None = None) -> LabelEvidence:
    """The sample so far with its labels, or with these."""
    sample = _sample(state.draws, state.settings.population)
    in_work = frozenset(item.id for item in state.items.open() if item.leases or item.labels or item.skips)
    return LabelEvidence(sample, tuple(state.items), labels_of(state) if labels is None else labels, in_work)


def as_it_was_seen(state: State) -> LabelEvidence:
    """What the design may see: a label that was corrected since its last draw must not change what was drawn."""
    return evidence_of(state, {**labels_of(state), **state.seen})


FIRST_NUMBER = 10
"""Labels under which no number is shown: it would be believed, and it would be wrong."""


def shown(found: Estimate | Comparison, place: str) -> Estimate | Comparison:
    """What may be shown: with fewer than ten labels, only how many are to come; unless they are all that there are.

    place
        Where the campaign is kept.
    """
    everything = found.contested if isinstance(found, Comparison) else found.population
    if found.labels >= min(FIRST_NUMBER, everything):
        return found
    short = isinstance(found, Estimate) and found.budget < FIRST_NUMBER
    raise LabelError(
        f"{words.counted(found.labels, 'label')} so far, {FIRST_NUMBER - found.labels} more for a first number",
        rule=f"a number is shown from {FIRST_NUMBER} labels on",
        hint=shlex.join(["fieldcheck", "extend", place, "--budget", str(FIRST_NUMBER)])
        if short
        else "label the items in the order of the list",
    )
