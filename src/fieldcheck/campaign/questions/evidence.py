"""From the state of a campaign to the evidence for its question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fieldcheck.campaign.drawing import sample_of
from fieldcheck.campaign.questions.base import LabelEvidence
from fieldcheck.campaign.state import State
from fieldcheck.core.label import Label, Missing


def labels_of(state: State) -> dict[str, Label]:
    """By id, what is settled: the label that counts, or that there is none.

    While people disagree about an item, it has none: that must not keep the others from being counted.
    """
    return {
        item.id: item.label or Missing(disputed=not item.done)
        for item in state.items.values()
        if item.done or item.standing == "disputed"
    }


def evidence_of(state: State, labels: Mapping[str, Label] | None = None) -> LabelEvidence:
    """The sample so far with its labels, or with these."""
    # Whether more is to come is said by the progress of the campaign, not by each of its estimates.
    sample = replace(sample_of(state.draws, state.settings.population), complete=True)
    in_work = frozenset(item.id for item in state.items.open() if item.leases or item.labels or item.skips)
    return LabelEvidence(sample, tuple(state.items), labels_of(state) if labels is None else labels, in_work)


def as_it_was_seen(state: State) -> LabelEvidence:
    """What the design may see: a label that was corrected since its last draw must not change what was drawn."""
    return evidence_of(state, {**labels_of(state), **state.seen})
