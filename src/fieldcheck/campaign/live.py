"""A labelling project that runs for days, with several people: ask, tell, estimate."""

from __future__ import annotations

import contextlib
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.campaign.answers import Answer, is_lost
from fieldcheck.campaign.choose import auxiliary_names, auxiliary_of, frame_for
from fieldcheck.campaign.development import Development
from fieldcheck.campaign.drawing import drawn_event, sample_of
from fieldcheck.campaign.field import failure_threshold
from fieldcheck.campaign.founding import all_classes, begin, campaign_design, find, find_pool, places
from fieldcheck.campaign.progress import Failure, Nonresponse, Point, Progress, progress_of, reasons_of
from fieldcheck.campaign.queue import choice, is_theirs, may_draw
from fieldcheck.campaign.reading import (
    checked_key,
    checked_text,
    checked_words,
    meaning,
    read_label,
    unknown_item,
)
from fieldcheck.campaign.settings import INTERNAL, Settings
from fieldcheck.campaign.sheet import ALL_OR_NOTHING, Sheet
from fieldcheck.campaign.state import ItemState, State, fold
from fieldcheck.core.design import Design, spec
from fieldcheck.core.errors import CampaignError, LabelError, PoolError, StaleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.event import Event, Happening, Store
from fieldcheck.core.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import Loss
from fieldcheck.core.versions import versions
from fieldcheck.stores import file_of, open_store

T = TypeVar("T")

ATTEMPTS = 60
"""How often somebody else may come first before a change is given up."""

LONGEST_PAUSE = 0.25
"""Seconds between two attempts, at most."""

EFFORTLESS = frozenset({"skip", "skipped", "?"})
"""Words that skip an item without a reason."""

SAYING = ("labelled", "skipped", "flagged")
SAID = ("label", "reason", "note")
"""What an event says; the rest of its data follows from the moment."""

SEARCHED = 5_000
"""Ids of the pool that are searched for a similar one."""


@dataclass(frozen=True)
class Saying:
    """What somebody says about an item: a label, or, where it is empty, that there is none, and why."""

    item: str
    label: str = ""
    by: str = ""
    reason: str = ""


