"""What a campaign asks: which items are drawn for it, and what is said in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.settings import Settings
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """The sample so far, and what people said about it.

    ids
        One per distinct item, in the order to label them.
    labels
        By id: the label that counts, or that there is none.
    in_work
        Items that people have at hand, or that wait for one more of them: a gap there is no gap, but work in progress.
    """

    sample: Sample
    ids: tuple[str, ...]
    labels: Mapping[str, Label]
    in_work: frozenset[str] = frozenset()

    def first(self, draws: int) -> LabelEvidence:
        """Of the first draws only."""
        sample = self.sample.prefix(draws)
        ids = self.ids[: len(sample.to_label())]
        return LabelEvidence(sample, ids, {name: self.labels[name] for name in ids if name in self.labels})


@dataclass(frozen=True, eq=False)
class PastLabels:
    """What a campaign knows that another version can be judged by.

    pool
        All items, with what the version of that campaign said.
    labels
        By id: the label that counts, or that there is none.
    """

    pool: Pool
    history: reuse.History
    labels: Mapping[str, Label]
    notes: tuple[str, ...]


class Question(Protocol):
    """What a campaign asks about its pool. Events, people, files, page and report are the same for all questions."""

    name: ClassVar[str]

    @property
    def until(self) -> str:
        """When it ends, where there is no budget."""
        ...

    @property
    def extendable(self) -> bool:
        """Whether it can go on with a larger budget."""
        ...

    @property
    def pools(self) -> tuple[Pool, ...]:
        """One per model. With several, right and wrong say too little."""
        ...

    @property
    def pool(self) -> Pool:
        """What people see; its predictions are the first model's."""
        ...

    @property
    def design(self) -> Design:
        """The technique."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before anything is labelled."""
        ...

    def extended(self, settings: Settings) -> Question:
        """The same question with a larger budget: what was drawn before stays."""
        ...

    def digest(self) -> str:
        """A fingerprint of all that the items are drawn by."""
        ...

    def draw(self, evidence: LabelEvidence | None) -> Sample:
        """The items to label: those of the evidence, and those that come after them, as far as the labels allow."""
        ...

    def enough(self, evidence: LabelEvidence) -> bool:
        """Whether the labels answer it, so that no further items are drawn."""
        ...

    def statement(self, evidence: LabelEvidence, *, level: float) -> Estimate | Comparison:
        """The answer; ``LabelError`` while there are too few labels."""
        ...

    def labelled(self, evidence: LabelEvidence) -> tuple[Labelled, tuple[str, ...]]:
        """The sample as slices, metrics and stop rules need it, and what to say about the rest."""
        ...

    def if_lost(self, evidence: LabelEvidence, loss: float, *, level: float) -> Estimate | None:
        """The answer if every item that has no label to be had had this loss; None where that is not known."""
        ...
