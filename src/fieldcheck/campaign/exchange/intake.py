"""From the lines of a file to labels of a campaign: each is checked before any is taken."""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.base import Fault, LabelLine, harmless
from fieldcheck.campaign.item_state import Annotation, ItemState
from fieldcheck.campaign.people import spelt
from fieldcheck.core.errors import CampaignError, LabelError, PoolError
from fieldcheck.core.label import Missing, checked_name

KEPT = 100
"""Faults, and disagreements, that are kept word by word; the others are counted."""


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
    settles
        They are the lead's word, and count whatever others say.
    """

    new: tuple[Annotation, ...]
    corrections: tuple[Annotation, ...]
    known: int
    blank: int
    faults: tuple[Fault, ...]
    faulty: int
    disagreements: tuple[str, ...]
    settles: bool = False


def prepare(
    campaign: Campaign,
    lines: Iterable[LabelLine | Fault],
    *,
    by: str = "",
    last_wins: bool = False,
    settle: bool = False,
) -> Intake:
    """Check every line against the campaign; nothing is changed.

    by
        Whose labels these are. A line that names somebody else is a fault: of two names, one is wrong.
    last_wins
        Of two different labels of one person for one item, take the later one; else neither.
    settle
        They are the lead's word.
    """
    sorting = _Sorting(campaign, by=checked_name(by, "the name"), last_wins=last_wins, settle=settle)
    for line in lines:
        sorting.take(line)
    return sorting.result()


def take(campaign: Campaign, intake: Intake) -> int:
    """Record what fits, all of it or nothing; the number of labels and skips that were stored."""
    return len(campaign.tell_all((*intake.new, *intake.corrections), settle=intake.settles))


class _Sorting:
    """A file on its way into a campaign; it lives for one call of ``prepare``."""

    def __init__(self, campaign: Campaign, *, by: str, last_wins: bool, settle: bool) -> None:
        self.campaign, self.last_wins, self.settle = campaign, last_wins, settle
        state = campaign.refresh()
        self.items: Mapping[str, ItemState] = state.items
        self.known = spellings(tuple(self.items))
        self.by = state.person(by)
        self.names = dict.fromkeys((*state.names, self.by))
        self.read: dict[tuple[str, str], tuple[str, Annotation]] = {}
        self.clashing: dict[tuple[str, str], tuple[str, Annotation]] = {}
        self.faults: list[Fault] = []
        self.faulty = self.blank = self.repeats = 0

    def take(self, line: LabelLine | Fault) -> None:
        if isinstance(line, Fault):
            self._fault(line.where, line.problem)
        elif not (line.text or line.skipped):
            self.blank += 1
        else:
            self._place(line)

    def _place(self, line: LabelLine) -> None:
        name = find_id(line.item, self.known)
        if name is None:
            self._fault(line.where, self._stranger(line.item) if len(self.faults) < KEPT else "")
            return
        try:
            annotation = self._read(line, self.items[name])
        except (LabelError, CampaignError) as error:
            self._fault(line.where, error.problem + (f"; try: {error.hint}" if error.hint else ""))
        else:
            self._add(line.where, annotation)

    def _read(self, line: LabelLine, item: ItemState) -> Annotation:
        """The line as the campaign reads it; what it cannot mean raises."""
        by = self._person(line)
        label = Missing() if line.skipped else self.campaign.read(item, line.text)
        if isinstance(label, Missing):
            label = Missing(line.reason or label.reason)
        return Annotation(item.id, label, by, line.text)

    def _person(self, line: LabelLine) -> str:
        """Whose line it is."""
        named = spelt(checked_name(line.by, "the name"), self.names)
        if named and self.by and named != self.by:
            raise LabelError(
                f"it names '{named}', and --by names '{self.by}'", hint="leave out --by, or correct the line"
            )
        if self.campaign.settings.labels_per_item > 1 and not (named or self.by):
            raise LabelError("it has no name on it", hint="--by NAME, or a column 'annotator'")
        self.names.setdefault(named)
        return named or self.by

    def _add(self, where: str, new: Annotation) -> None:
        key = (new.item, new.by)
        _, before = self.read.get(key, (where, None))
        if before is None or (not _agree(before, new) and self.last_wins):
            self.read[key] = where, new
        elif _agree(before, new) and key not in self.clashing:
            self.repeats += 1
        else:
            self._clash(where, new)

    def _clash(self, where: str, new: Annotation) -> None:
        """Two different labels of one person: neither line is taken, and both are named."""
        key = (new.item, new.by)
        there, before = self.read[key]
        if key not in self.clashing:
            self.clashing[key] = where, new
            self._contradiction((there, before), (where, new))
        self._contradiction((where, new), self.clashing[key] if _agree(before, new) else (there, before))

    def _contradiction(self, here: tuple[str, Annotation], there: tuple[str, Annotation]) -> None:
        self._fault(
            here[0],
            f"item '{here[1].item}' is {_said(here[1])} here and {_said(there[1])} in {there[0]}; "
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
        fitting = [read for key, read in self.read.items() if key not in self.clashing]
        changing = [one for _, one in fitting if not self._stands(one)]
        disagreements = [text for where, one in fitting for text in self._others(where, one)]
        return Intake(
            new=tuple(one for one in changing if self._before(one) is None),
            corrections=tuple(one for one in changing if self._before(one) is not None),
            known=self.repeats + len(fitting) - len(changing),
            blank=self.blank,
            faults=tuple(self.faults),
            faulty=self.faulty,
            disagreements=() if self.settle else tuple(disagreements[:KEPT]),
            settles=self.settle,
        )

    def _before(self, new: Annotation) -> Annotation | None:
        """What the same person said about the item before; where they settle it, what was settled."""
        item = self.items[new.item]
        return item.final if self.settle else item.annotation_of(new.by)

    def _stands(self, new: Annotation) -> bool:
        """Whether the campaign knows it already."""
        before = self._before(new)
        return before is not None and before.label == new.label

    def _others(self, where: str, new: Annotation) -> list[str]:
        """Where others said something else: people, not lines of this file, have to settle it."""
        labels = () if new.skipped else self.items[new.item].labels
        different = [one for one in labels if one.by != new.by and one.label != new.label]
        return [f"{where}: item '{new.item}' is {_said(new)}; {_whose(one)}" for one in different]


def _agree(one: Annotation, other: Annotation) -> bool:
    """Whether two lines say the same; two skips do, whatever their reasons."""
    return one.label == other.label or (one.skipped and other.skipped)


def _said(annotation: Annotation) -> str:
    return "skipped" if annotation.skipped else f"'{annotation.label}'"


def _whose(annotation: Annotation) -> str:
    return f"{annotation.by or 'an annotator without a name'} said '{annotation.label}'"


def find_id(shown: str, known: Mapping[str, str]) -> str | None:
    """The id that a cell means; None where there is none."""
    return known.get(composed(shown), known.get(shown.removesuffix(".0")))


def spellings(ids: Sequence[str]) -> dict[str, str]:
    """From what a row may say to the id it means: as it is, as it was written, and without the zeros before a number.

    Spreadsheets drop those zeros; ids that then are alike are only found in full.
    """
    short = {name: str(int(name)) for name in ids if name.isdecimal()}
    count = Counter(short.values())
    numbers = {number: name for name, number in short.items() if count[number] == 1}
    written = {composed(str(harmless(name))): name for name in ids}
    return numbers | written | {composed(name): name for name in ids}


def composed(text: str) -> str:
    """Text as it is compared: without blanks around it, an umlaut as one character."""
    return unicodedata.normalize("NFC", text.strip())