class Campaign:
    """A labelling project over a store: the events there are all that it is, and this object is a view of them.

    Any number of these objects, in any number of processes, may work on one store: each change names the last event
    it knew, and is decided anew where somebody else came first. May be used from several threads.
    """

    settings: Settings
    pool: Pool

    def __init__(
        self, store: Store, pool: Pool | str | Path | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        """A campaign that is there already; see ``create`` and ``open``."""
        self._store, self._clock = store, clock
        self._lock = threading.RLock()
        self._events = store.read()
        self._keys = {event.key: event for event in self._events}
        self._state = fold(self._events)
        self.settings = self._state.settings
        self.pool = find_pool(self.settings, pool, file_of(store))
        self._design = self.settings.build()
        self._check_pool()
        self._frame = frame_for(self.pool, self._design, None) if self._design.needs == "auxiliary" else None
        self._development = Development()
        self._found: dict[str, tuple[Any, Any]] = {}

    @classmethod
    def create(  # noqa: PLR0913 -- one parameter per option of a campaign, all but two by name
        cls,
        storage: str | Path | Store,
        pool: Pool | str | Path,
        design: Design | str = "waves",
        *,
        objective: str | None = None,
        budget: int | None = None,
        seed: int = 0,
        auxiliary: str | None = None,
        items: str | Path = "",
        loss: Loss = "squared",
        threshold: float | None = None,
        activations: npt.NDArray[Any] | None = None,
        pool_options: Mapping[str, Any] | None = None,
        title: str = "",
        labels_per_item: int = 1,
        lease_seconds: float = 600.0,
        more_classes: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Start a campaign and choose its first items.

        storage
            A file, ``postgresql://...``, or a store.
        objective
            What waves aim at: ``estimate``, ``balanced`` or ``expose``.
        budget
            Labels at most; left out (waves only), it goes on until somebody stops, or until all items are labelled.
        items
            Folder of the items' files.
        pool_options
            How to read the pool from its file: arguments of ``sources.load``.
        labels_per_item
            From so many different people, before an item is done.
        lease_seconds
            For so long an item that was asked for is nobody else's.
        more_classes
            That a label may name beside those of the pool.
        """
        options = dict(pool_options or {})
        loaded = pool if isinstance(pool, Pool) else sources.load(pool, **options)
        pool_file = str(loaded.origin.file if isinstance(pool, Pool) else pool)
        chosen = campaign_design(design, auxiliary, objective=objective, budget=budget)
        settings = Settings(
            title=title.strip() or loaded.name,
            design=spec(chosen),
            auxiliary=auxiliary_of(chosen),
            objective=str(getattr(chosen, "objective", "")),
            budget=budget,
            seed=seed,
            task=loaded.task,
            loss=loss,
            threshold=failure_threshold(loaded, threshold) if loaded.task == "regression" else 0.5,
            population=len(loaded),
            classes=all_classes(loaded, more_classes),
            labels_per_item=labels_per_item,
            lease_seconds=float(lease_seconds),
            pool_digest=loaded.digest(auxiliary_names(chosen, loaded)),
            pool_options=options,
            versions=versions(),
            **places(storage, pool_file, items),
        )
        loaded.check_budget(settings.most)
        sample = chosen.draw(frame_for(loaded, chosen, activations), None, budget=settings.most, seed=seed)
        store = storage if isinstance(storage, Store) else open_store(storage, create=True)
        with _closed_on_error(store):
            begin(store, settings, loaded, sample, at=clock())
            return cls(store, loaded, clock=clock)

    @classmethod
    def open(
        cls,
        storage: str | Path | Store,
        *,
        pool: Pool | str | Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Go on with a campaign.

        pool
            Left out, it is looked for where it was, and where it was as seen from the campaign's file.
        """
        store = storage if isinstance(storage, Store) else open_store(storage)
        with _closed_on_error(store):
            return cls(store, pool, clock=clock)

    def __enter__(self) -> Campaign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Let go of the store; the campaign itself goes on."""
        self._store.close()

    @property
    def state(self) -> State:
        """What the events read so far add up to."""
        return self._state

    @property
    def place(self) -> str:
        """Where it is kept, for messages."""
        return self._store.place

    @property
    def design(self) -> Design:
        """The technique."""
        return self._design

    @property
    def items_folder(self) -> Path | None:
        """The folder of the items' files, where there is one and it can be found."""
        return find(self.settings.items, self.settings.items_beside, file_of(self._store))

    def events(self) -> tuple[Event, ...]:
        """All that happened, as far as it was read."""
        return tuple(self._events)

    def refresh(self) -> State:
        """Read what happened since, and return the state."""
        with self._lock:
            self._take(self._store.read(self._state.number))
            return self._state

    def _take(self, events: Sequence[Event]) -> None:
        """Add events that follow those known."""
        if not events:
            return
        self._state = fold(events, self._state)
        self._events.extend(events)
        self._keys.update({event.key: event for event in events})

    def _append(self, events: Sequence[Event]) -> list[Event]:
        stored = self._store.append(events, seen=self._state.number)
        if stored[0].number == self._state.number + 1:
            self._take(stored)
        else:  # they were there already, from before or from somebody else
            self.refresh()
        return stored

    def _decided(self, step: Callable[[State], T], *, known_first: bool = False) -> T:
        """What a step decides on the newest state; decided anew where somebody else changed it in between.

        known_first
            Try the state that is known, without asking the store for news: right for steps that append, since the
            store refuses what was decided on an old state.
        """
        with self._lock:
            if known_first:
                with contextlib.suppress(StaleError, CampaignError, LabelError):
                    return step(self._state)
            for attempt in range(ATTEMPTS):
                try:
                    return step(self.refresh())
                except StaleError:
                    time.sleep(random.SystemRandom().uniform(0, min(LONGEST_PAUSE, 0.002 * 2**attempt)))
        raise CampaignError(
            f"{self.place}: {ATTEMPTS} times somebody else came first",
            rule="a change is made on the newest state",
            hint="try again in a moment",
        )

    def ask(self, by: str = "", *, n: int = 1) -> list[str]:
        """Items for somebody to label, at most ``n``; they are theirs for as long as the lease lasts.

        First those that are theirs already, then free ones in the order of the design. The next wave is drawn when
        the last one is done. None are left when the campaign is done or closed, or when others have them all.
        """
        if n < 1:
            raise CampaignError(f"{n} items asked for", rule="at least one")
        name = checked_text(by, "the name")
        return self._decided(lambda state: self._ask(state, name, n))

    def _ask(self, state: State, by: str, n: int) -> list[str]:
        if state.closed:
            return []
        while not (chosen := choice(state, by, n, now=self._clock())) and may_draw(state):
            self._append([replace(self._next_draw(state), at=self._clock())])
            state = self._state
        self._lease(chosen, by, now=self._clock())
        return [item.id for item in chosen]

    def _lease(self, items: Sequence[ItemState], by: str, *, now: float) -> None:
        """Make items somebody's, or theirs for longer; a lease that has more than half to go is left alone."""
        lasting = self.settings.lease_seconds
        ending = [item for item in items if not is_theirs(item, by, now + lasting / 2)]
        if ending:
            data = {"until": now + lasting}
            self._append([Event("leased", _new_key(), item=item.id, by=by, at=now, data=data) for item in ending])

    def _next_draw(self, state: State) -> Event:
        sheet = self._sheet(state)
        losses = sheet.history(self._answers(state))
        frame = self._frame or frame_for(self.pool, self._design, None)
        sample = self._design.draw(frame, losses, budget=self.settings.most, seed=self.settings.seed)
        return drawn_event(sample, self.pool, before=sheet.sample, state=state, losses=losses)

    def tell(self, item: str, label: str | float, *, by: str = "", key: str | None = None) -> Event:
        """Record somebody's label; telling again corrects one's own.

        It is accepted from whoever gives it, whoever has the item: work is not thrown away. A word that says that
        there is no label (``?``, ``unclear``, ...) skips the item.

        key
            Whoever may have to send it twice uses the same key; it is then recorded once.
        """
        typed = checked_words(str(label), "the label")
        if not typed:
            raise LabelError(f"no label for item '{item}'", rule="a label says something", hint="skip the item")
        if is_lost(Answer(item, 0, typed), self.settings.classes):
            return self.skip(item, "" if typed.lower() in EFFORTLESS else typed, by=by, key=key)

        def said(entry: ItemState, by: str) -> dict[str, Any]:
            prediction = self.prediction_of(entry.position)
            return {"label": read_label(typed, item, self.settings, prediction=prediction), "typed": typed}

        return self._mark("labelled", item, by, key, said)

    def tell_all(self, sayings: Sequence[Saying]) -> list[Event]:
        """Record many labels and skips at once: all of them, or none where one cannot be taken.

        What stands already is not recorded again.
        """
        checked = [_checked(saying) for saying in sayings]
        return self._decided(lambda state: self._tell_all(state, checked))

    def _tell_all(self, state: State, sayings: Sequence[Saying]) -> list[Event]:
        self._check_open(state)
        events = [self._event(self._entry(state, saying.item), saying) for saying in sayings]
        new = [event for event in events if self._repeated(state.items[event.item], event) is None]
        return self._append(new) if new else []

    def _event(self, entry: ItemState, saying: Saying) -> Event:
        said: dict[str, Any] = {"reason": saying.reason}
        if saying.label:
            prediction = self.prediction_of(entry.position)
            meant = read_label(saying.label, saying.item, self.settings, prediction=prediction)
            said = {"label": meant, "typed": saying.label}
        kind: Happening = "labelled" if saying.label else "skipped"
        return Event(kind, key=_new_key(), item=saying.item, by=saying.by, at=self._clock(), data=said)

    def _check_open(self, state: State) -> None:
        if state.closed:
            raise CampaignError("this campaign is closed", rule="nothing is taken any more", hint="start another")

    def skip(self, item: str, reason: str = "", *, by: str = "", key: str | None = None) -> Event:
        """Record that an item cannot be labelled: it is kept, with the reason, and reported as non-response."""
        said = {"reason": checked_words(reason, "the reason")}
        return self._mark("skipped", item, by, key, lambda entry, by: said)

    def flag(self, item: str, note: str = "", *, by: str = "", key: str | None = None) -> Event:
        """Record that somebody should look at this item again; it changes nothing else."""
        said = {"note": checked_words(note, "the note")}
        return self._mark("flagged", item, by, key, lambda entry, by: said)

    def retract(self, item: str, *, by: str = "", key: str | None = None) -> Event:
        """Undo one's own label or skip; the item is theirs again, to be labelled anew."""

        def undone(entry: ItemState, by: str) -> dict[str, Any]:
            mark = entry.mark_of(by)
            if mark is None:
                raise CampaignError(
                    f"'{by}' has said nothing about item '{item}'", rule="one's own label or skip can be retracted"
                )
            return {"of": mark.number, "until": self._clock() + self.settings.lease_seconds}

        return self._mark("retracted", item, by, key, undone)

    def release(self, item: str, *, by: str = "", key: str | None = None) -> Event:
        """Give an item back that was asked for; it is free for others."""

        def given(entry: ItemState, by: str) -> dict[str, Any]:
            if entry.lease is None or entry.lease.by != by:
                raise CampaignError(f"item '{item}' is not in the hands of '{by}'", rule="one's own items are released")
            return {}

        return self._mark("released", item, by, key, given)

    def close(self, *, by: str = "", key: str | None = None) -> Event:
        """End the campaign: nothing is asked for or taken any more. Closing it again changes nothing."""
        sent = checked_key(key) if key else f"{INTERNAL}closed"
        wish = Event("closed", key=sent, by=checked_text(by, "the name"))

        def step(state: State) -> Event:
            closed = next((event for event in reversed(self._events) if event.kind == "closed"), None)
            return closed or self._append([replace(wish, at=self._clock())])[0]

        return self._decided(step)

    def _mark(
        self,
        kind: Happening,
        item: str,
        by: str,
        key: str | None,
        said: Callable[[ItemState, str], dict[str, Any]],
    ) -> Event:
        """Record something that somebody says about an item."""
        sent = checked_key(key) if key else _new_key()
        wish = Event(kind, key=sent, item=str(item), by=checked_text(by, "the name"))

        def step(state: State) -> Event:
            entry = self._entry(state, wish.item)
            if wish.key in self._keys:
                return _same(self._keys[wish.key], replace(wish, data=said(entry, wish.by) if kind in SAYING else {}))
            self._check_open(state)
            event = replace(wish, data=said(entry, wish.by), at=self._clock())
            if not key and (repeated := self._repeated(entry, event)) is not None:
                return repeated
            return _same(self._append([event])[0], event)

        # Without a key a step may end without an append: what was said already is not said again.
        return self._decided(step, known_first=bool(key))

    def _repeated(self, entry: ItemState, event: Event) -> Event | None:
        """The event that says the same already: what stands need not be said again."""
        mark = entry.mark_of(event.by)
        if mark is None or event.kind not in ("labelled", "skipped"):
            return None
        stored = self._events[mark.number - 1]
        return stored if stored.kind == event.kind and _said(stored) == _said(event) else None

    def _entry(self, state: State, item: str) -> ItemState:
        """An item that was drawn; others are refused."""
        if item in state.items:
            return state.items[item]
        try:
            self.pool.position_of([item])
        except PoolError:
            ids = [*state.items, *(self.pool.id_of(at) for at in range(min(len(self.pool), SEARCHED)))]
            raise unknown_item(item, ids) from None
        raise LabelError(
            f"item '{item}' was not asked for",
            rule="labels belong to the items that were drawn: others have no known chance of being there",
            hint="label what the campaign asks for",
        )

    def prediction_of(self, position: int) -> str | float | None:
        """What the model said about an item of the pool; None where only outcomes are known."""
        if self.pool.predictions is None:
            return None
        said = self.pool.predictions[position]
        return self.pool.classes[int(said)] if self.pool.task == "classification" else float(said)

    def sheet(self) -> Sheet:
        """The sample so far as a labelling sheet: what slices, metrics and stop rules work on."""
        return self._sheet(self.refresh())

    def _sheet(self, state: State) -> Sheet:
        return self._remembered("sheet", len(state.draws), lambda: self._make_sheet(state))

    def _make_sheet(self, state: State) -> Sheet:
        positions = [item.position for item in state.items.values()]
        known = self.pool.predictions is not None
        return Sheet(
            # Whether more is to come is said by the progress of the campaign, not by each of its estimates.
            sample=replace(sample_of(state.draws, len(self.pool)), complete=True),
            design=self._design,
            budget=self.settings.most,
            seed=self.settings.seed,
            task=self.settings.task,
            loss=self.settings.loss,
            threshold=self.settings.threshold,
            ids=tuple(state.items),
            predictions=tuple(self.prediction_of(at) for at in positions) if known else None,  # type: ignore[misc]
            classes=self.settings.classes,
            pool_file=self.settings.pool_file,
            pool_digest=self.settings.pool_digest,
            pool_options=self.settings.pool_options,
            seen=state.seen,
        )

    def answers(self) -> dict[str, Answer]:
        """By id, what is settled: the label that counts, or that there is none.

        While people disagree about an item, it has none: that must not keep the others from being counted.
        """
        return dict(self._answers(self.refresh()))

    def _answers(self, state: State) -> Mapping[str, Answer]:
        return self._remembered("answers", state.changed, lambda: self._make_answers(state))

    def _make_answers(self, state: State) -> Mapping[str, Answer]:
        classes = self.settings.classes
        return {
            item.id: Answer(item.id, at, item.label, meaning(item.label, classes))
            if item.verdict == "labelled"
            else Answer(item.id, at, "skip", "lost")
            for at, item in enumerate(state.items.values(), start=1)
            if item.done or item.verdict == "disputed"
        }

    def labelled(self) -> tuple[Labelled, tuple[str, ...]]:
        """The sample with its labels, as far as it can be estimated from, and what to say about the rest."""
        return self._labelled(self.refresh())

    def _labelled(self, state: State) -> tuple[Labelled, tuple[str, ...]]:
        return self._sheet(state).labelled(self._answers(state), self._frame)

    def estimate(self, *, level: float = 0.95) -> Estimate:
        """What the labels say about the whole pool; ``LabelError`` while there are too few."""
        state = self.refresh()
        return self._remembered(
            "estimate",
            (state.changed, level),
            lambda: self._sheet(state).estimate(self._answers(state), self._frame, level=level),
        )

    def development(self, *, level: float = 0.95, points: int = 60) -> list[Point]:
        """The estimate as it developed with the labels, in the order of the design, in about so many points."""
        state = self.refresh()
        try:
            labelled, _ = self._labelled(state)
        except LabelError:
            return []
        return self._development.points(labelled, loss=self.settings.loss, level=level, most=points)

    def progress(self) -> Progress:
        """How far it is."""
        state = self.refresh()
        return progress_of(state, failures=len(self._failures(state)), now=self._clock())

    def failures(self) -> list[Failure]:
        """Items on which the model is wrong, in the order of the design."""
        return list(self._failures(self.refresh()))

    def _failures(self, state: State) -> list[Failure]:
        return self._remembered("failures", state.changed, lambda: self._make_failures(state))

    def _make_failures(self, state: State) -> list[Failure]:
        labelled = (item for item in state.items.values() if item.verdict == "labelled")
        return [self._failure(item) for item in labelled if self._is_failure(item)]

    def _is_failure(self, item: ItemState) -> bool:
        said = self.prediction_of(item.position)
        if isinstance(said, float):
            return abs(float(item.label) - said) > self.settings.threshold
        return item.label == "wrong" if said is None else item.label != said

    def _failure(self, item: ItemState) -> Failure:
        mark = next((mark for mark in item.labels if mark.text == item.label), item.labels[0])
        return Failure(item.id, item.position, item.label, self.prediction_of(item.position), mark.by, mark.at)

    def nonresponse(self, *, level: float = 0.95) -> Nonresponse | None:
        """What the items that nobody could label may do to the estimate; None where there are none."""
        state = self.refresh()
        if not (lost := sum(item.verdict == "skipped" for item in state.items.values())):
            return None
        sheet, answers = self._sheet(state), self._answers(state)
        whole = sheet.sample.estimator in ALL_OR_NOTHING
        wrong = None if self.settings.task == "regression" else 1.0
        return Nonresponse(
            count=lost,
            reasons=reasons_of(state.items.values()),
            estimate=None if whole else self.estimate(level=level),
            if_right=sheet.if_lost(answers, self._frame, loss=0.0, level=level),
            if_wrong=None if wrong is None else sheet.if_lost(answers, self._frame, loss=wrong, level=level),
        )

    def _remembered(self, name: str, key: Any, make: Callable[[], T]) -> T:
        """What was found for the same key last time, or found now."""
        last, value = self._found.get(name, (None, None))
        if last != key:
            value = make()
            self._found[name] = (key, value)
        return value  # type: ignore[no-any-return]

    def _check_pool(self) -> None:
        if self.pool.digest(auxiliary_names(self._design, self.pool)) != self.settings.pool_digest:
            raise CampaignError(
                f"pool '{self.pool.name}' is not the one that this campaign was started on",
                rule="the same items, predictions and auxiliary variables",
                hint=f"the original pool, {self.settings.pool_file or 'as it was'}",
            )


def _checked(saying: Saying) -> Saying:
    return Saying(
        saying.item,
        checked_words(saying.label, "the label"),
        checked_text(saying.by, "the name"),
        checked_words(saying.reason, "the reason"),
    )


def _new_key() -> str:
    return uuid.uuid4().hex


def _said(event: Event) -> dict[str, Any]:
    return {name: value for name, value in event.data.items() if name in SAID}


def _same(stored: Event, wish: Event) -> Event:
    """The stored event, if it is what was wished for; a key that was used for something else is refused."""
    if (stored.kind, stored.item, stored.by, _said(stored)) == (wish.kind, wish.item, wish.by, _said(wish)):
        return stored
    raise CampaignError(
        f"the key '{wish.key}' was used for something else: {stored.kind} '{stored.item}' by '{stored.by}'",
        rule="a key names one thing that happened",
        hint="a new key for each",
    )


@contextlib.contextmanager
def _closed_on_error(store: Store) -> Iterator[None]:
    try:
        yield
    except BaseException:
        store.close()
        raise
