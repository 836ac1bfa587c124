"""A labelling project that runs for days, with several people: ask, tell, estimate."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.assignment import choice, is_theirs, larger, may_draw
from fieldcheck.campaign.creation import Asked, asked_first, begin, kept, margin
from fieldcheck.campaign.item_state import Annotation, ItemState
from fieldcheck.campaign.labels import checked_key, person_name
from fieldcheck.campaign.log import EventLog, new_key, same
from fieldcheck.campaign.people import digest_of, new_token
from fieldcheck.campaign.places import file_to_be, place_of, pool_file
from fieldcheck.campaign.progress import Failure, Progress
from fieldcheck.campaign.questions import Question
from fieldcheck.campaign.recording import Recorder, check_open
from fieldcheck.campaign.settings import INTERNAL, Settings
from fieldcheck.campaign.state import State
from fieldcheck.campaign.stores import open_store
from fieldcheck.campaign.stores.base import Event, Store
from fieldcheck.campaign.view import CampaignView
from fieldcheck.core.errors import CampaignError, LabelError, StoreError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing, as_record, checked_name, checked_words
from fieldcheck.core.pool.engine import Engine
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Loss
from fieldcheck.core.versions import versions

SET_APART = ("--train-share", "0.5", "--campaign", "next.db")
"""How a campaign is started whose labels train the next version, too."""


class Campaign:
    """A labelling project over a store: the events there are all that it is.

    What changes it is here.

    log
        Its events, and how they are kept.
    view
        What they say: the estimate and how it developed, failures, what there is to see of an item.
    """

    def __init__(
        self,
        store: Store,
        asked: Question | Pool | str | Path | None = None,
        *,
        clock: Callable[[], float] = time.time,
        engine: Engine | None = None,
    ) -> None:
        """``asked`` is the question, or where its pool is now; ``engine`` is where the steps of shards run."""
        self._clock = clock
        self.log = EventLog(store)
        self.view = CampaignView(self.log, asked, clock=clock, engine=engine)
        self._recorder = Recorder(self.log, self.view, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Let go of the store; the campaign itself goes on."""
        self.log.close()

    @property
    def settings(self) -> Settings:
        """What it was started with."""
        return self.view.settings

    @property
    def pool(self) -> Pool:
        """All items, with the predictions."""
        return self.view.pool

    @property
    def place(self) -> str:
        """Where it is kept, for messages."""
        return self.log.place

    @property
    def state(self) -> State:
        """What the events read so far add up to."""
        return self.log.state

    def refresh(self) -> State:
        """Read what happened since, and return the state."""
        return self.log.refresh()

    def estimate(self, *, level: float = 0.95) -> Estimate | Comparison:
        """What the labels say about the whole pool; ``LabelError`` while there are too few."""
        return self.view.estimate(level=level)

    def progress(self) -> Progress:
        """How far it is."""
        return self.view.progress()

    def failures(self) -> list[Failure]:
        """Items on which the model is wrong, in the order of the design."""
        return self.view.failures()

    @classmethod
    def create(  # noqa: PLR0913 -- one parameter per option of a campaign, all but two by name
        cls,
        storage: str | Path | Store,
        pool: Any,
        design: Design | str = "waves",
        *,
        against: Sequence[Any] = (),
        reuse: str | Path | None = None,
        labels_unseen: bool = False,
        trained_on: Sequence[str] = (),
        train_share: float = 0.0,
        objective: str | None = None,
        certify: float | None = None,
        half_width: float | None = None,
        not_worse: float | None = None,
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
        new_classes: Sequence[str] = (),
        instructions: str = "",
        descriptions: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Start a campaign and choose its first items.

        storage
            A file, ``postgresql://...``, or a store.
        pool
            A pool, its file, or what ``load`` takes: a data frame, a dict of columns, a list of dicts. What is not a
            file is kept beside the campaign's.
        against
            Predictions of other models for the same items: which is better? Without a budget, every wave is looked at
            until that is decided.
        reuse, labels_unseen
            An earlier campaign on the same items: how accurate is this new version, given those labels? It has to be
            said that the new version was neither trained nor tuned on them. The budget is of further labels, a quarter
            of the old ones if left out. With ``against``, the comparison takes those labels.
        trained_on
            Where the earlier campaign exported items for training: ids of further items that this version was trained
            on. It is then judged by the labels that were kept, on the items that it has not seen.
        train_share
            Share of the labels that is set apart to train the next version with, before anything is drawn; the others
            are kept to judge it.
        objective
            What waves aim at: ``protected``, ``estimate``, ``balanced`` or ``expose``.
        not_worse
            With ``against``: decide whether this model is worse than the others by more than this; 0.01 is one point.
        certify
            Draw one at a time, with a bet on every label, until it is proven that the accuracy is at least this, or
            that it is below; it may be looked at after every label.
        half_width
            Go on until the protected interval reaches no farther than this from its middle (0.02 is two points); the
            last waves are as small as the forecast allows. ``budget`` is then where to give up.
        budget
            Labels at most; left out (waves only), it goes on until it is stopped, or until all items are labelled.
        items
            Folder of the items' files.
        pool_options
            How to read the pool from its file: arguments of ``sources.load``.
        labels_per_item
            From so many different people, before an item is done; as many may have it at once.
        lease_seconds
            For so long an item that was asked for is kept for the person who asked.
        new_classes
            That a label may name beside those of the pool.
        instructions, descriptions
            For people who label: how to do it, in Markdown; and, by class, what it means.
        engine
            Where the steps of a pool in shards run; it then stays in its files.
        """
        options = dict(pool_options or {})
        file = file_to_be(storage)
        loaded = sources.load(kept(pool, file), **options, engine=engine)
        pool_place, items_place = (place_of(one, file) for one in (loaded.origin.file, items))
        settings = Settings(
            title=title.strip() or loaded.name,
            design="",
            auxiliary="",
            objective="",
            budget=budget,
            certify=certify,
            half_width=half_width,
            not_worse=margin(not_worse, against),
            seed=seed,
            task=loaded.task,
            loss=loss,
            threshold=loaded.threshold(threshold),
            population=len(loaded),
            labels_per_item=labels_per_item,
            lease_seconds=float(lease_seconds),
            pool_options={**options, "columns": dict(loaded.origin.settings or options.get("columns") or {})},
            versions=versions(),
            instructions=instructions.strip(),
            descriptions=dict(descriptions or {}),
            pool_file=pool_place.recorded,
            pool_beside=pool_place.beside,
            items=items_place.recorded,
            items_beside=items_place.beside,
            train_share=train_share,
        )
        chosen = Asked(against, reuse, labels_unseen, design, auxiliary, objective, activations, options, trained_on)
        settings, question = asked_first(settings, loaded, chosen, new_classes, file=file)
        sample = question.draw(None)
        store = storage if isinstance(storage, Store) else open_store(storage, create=True)
        with _closed_on_error(store):
            begin(store, settings, question.pool, sample, at=clock())
            return cls(store, question, clock=clock)

    @classmethod
    def open(
        cls,
        storage: str | Path | Store,
        *,
        pool: Pool | str | Path | None = None,
        engine: Engine | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Go on with a campaign.

        pool
            Left out, it is looked for where it was, and where it was as seen from the campaign's file. A file that is
            named is remembered.
        engine
            Where the steps of a pool in shards run; it then stays in its files.
        """
        store = storage if isinstance(storage, Store) else open_store(storage)
        with _closed_on_error(store):
            campaign = cls(store, pool, clock=clock, engine=engine)
            if isinstance(pool, str | Path):
                campaign._remember(Path(pool))
            return campaign

    def _remember(self, pool: Path) -> None:
        """Where the pool is now, for the next opening; where nothing can be written, it has to be said again."""
        file = self.log.file
        place = place_of(pool, file)

        def step(state: State) -> None:
            found = pool_file(state, file)
            if found is None or str(found.resolve()) != place.recorded:
                data = {"pool_file": place.recorded, "pool_beside": place.beside}
                self.log.append([Event("moved", INTERNAL + new_key(), at=self._clock(), data=data)])

        with contextlib.suppress(StoreError):
            self.log.decide(step)

    def ask(self, by: str = "", *, n: int = 1) -> list[str]:
        """Items for a person to label, at most ``n``; they are theirs for as long as the lease lasts.

        First those that are theirs already, then those that want more people, in the order of the design. The next
        wave is drawn when the last one is done. None are left when the campaign is done or closed, or when others
        have them all.
        """
        if n < 1:
            raise CampaignError(f"{n} items asked for", rule="at least one")
        name = checked_name(by, "the name")
        return self.log.decide(lambda state: self._ask(state, state.person(name), n))

    def _ask(self, state: State, by: str, n: int) -> list[str]:
        if state.closed:
            return []
        while not (chosen := choice(state, by, n, now=self._clock())) and self._draw(state):
            state = self.log.state
        self._lease(chosen, by, now=self._clock())
        return [item.id for item in chosen]

    def _lease(self, items: Sequence[ItemState], by: str, *, now: float) -> None:
        """Make items a person's, or theirs for longer; a lease that has more than half to go is left alone."""
        lasting = self.settings.lease_seconds
        ending = [item for item in items if not is_theirs(item, by, now + lasting / 2)]
        if ending:
            data = {"until": now + lasting}
            self.log.append([Event("leased", new_key(), item=item.id, by=by, at=now, data=data) for item in ending])

    def draw(self) -> bool:
        """Draw the next items, where the question waits for no more labels; whether there are some."""
        return self.log.decide(self._draw)

    def _draw(self, state: State) -> bool:
        if state.closed or not may_draw(state) or self.view.enough(state):
            return False
        self.log.append([replace(self.view.next_draw(state), at=self._clock())])
        return True

    def declare(self, *classes: str) -> None:
        """Say that labels may name these classes, too, though no model says them."""
        names = [checked_name(name, "the class") for name in classes]

        def step(state: State) -> None:
            new = [name for name in names if name not in state.classes]
            if new:
                self.log.append([Event("declared", INTERNAL + new_key(), at=self._clock(), data={"classes": new})])

        if self.settings.task == "regression" and names:
            raise CampaignError("classes for a regression", rule="its labels are numbers", hint="leave them out")
        self.log.decide(step)

    def tell(self, item: str, label: str | float, *, by: str = "", key: str | None = None) -> Event:
        """Record a person's label; telling again corrects one's own.

        It is accepted from any person, also where another one has the item: work is not thrown away. A word that says
        that there is no label (``?``, ``unclear``, ...) skips the item.

        key
            What may have to be sent twice has the same key both times; it is then recorded once.
        """
        typed = checked_words(str(label), "the label")
        if not typed:
            raise LabelError(f"no label for item '{item}'", rule="a label says something", hint="skip the item")
        label_read = self._recorder.read_known(str(item), typed)
        if isinstance(label_read, Missing):
            return self.skip(item, label_read.reason, by=by, key=key)
        words = {"label": as_record(label_read), "typed": typed}
        return self._recorder.record("labelled", item, by, key, lambda entry, by: words)

    def read(self, item: ItemState, text: str) -> Label:
        """What a text says about an item of this campaign; what it cannot mean is refused."""
        return self._recorder.read(item, text)

    def tell_all(self, annotations: Sequence[Annotation], *, settle: bool = False) -> list[Event]:
        """Record many labels and skips at once: all of them, or none where one cannot be taken.

        What stands already is not recorded again.

        settle
            They are the lead's word, and count whatever others say.
        """
        checked = [replace(one, by=checked_name(one.by, "the name")) for one in annotations]
        return self.log.decide(lambda state: self._recorder.record_all(state, checked, settle=settle))

    def skip(self, item: str, reason: str = "", *, by: str = "", key: str | None = None) -> Event:
        """Record that an item cannot be labelled: it is kept, with the reason, and reported as non-response."""
        words = {"reason": checked_words(reason, "the reason")}
        return self._recorder.record("skipped", item, by, key, lambda entry, by: words)

    def flag(self, item: str, note: str = "", *, by: str = "", key: str | None = None) -> Event:
        """Record that this item should be looked at again; it changes nothing else."""
        words = {"note": checked_words(note, "the note")}
        return self._recorder.record("flagged", item, by, key, lambda entry, by: words)

    def settle(self, item: str, label: str | float, *, by: str = "", key: str | None = None) -> Event:
        """Record the lead's word about an item on which people disagree, or which was flagged: it counts from now on.

        A word that says that there is no label (``?``, ``unclear``, ...) settles it as one that cannot be labelled.
        """
        typed = checked_words(str(label), "the label")
        label_read = self._recorder.read_known(str(item), typed)
        words = {"label": as_record(label_read), "typed": typed}
        return self._recorder.record("settled", item, by, key, lambda entry, by: words)

    def retract(self, item: str, *, by: str = "", key: str | None = None) -> Event:
        """Undo one's own label or skip; the item is theirs again, to be labelled anew."""

        def undone(entry: ItemState, by: str) -> dict[str, Any]:
            annotation = entry.annotation_of(by)
            if annotation is None:
                raise CampaignError(
                    f"'{by}' has said nothing about item '{item}'", rule="one's own label or skip can be retracted"
                )
            return {"of": annotation.number, "until": self._clock() + self.settings.lease_seconds}

        return self._recorder.record("retracted", item, by, key, undone)

    def release(self, item: str, *, by: str = "", key: str | None = None) -> Event:
        """Give an item back that was asked for; it is free for others."""

        def given(entry: ItemState, by: str) -> dict[str, Any]:
            if entry.lease_of(by) is None:
                raise CampaignError(f"item '{item}' is not in the hands of '{by}'", rule="one's own items are released")
            return {}

        return self._recorder.record("released", item, by, key, given)

    def invite(self, names: Sequence[str]) -> dict[str, str]:
        """A token for each person, by name: what their link to the labelling page carries.

        Only its fingerprint is kept, so a token that was lost is replaced: an earlier one of the same person ends here.
        """
        checked = [person_name(name) for name in names]

        def step(state: State) -> dict[str, str]:
            tokens = {state.person(name): new_token() for name in checked}
            self.log.append([self._invited(name, digest_of(token)) for name, token in tokens.items()])
            return tokens

        return self.log.decide(step)

    def revoke(self, name: str) -> Event:
        """End a person's link; what they labelled stands."""

        def step(state: State) -> Event:
            person = state.person(person_name(name))
            if not state.invited.get(person):
                having = ", ".join(one for one, digest in state.invited.items() if digest) or "none"
                raise CampaignError(f"'{person}' has no link", rule=f"links that are valid: {having}")
            return self.log.append([self._invited(person, "")])[0]

        return self.log.decide(step)

    def _invited(self, person: str, digest: str) -> Event:
        data = {"person": person, "digest": digest}
        return Event("invited", INTERNAL + new_key(), at=self._clock(), data=data)

    def show_predictions(self) -> None:
        """Put on record that people who label are shown what the model said: the report says so from now on."""

        def step(state: State) -> None:
            if not state.shown:
                self.log.append([Event("shown", f"{INTERNAL}shown", at=self._clock())])

        self.log.decide(step)

    def extend(self, budget: int | str, *, by: str = "", key: str | None = None) -> Event:
        """Go on with a larger budget, ``125``, or with so many labels more, ``"+25"``; what was drawn stays.

        Every extension is a further look at the labels, and a decision by them allows for it: see ``check``.
        """
        sent = checked_key(key) if key else new_key()
        name = checked_name(by, "the name")

        def step(state: State) -> Event:
            wish = Event("extended", key=sent, by=state.person(name))
            if (stored := self.log.keyed(sent)) is not None:
                return same(stored, wish)
            check_open(state)
            before, drawn = state.settings, len(state.items)
            data: dict[str, int] = {}
            if before.half_width is not None and not before.narrow and self.view.enough(state):
                before, data = before.narrowed(drawn), {"narrowed": drawn}
            wanted = larger(before.budget, budget, drawn=drawn)
            self.view.question_of(before.extended(wanted))  # refuses where it cannot go on
            event = replace(wish, at=self._clock(), data={"budget": wanted, **data})
            return self.log.append([event])[0]

        return self.log.decide(step)

    def give_to_train(self) -> tuple[str, ...]:
        """Put on record which labelled items leave to train the next version with: all that were set apart for that.

        What was kept never leaves by this door.
        """

        def step(state: State) -> tuple[str, ...]:
            given = [item.id for item in state.to_train() if item.standing == "labelled"]
            if not given:
                raise CampaignError(
                    "none of the items that were set apart to train with is labelled yet",
                    rule="labelled items leave to train the next version with",
                    hint=shlex.join(["fieldcheck", "label", self.place]),
                )
            new = [name for name in given if name not in set(state.exported)]
            if new:
                self.log.append([Event("exported", INTERNAL + new_key(), at=self._clock(), data={"ids": new})])
            return tuple(given)

        if not self.settings.train_share:
            raise CampaignError(
                "no label of this campaign was set apart to train with",
                rule="that is settled before anything is drawn; a version that was trained on labels is right on them",
                hint=shlex.join(["fieldcheck", "start", self.view.pool_place or "POOL", *SET_APART]),
            )
        return self.log.decide(step)

    def close(self, *, by: str = "", key: str | None = None) -> Event:
        """End the campaign: nothing is asked for or taken any more. Closing it again changes nothing."""
        sent = checked_key(key) if key else f"{INTERNAL}closed"
        name = checked_name(by, "the name")

        def step(state: State) -> Event:
            if state.closed:
                return self.log.numbered(state.closed)
            return self.log.append([Event("closed", key=sent, by=state.person(name), at=self._clock())])[0]

        return self.log.decide(step)


@contextlib.contextmanager
def _closed_on_error(store: Store) -> Iterator[None]:
    try:
        yield
    except BaseException:
        store.close()
        raise
