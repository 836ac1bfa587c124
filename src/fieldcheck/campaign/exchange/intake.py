"""From the lines of a file to labels of a campaign: each is checked before any is taken."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.base import Entry, Fault
from fieldcheck.campaign.labels import checked_text, read_label
from fieldcheck.campaign.people import spelt
from fieldcheck.campaign.sayings import EFFORTLESS, Saying
from fieldcheck.campaign.sheets.files import find_id, spellings
from fieldcheck.campaign.state import Annotation, ItemState
from fieldcheck.core.errors import CampaignError, LabelError, PoolError
from fieldcheck.core.label import SheetLabel, is_lost

KEPT = 100
"""Faults, and disagreements, that are kept word by word; the others are counted."""


@dataclass(frozen=True)
class Given:
    """A line that fits the campaign.

    label
        As it counts; empty where the item was skipped.
    """

    where: str
    item: str
    typed: str
    label: str
    by: str
    reason: str = ""

    @property
    def skipped(self) -> bool:
        return not self.label

    def stands(self, state: ItemState) -> bool:
        """Whether the campaign knows it already."""
        marks = state.skips if self.skipped else state.labels
        said = self.reason if self.skipped else self.label
        return any((mark.by, mark.text) == (self.by, said) for mark in marks)


@dataclass(frozen=True)
class Intake:
    """What a file would change.

    new, corrections
        Labels and skips of somebody who had said nothing about the item, or something else.
    known, blank
        How many lines say what the campaign knows already, and how many say nothing.
    faults, faulty
        What cannot be taken: the first of them in words, and how many there are.
    disagreements
        Where somebody else said something different about the item: both stand.
    """

    new: tuple[Given, ...]
    corrections: tuple[Given, ...]
    known: int
    blank: int
    faults: tuple[Fault, ...]
    faulty: int
    disagreements: tuple[str, ...]


def prepare(campaign: Campaign, entries: Iterable[Entry | Fault], *, by: str = "", last_wins: bool = False) -> Intake:
    """Check every line against the campaign; nothing is changed.

    by
        Whose labels these are. A line that names somebody else is a fault: of two names, one is wrong.
    last_wins
        Of two different labels of one person for one item, take the later one; else neither.
    """
    sorting = _Sorting(campaign, by=checked_text(by, "the name"), last_wins=last_wins)
    for entry in entries:
        sorting.take(entry)
    return sorting.result()


def take(campaign: Campaign, intake: Intake) -> int:
    """Record what fits, all of it or nothing; the number of labels and skips that were stored."""
    wanted = (*intake.new, *intake.corrections)
    sayings = [Saying(one.item, "" if one.skipped else one.typed, one.by, one.reason) for one in wanted]
    return len(campaign.tell_all(sayings))


class _Sorting:
    """A file on its way into a campaign; it lives for one call of ``prepare``."""

    def __init__(self, campaign: Campaign, *, by: str, last_wins: bool) -> None:
        self.campaign, self.last_wins = campaign, last_wins
        state = campaign.refresh()
        self.items: Mapping[str, ItemState] = state.items
        self.known = spellings(tuple(self.items))
        self.by = state.person(by)
        self.names = dict.fromkeys((*state.names, self.by))
        self.given: dict[tuple[str, str], Given] = {}
        self.clashing: dict[tuple[str, str], Given] = {}
        self.faults: list[Fault] = []
        self.faulty = self.blank = self.repeats = 0

    def take(self, entry: Entry | Fault) -> None:
        if isinstance(entry, Fault):
            self._fault(entry.where, entry.problem)
        elif not (entry.text or entry.skipped):
            self.blank += 1
        else:
            self._place(entry)

    def _place(self, entry: Entry) -> None:
        name = find_id(entry.item, self.known)
        if name is None:
            self._fault(entry.where, self._stranger(entry.item) if len(self.faults) < KEPT else "")
            return
        try:
            given = self._read(entry, name)
        except (LabelError, CampaignError) as error:
            self._fault(entry.where, error.problem + (f"; try: {error.hint}" if error.hint else ""))
        else:
            self._add(given)

    def _read(self, entry: Entry, name: str) -> Given:
        """The line as the campaign reads it; what it cannot mean raises."""
        settings, by = self.campaign.settings, self._person(entry)
        if entry.skipped or is_lost(SheetLabel(name, 0, entry.text), settings.classes):
            why = entry.reason or ("" if entry.text.lower() in EFFORTLESS else entry.text)
            return Given(entry.where, name, entry.text, "", by, why)
        prediction = self.campaign.view.prediction_of(self.items[name].position)
        return Given(entry.where, name, entry.text, read_label(entry.text, name, settings, prediction=prediction), by)

    def _person(self, entry: Entry) -> str:
        """Whose line it is."""
        named = spelt(checked_text(entry.by, "the name"), self.names)
        if named and self.by and named != self.by:
            raise LabelError(
                f"it names '{named}', and --by names '{self.by}'", hint="leave out --by, or correct the line"
            )
        if self.campaign.settings.labels_per_item > 1 and not (named or self.by):
            raise LabelError("nobody's name is on it", hint="--by NAME, or a column 'annotator'")
        self.names.setdefault(named)
        return named or self.by

    def _add(self, given: Given) -> None:
        key = (given.item, given.by)
        before = self.given.get(key)
        if before is None or (before.label != given.label and self.last_wins):
            self.given[key] = given
        elif before.label == given.label and key not in self.clashing:
            self.repeats += 1
        else:
            self._clash(before, given)

    def _clash(self, before: Given, given: Given) -> None:
        """Two different labels of one person: neither line is taken, and both are named."""
        key = (given.item, given.by)
        if key not in self.clashing:
            self.clashing[key] = given
            self._contradiction(before, given)
        self._contradiction(given, before if before.label != given.label else self.clashing[key])

    def _contradiction(self, here: Given, there: Given) -> None:
        self._fault(
            here.where,
            f"item '{here.item}' is {_said(here)} here and {_said(there)} in {there.where}; "
            "try: remove one of them, or --last-wins",
        )

    def _fault(self, where: str, problem: str) -> None:
        self.faulty += 1
        if len(self.faults) < KEPT:
            self.faults.append(Fault(where, problem))

    def _stranger(self, item: str) -> str:
        try:
            self.campaign.pool.position_of([item])
        except PoolError:
            close = difflib.get_close_matches(item, self.known, n=3)
            return f"no item '{item}' in this campaign" + (f"; try: {' or '.join(close)}" if close else "")
        return f"item '{item}' was not asked for: only what was drawn can be counted"

    def result(self) -> Intake:
        fitting = [given for key, given in self.given.items() if key not in self.clashing]
        changing = [given for given in fitting if not given.stands(self.items[given.item])]
        corrections = [given for given in changing if self.items[given.item].annotation_of(given.by) is not None]
        disagreements = [text for given in fitting for text in self._others(given)]
        return Intake(
            new=tuple(given for given in changing if self.items[given.item].annotation_of(given.by) is None),
            corrections=tuple(corrections),
            known=self.repeats + len(fitting) - len(changing),
            blank=self.blank,
            faults=tuple(self.faults),
            faulty=self.faulty,
            disagreements=tuple(disagreements[:KEPT]),
        )

    def _others(self, given: Given) -> list[str]:
        """Where others said something else: people, not lines of this file, have to settle it."""
        marks = () if given.skipped else self.items[given.item].labels
        different = [mark for mark in marks if mark.by != given.by and mark.text != given.label]
        return [f"{given.where}: item '{given.item}' is {_said(given)}; {_whose(mark)}" for mark in different]


def _said(given: Given) -> str:
    return "skipped" if given.skipped else f"'{given.label}'"


def _whose(mark: Annotation) -> str:
    return f"{mark.by or 'somebody without a name'} said '{mark.text}'"
