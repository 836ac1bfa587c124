"""What people who label may ask for and send. Nothing here tells what the model said, unless the lead wants it told."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Literal

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.stores import base as stores
from fieldcheck.core.errors import CampaignError, FieldcheckError, LabelError
from fieldcheck.web import requests
from fieldcheck.web.sign_in import Person
from fieldcheck.web.snapshot import content_json, progress_json
from fieldcheck.web.watch import Watch

EARLIER = 200
"""Earlier answers that can be reopened from the list."""


Answers = Literal["classes", "right-wrong", "number"]


class ElsewhereError(CampaignError):
    """Something for another campaign, which was served at this address before."""


class OtherPersonError(CampaignError):
    """Something by another person than the one who is signed in."""


class Labelling:
    """What the labelling page may ask for, by as many people at once as there are.

    The campaign itself sees to it that one change comes after the other.
    """

    def __init__(self, campaign: Campaign, *, answers: Answers, name: str, show_predictions: bool = False) -> None:
        self.campaign = campaign
        self.answers = answers
        self.name = name
        # Whether the model is right can only be asked of people who are told what it said.
        self.show_predictions = show_predictions or answers == "right-wrong"
        if self.show_predictions:
            campaign.show_predictions()
        self.progress = Watch(campaign, progress_json)
        self.content(0)  # so that items which cannot be read are told at once

    def about(self, person: Person) -> dict[str, Any]:
        """What the page needs to know once."""
        settings, pool = self.campaign.settings, self.campaign.pool
        return {
            "campaign": self.name,
            "title": settings.title or pool.name,
            "answers": self.answers,
            "classes": list(self.campaign.state.classes) if self.answers == "classes" else [],
            "labels_per_item": settings.labels_per_item,
            "instructions": settings.instructions,
            "descriptions": dict(settings.descriptions),
            "person": person.name,
            "role": person.role,
        }

    def mine(self, asked: requests.PageRequest, person: Person) -> dict[str, Any]:
        """What a person answered so far, the newest first."""
        by = self._by(asked, person)
        items = self.campaign.refresh().items.values()
        said = [one for item in items if (one := item.annotation_of(by)) is not None]
        newest = sorted(said, key=lambda one: one.number, reverse=True)[:EARLIER]
        return {"answers": [{"id": one.item, "given": one.given} for one in newest]}

    def reopen(self, asked: requests.Reopen, person: Person) -> dict[str, Any]:
        """An item that a person answered, with their answer; another answer corrects it."""
        by, item = self._by(asked, person), self.campaign.refresh().items.get(asked.item)
        said = None if item is None else item.annotation_of(by)
        if said is None:
            raise CampaignError(f"you have not answered '{asked.item}'", rule="one's own answers can be reopened")
        return {"item": {**self._item(asked.item), "given": said.given}}

    def ask(self, asked: requests.Next, person: Person) -> list[str]:
        """Ids of items for a person, leased to them."""
        return self.campaign.ask(self._by(asked, person), n=asked.n)

    def items(self, ids: Sequence[str]) -> dict[str, Any]:
        """Items as the page shows them; where there are none, why."""
        items = [self._item(name) for name in ids]
        return {"items": items, **({"why": ""} if items else self._nothing())}

    def _item(self, name: str) -> dict[str, Any]:
        position = self.campaign.state.items[name].position
        said = {"prediction": self._prediction(position)} if self.show_predictions else {}
        return {**content_json(self.content(position), position), **said}

    def _nothing(self) -> dict[str, Any]:
        """Why there is nothing to label.

        ``others``: what is left waits for people who have not said anything about it yet; ``settling``: for the lead.
        """
        left = self.campaign.view.left()
        if left.closed or left.complete:
            return {"why": "closed" if left.closed else "done"}
        waiting = left.items - left.disputed
        why = "settling" if not waiting else "waiting" if left.leased else "others"
        return {"why": why, "left": waiting, "disputed": left.disputed}

    def _prediction(self, position: int) -> str | None:
        said = self.campaign.pool.prediction_at(position)
        return f"{said:.6g}" if isinstance(said, float) else said

    def label(self, asked: requests.Label, person: Person) -> dict[str, Any]:
        return self._done(self.campaign.tell(asked.item, asked.label, by=self._by(asked, person), key=asked.key))

    def skip(self, asked: requests.Skip, person: Person) -> dict[str, Any]:
        return self._done(self.campaign.skip(asked.item, asked.reason, by=self._by(asked, person), key=asked.key))

    def flag(self, asked: requests.Flag, person: Person) -> dict[str, Any]:
        return self._done(self.campaign.flag(asked.item, asked.note, by=self._by(asked, person), key=asked.key))

    def undo(self, asked: requests.Undo, person: Person) -> dict[str, Any]:
        return self._done(self.campaign.retract(asked.item, by=self._by(asked, person), key=asked.key))

    def release(self, asked: requests.Release, person: Person) -> dict[str, Any]:
        """Give items back; one that is not theirs any more is nobody's trouble."""
        by = self._by(asked, person)
        for item in asked.items:
            with contextlib.suppress(CampaignError, LabelError):
                self.campaign.release(item, by=by)
        return {"released": True}

    def content(self, position: int) -> Content:
        """What an item of the pool looks like."""
        return self.campaign.view.content(position)

    def is_drawn(self, position: int) -> bool:
        """Whether an item is anybody's business."""
        return self.campaign.pool.id_of(position) in self.campaign.state.items

    def _done(self, event: stores.Event) -> dict[str, Any]:
        """Said once it is stored."""
        self.progress.changed()
        return {"saved": True, "number": event.number}

    def _by(self, asked: requests.PageRequest, person: Person) -> str:
        """Whose doing it is: whoever is signed in. A page that was opened by another person is told so."""
        self._check_campaign(asked)
        return _signed_in(asked.by, person.name) if person.name else self._declared(asked.by)

    def leads(self, asked: requests.PageRequest, person: Person) -> str:
        """Whose doing it is on the desk; alone on one machine, the lead may be nameless."""
        self._check_campaign(asked)
        return self._by(asked, person) if person.name or asked.by else "lead"

    def _check_campaign(self, asked: requests.PageRequest) -> None:
        if asked.campaign != self.name:
            raise ElsewhereError(
                "this page belongs to another campaign",
                rule="labels go to the campaign whose items were shown",
                hint="load the page again",
            )

    def _declared(self, name: str | None) -> str:
        """Alone on one machine, a person's name is what they say it is, unless it is that of a person with a link."""
        if not name:
            raise CampaignError("a label without a name", rule="every label has a name", hint="say who labels")
        state = self.campaign.state
        if state.invited.get(state.person(name)):
            raise CampaignError(f"'{name}' has a link of their own", rule="one name, one person", hint="another name")
        return name


