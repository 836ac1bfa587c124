"""Where the model fails: what was taken for what, and the failing items as people see them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import export
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.progress import Failure
from fieldcheck.core import label, words
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.exhibit import Table
from fieldcheck.report.blocks import Block, Card, Gallery, Section
from fieldcheck.report.thumbnail import thumbnail

SHOWN = 48
"""Failures in the gallery."""

CONFUSIONS = 10
"""Pairs of classes in the table."""

HEAVIEST = 6_000_000
"""Bytes of pictures in a page."""

LONGEST = 600
"""Letters of a text in the gallery."""


def failures(campaign: Campaign) -> Iterator[Section]:
    """A section, where there are some."""
    found = campaign.failures()
    if not found:
        return
    ordered = _telling_first(campaign, found)
    blocks: list[Block] = [table] if (table := _confusions(found)) is not None else []
    blocks.append(_gallery(campaign, ordered))
    text = (
        f"Of the labelled items, {words.counted(len(found), 'is a failure', 'are failures')}. Items that look risky "
        "are drawn more often, so that the share of failures among the labelled items says nothing about the whole "
        "pool: the estimate above does."
    )
    yield Section("Where it fails", tuple(blocks), text)


def _telling_first(campaign: Campaign, found: Sequence[Failure]) -> list[Failure]:
    """Large errors first; of classes, the confusions that were found most often."""
    if campaign.settings.task == "regression":
        return sorted(found, key=_offset, reverse=True)
    often = Counter(_pair(one) for one in found)
    return sorted(found, key=lambda one: (-often[_pair(one)], _pair(one)))


def _offset(failure: Failure) -> float:
    return abs(float(str(failure.label)) - float(failure.prediction or 0.0))


def _pair(failure: Failure) -> tuple[str, str]:
    return str(failure.label), str(failure.prediction)


def _confusions(found: Sequence[Failure]) -> Table | None:
    """What was taken for what; None for numbers, and where nothing is known but that it was wrong."""
    pairs = Counter(
        _pair(one) for one in found if isinstance(one.prediction, str) and isinstance(one.label, label.TrueClass)
    )
    if not pairs:
        return None
    rows = tuple((truth, said, number) for (truth, said), number in pairs.most_common(CONFUSIONS))
    rest = len(pairs) - len(rows)
    return Table(
        "confusions",
        "What was taken for what",
        ("true label", "the model said", "failures found"),
        rows,
        note=f"{words.counted(rest, 'further pair was', 'further pairs were')} found less often." if rest else "",
    )


def _gallery(campaign: Campaign, found: Sequence[Failure]) -> Gallery:
    cards, room = list[Card](), HEAVIEST
    for failure in found[:SHOWN]:
        cards.append(_card(campaign, failure, room=room))
        room -= len(cards[-1].picture)
    rest = len(found) - len(cards)
    note = (
        f"{words.count(rest)} more: fieldcheck failures {shlex.quote(campaign.place)} --out failing.csv" if rest else ""
    )
    return Gallery("failures", "Failures", tuple(cards), note)


def _card(campaign: Campaign, failure: Failure, *, room: int) -> Card:
    said = failure.prediction
    truth = "not what the model said" if failure.label == label.Outcome(right=False) else str(failure.label)
    facts = [("truth", truth), ("model", said)] if isinstance(said, str) else [("truth", truth)]
    if isinstance(said, float):
        facts = [("truth", words.short(float(truth), 4)), ("model", words.short(said, 4))]
    card = Card(failure.item, tuple(facts))
    try:
        content = export.content_at(campaign, failure.item)
        return _with_picture(card, content, room=room) if content.kind == "image" else _with_words(card, content)
    except (OSError, FieldcheckError):
        return card


def _with_picture(card: Card, content: Content, *, room: int) -> Card:
    small = thumbnail(content.read())
    if not small.content or len(small.content) > room:
        return replace(card, text="(this picture cannot be shown here)")
    return replace(card, picture=small.content, tiny=small.tiny)


def _with_words(card: Card, content: Content) -> Card:
    text = content.text if len(content.text) <= LONGEST else content.text[:LONGEST] + " …"
    return replace(card, text=text, row=content.pairs)
