"""What people say about items: read, checked, and put on record once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fieldcheck.campaign.item_state import Annotation, ItemState
from fieldcheck.campaign.labels import checked_key, read, unknown_item
from fieldcheck.campaign.log import ABOUT_ITEMS, EventLog, new_key, said, same
from fieldcheck.campaign.people import spelt
from fieldcheck.campaign.state import State
from fieldcheck.campaign.stores.base import Event, EventKind
from fieldcheck.campaign.view import CampaignView
from fieldcheck.core import measures
from fieldcheck.core.errors import CampaignError, LabelError, PoolError
from fieldcheck.core.label import Label, Missing, as_record, checked_name, checked_words

SEARCHED = 5_000
"""Ids of the pool that are searched for a similar one."""


@dataclass(frozen=True, eq=False)
class Recorder:
    """Puts on record what is said, where it can be taken; what stands already is not recorded again."""

    log: EventLog
    view: CampaignView
    clock: Callable[[], float]

    def read(self, item: ItemState, text: str) -> Label:
        """What a text says about an item of this campaign; what it cannot mean is refused."""
        several, known = len(self.view.question.pools) > 1, self.view.pool.predictions is not None
        label = read(
            text,
            task=self.view.settings.task,
            classes=self.log.state.classes if known else (),
            prediction=None if several else self.view.pool.prediction_at(item.position),
            item=item.id,
        )
        if several:
            measures.refuse_outcomes({item.id: label})
        return label

    def read_known(self, item: str, typed: str) -> Label:
        """What a text says about an item by its id, which may have been drawn a moment ago."""
        known = self.log.state if item in self.log.state.items else self.log.refresh()
        return self.read(self._entry(known, item), typed)

    def record(
        self,
        kind: EventKind,
        item: str,
        by: str,
        key: str | None,
        words: Callable[[ItemState, str], dict[str, Any]],
    ) -> Event:
        """Record something that a person says about an item."""
        sent = checked_key(key) if key else new_key()
        name = checked_name(by, "the name")

        def step(state: State) -> Event:
            entry = self._entry(state, str(item))
            wish = Event(kind, key=sent, item=entry.id, by=state.person(name))
            # While it is open, the store looks for the key of what is said itself, and gives back what it has.
            if key and (state.closed or kind not in ABOUT_ITEMS) and (stored := self.log.keyed(sent)) is not None:
                return same(stored, replace(wish, data=words(entry, wish.by) if kind in ABOUT_ITEMS else {}))
            check_open(state)
            event = replace(wish, data=words(entry, wish.by), at=self.clock())
            if not key and (repeated := self._repeated(entry, event)) is not None:
                return repeated
            return same(self.log.append([event])[0], event)

        # Without a key a step may end without an append: what was said already is not said again.
        return self.log.decide(step, known_first=bool(key))

    def _repeated(self, entry: ItemState, event: Event) -> Event | None:
        """The event that says the same already: what stands need not be said again."""
        before = entry.final if event.kind == "settled" else entry.annotation_of(event.by)
        if before is None or event.kind not in ("labelled", "skipped", "settled"):
            return None
        stored = self.log.numbered(before.number)
        return stored if stored.kind == event.kind and said(stored) == said(event) else None

    def _entry(self, state: State, item: str) -> ItemState:
        """An item that was drawn; others are refused."""
        if item in state.items:
            return state.items[item]
        try:
            self.view.pool.position_of([item])
        except PoolError:
            ids = [*state.items, *(self.view.pool.id_of(at) for at in range(min(len(self.view.pool), SEARCHED)))]
            raise unknown_item(item, ids) from None
        raise LabelError(
            f"item '{item}' was not asked for",
            rule="labels belong to the items that were drawn: others have no known chance of being there",
            hint="label what the campaign asks for",
        )

    def record_all(self, state: State, annotations: Sequence[Annotation], *, settle: bool) -> list[Event]:
        """Many at once, from the state that they were said in."""
        check_open(state)
        if (pool := self.view.pool).predictions is not None:  # at once: each shard of a pool is read for all of them
            pool.predictions_at([state.items[one.item].position for one in annotations if one.item in state.items])
        names = dict.fromkeys(state.names)
        events = list[Event]()
        for one in annotations:
            by = spelt(one.by, names)
            names.setdefault(by)
            events.append(self._event(self._entry(state, one.item), replace(one, by=by), settle=settle))
        new = [event for event in events if self._repeated(state.items[event.item], event) is None]
        return self.log.append(new) if new else []

    def _event(self, entry: ItemState, said: Annotation, *, settle: bool) -> Event:
        kind: EventKind = "settled" if settle else "skipped" if said.skipped else "labelled"
        words = self._words(entry, said, settle=settle)
        return Event(kind, key=new_key(), item=entry.id, by=said.by, at=self.clock(), data=words)

    def _words(self, entry: ItemState, said: Annotation, *, settle: bool) -> dict[str, Any]:
        if isinstance(said.label, Missing) and settle:
            return {"label": as_record(said.label), "typed": said.typed}
        if isinstance(said.label, Missing):
            return {"reason": checked_words(said.label.reason, "the reason")}
        typed = said.typed or str(said.label)
        return {"label": as_record(self.read(entry, typed)), "typed": typed}


def check_open(state: State) -> None:
    """Refuse what comes too late."""
    if state.closed:
        raise CampaignError("this campaign is closed", rule="nothing is taken any more", hint="start another")