def _signed_in(claimed: str | None, name: str) -> str:
    if claimed not in (None, name):
        raise OtherPersonError(
            f"this page is that of {claimed}, and {name} is signed in",
            rule="a label is of the person who gave it",
            hint=f"load the page again, or open the link of {claimed}",
        )
    return name


def answers_for(campaign: Campaign, wanted: str | None) -> Answers:
    """How labels are given: numbers for a regression, else classes, or right and wrong."""
    if campaign.settings.task == "regression":
        if wanted is not None:
            raise FieldcheckError(f"--as {wanted} for a regression", rule="its labels are numbers", hint="no --as")
        return "number"
    if wanted == "right-wrong" and len(campaign.view.question.pools) > 1:
        raise FieldcheckError(
            "--as right-wrong for several models", rule="a label is to serve all of them", hint="leave out --as"
        )
    alone = len(campaign.view.question.pools) == 1
    unnamed = not campaign.settings.classes or (alone and campaign.pool.written)
    if wanted == "right-wrong" or (wanted is None and unnamed):
        return "right-wrong"
    if wanted in (None, "classes") and campaign.settings.classes:
        return "classes"
    raise FieldcheckError(
        f"no answers '{wanted}' here" if wanted != "classes" else "this pool names no classes",
        rule="classes, where the pool names them, or right-wrong",
        hint="--as right-wrong",
    )
