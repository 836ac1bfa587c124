"""What a campaign was started with; only its budget may be extended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.assessment.certify import CertifyingBets
from fieldcheck.accuracy.designs import base as designs
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.types import Loss, Task
from fieldcheck.files import schema

INTERNAL = "fieldcheck:"
"""What the keys of events begin with that nobody sends."""

FORMAT = 2
"""Of the records of a campaign; what another version wrote is refused."""

RECORD: schema.Schema = {
    **dict.fromkeys(("title", "design", "auxiliary", "objective", "task", "loss"), str),
    "budget": int | None,
    "seed": int,
    "threshold": schema.NUMBER,
    "population": int,
    "classes": list,
    "format": int,
    "labels_per_item": int,
    "lease_seconds": schema.NUMBER,
    "pool_options": dict,
    "versions": dict,
    **dict.fromkeys(("pool_file", "pool_beside", "pool_digest", "items", "items_beside"), str),
}


@dataclass(frozen=True)
class Place:
    """Where a file or folder was: from the root, and as seen from the campaign's file; empty where there is none."""

    recorded: str = ""
    beside: str = ""


@dataclass(frozen=True)
class Other:
    """What a question needs beside the pool: the pool of another model, or an earlier campaign.

    place, address
        Where it is: a file, or the address of a store.
    number
        Of the earlier campaign's last event that counts.
    columns
        How a pool was read: from a role to a column.
    trained, trained_on
        Whether the new version was trained on what the earlier campaign gave away for that, and on which further items.
    """

    place: Place = Place()
    address: str = ""
    number: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    trained: bool = False
    trained_on: Sequence[str] = ()

    @property
    def campaign(self) -> bool:
        """Whether it is an earlier campaign."""
        return self.number > 0


MOST_TRAINED = 0.9
"""Of the labels, at most, to train with."""


@dataclass(frozen=True)
class Settings:
    """What a campaign was started with.

    design, auxiliary
        The technique as it is written on the command line, and the auxiliary variable it uses.
    objective
        What waves aim at; empty for other techniques.
    budget
        Labels at most; None: until somebody stops.
    population
        Items of the pool.
    classes
        All that a label may name: those of the pool, then further ones.
    labels_per_item
        From so many different people, before an item is done.
    lease_seconds
        For so long an item is kept for whoever asked.
    pool_file, pool_beside, pool_options, pool_digest
        The pool: where it was, where it is as seen from the campaign's file, how to read it, its fingerprint.
    pool_source
        Of a pool in shards, which are checked when it is opened: where they are the same files, so is its fingerprint.
    items, items_beside
        Folder of the items' files, likewise; empty where there is none.
    earlier
        Budgets that it had before it was extended, in order.
    instructions, descriptions
        For people who label: how to do it, in Markdown; and, by class, what it means.
    certify
        The accuracy that bets are to certify; None in other campaigns.
    half_width
        Until the protected interval reaches no farther than this from its middle; None: by budget, or until you stop.
    narrow
        Whether it was that narrow when the budget was extended: from then on the budget says when it ends.
    not_worse
        A comparison: by how much the first model may be worse.
    question, others
        What it asks, and what that needs beside the pool.
    train_share
        Share of the labels that is set apart to train the next version with.
    """

    title: str
    design: str
    auxiliary: str
    objective: str
    budget: int | None
    seed: int
    task: Task
    loss: Loss
    threshold: float
    population: int
    classes: tuple[str, ...] = ()
    labels_per_item: int = 1
    lease_seconds: float = 600.0
    pool_file: str = ""
    pool_beside: str = ""
    pool_digest: str = ""
    pool_source: str = ""
    pool_options: Mapping[str, Any] = field(default_factory=dict)
    items: str = ""
    items_beside: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    earlier: tuple[int | None, ...] = ()
    instructions: str = ""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    certify: float | None = None
    half_width: float | None = None
    narrow: bool = False
    not_worse: float | None = None
    question: str = "accuracy"
    others: tuple[Other, ...] = ()
    train_share: float = 0.0
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.labels_per_item < 1:
            raise CampaignError(f"{self.labels_per_item} labels per item", rule="at least one")
        if not 0 <= self.train_share <= MOST_TRAINED:
            raise CampaignError(
                f"a share of {self.train_share:g} to train with",
                rule=f"from 0 to {MOST_TRAINED:g}: what is not kept cannot judge the next version",
                hint="--train-share 0.5",
            )
        if not self.lease_seconds > 0:
            raise CampaignError(f"a lease of {self.lease_seconds:g} seconds", rule="more than 0", hint="600")

    @property
    def most(self) -> int:
        """Labels at most, also where nobody said so: the whole pool."""
        return self.population if self.budget is None else self.budget

    def narrowed(self, labels: int) -> Settings:
        """Once the interval is as narrow as was asked for: so many labels were the budget."""
        return replace(self, budget=labels, narrow=True)

    def extended(self, budget: int) -> Settings:
        """With a larger budget."""
        return replace(self, budget=budget, earlier=(*self.earlier, self.budget))

    @property
    def budgets(self) -> tuple[int, ...]:
        """All that it had, in order, each as ``most``."""
        return tuple(self.population if one is None else one for one in (*self.earlier, self.budget))

    def build(self) -> designs.Design:
        """The technique."""
        if self.certify is not None:
            return CertifyingBets(self.certify, self.auxiliary)
        auxiliary = None if self.auxiliary == "none" else self.auxiliary
        return sampling.build_design(self.design, auxiliary, earlier=self.budgets[:-1])

    def as_record(self) -> dict[str, Any]:
        """Plain values, for the first event."""
        return {**asdict(self), "classes": list(self.classes), "earlier": list(self.earlier)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Settings:
        """The inverse of ``as_record``."""
        schema.checked(record, RECORD, "the first event of the campaign", CampaignError, hint="restore the last backup")
        if record["format"] != FORMAT:
            newer = record["format"] > FORMAT
            version = "a newer fieldcheck" if newer else "an older fieldcheck"
            raise CampaignError(
                f"this campaign was started by {version} (format {record['format']})",
                rule=f"this version reads format {FORMAT}",
                hint="pip install --upgrade fieldcheck" if newer else "export its labels with the older one",
            )
        known = {name.name for name in fields(cls)}
        given = {name: value for name, value in record.items() if name in known}
        others = tuple(Other(**{**one, "place": Place(**one["place"])}) for one in record.get("others", ()))
        earlier = tuple(record.get("earlier", ()))
        return cls(**{**given, "classes": tuple(record["classes"]), "earlier": earlier, "others": others})
