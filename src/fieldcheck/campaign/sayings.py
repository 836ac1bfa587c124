"""What somebody says about an item, and when two events say the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fieldcheck.campaign.labels import checked_text, checked_words
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import CampaignError

EFFORTLESS = frozenset({"skip", "skipped", "?"})
"""Words that skip an item without a reason."""


SAYING = ("labelled", "skipped", "flagged")


SAID = ("label", "reason", "note")
"""What an event says; the rest of its data follows from the moment."""


@dataclass(frozen=True)
class Saying:
    """What somebody says about an item: a label, or, where it is empty, that there is none, and why."""

    item: str
    label: str = ""
    by: str = ""
    reason: str = ""

    def checked(self) -> Saying:
        """The same without blanks around its words; what no campaign keeps is refused."""
        return replace(
            self,
            label=checked_words(self.label, "the label"),
            by=checked_text(self.by, "the name"),
            reason=checked_words(self.reason, "the reason"),
        )


def said(event: Event) -> dict[str, Any]:
    """The words of an event."""
    return {name: value for name, value in event.data.items() if name in SAID}


def same(stored: Event, wish: Event) -> Event:
    """The stored event, if it is what was wished for; a key that was used for something else is refused."""
    if (stored.kind, stored.item, stored.by, said(stored)) == (wish.kind, wish.item, wish.by, said(wish)):
        return stored
    raise CampaignError(
        f"the key '{wish.key}' was used for something else: {stored.kind} '{stored.item}' by '{stored.by}'",
        rule="a key names one thing that happened",
        hint="a new key for each",
    )
