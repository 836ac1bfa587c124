"""A campaign that several people work on through one server."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from typing import Any, Literal

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import CampaignError, FieldcheckError, LabelError
from fieldcheck.web import requests
from fieldcheck.web.live_estimate import Watch
from fieldcheck.web.snapshot import content_json

Answers = Literal["classes", "right-wrong", "number"]


class ElsewhereError(CampaignError):
    """Something for another campaign, which was served at this address before."""


class Desk:
    """What the page may ask for, by as many people at once as there are.

    The campaign itself sees to it that one change comes after the other. The estimate is made by ``watch``, in its own
    thread: a label is acknowledged as soon as it is stored, whatever an estimate takes.
    """

    def __init__(self, campaign: Campaign, *, answers: Answers, show_prediction: bool = False) -> None:
        self.campaign = campaign
        self.answers = answers
        self.show_prediction = show_prediction
        self.watch = Watch(campaign)
        self.name = identity(campaign)
        self.content(0)  # so that items which cannot be read are told at once

    def about(self) -> dict[str, Any]:
        """What the page needs to know once."""
        settings, pool = self.campaign.settings, self.campaign.pool
        return {
            "campaign": self.name,
            "title": settings.title or pool.name,
            "answers": self.answers,
            "classes": list(self.campaign.state.classes) if self.answers == "classes" else [],
            "has_predictions": pool.predictions is not None,
            "show_prediction": self.show_prediction,
            "labels_per_item": settings.labels_per_item,
        }

    def next(self, asked: requests.Next) -> dict[str, Any]:
        """Items for somebody, leased to them; where there are none, why."""
        self._check(asked)
        ids = self.campaign.ask(asked.by, n=asked.n)
        shown = asked.prediction or self.answers == "right-wrong"
        items = [self._item(name, with_prediction=shown) for name in ids]
        return {"items": items, **({"why": ""} if items else self._nothing())}

    def _item(self, name: str, *, with_prediction: bool) -> dict[str, Any]:
        position = self.campaign.state.items[name].position
        prediction = self._prediction(position) if with_prediction else None
        return {**content_json(self.content(position), position), "prediction": prediction}

    def _nothing(self) -> dict[str, Any]:
        """Why there is nothing to label; ``others``: what is left waits for people who have not said anything yet."""
        progress = self.campaign.progress()
        if progress.closed or progress.complete:
            return {"why": "closed" if progress.closed else "done"}
        why = "waiting" if progress.leased else "others"
        return {"why": why, "left": progress.open + progress.disputed, "disputed": progress.disputed}

    def _prediction(self, position: int) -> str | None:
        said = self.campaign.view.prediction_of(position)
        return f"{said:.6g}" if isinstance(said, float) else said

    def label(self, asked: requests.Label) -> dict[str, Any]:
        return self._done(lambda: self.campaign.tell(asked.item, asked.label, by=asked.by, key=asked.key), asked)

    def skip(self, asked: requests.Skip) -> dict[str, Any]:
        return self._done(lambda: self.campaign.skip(asked.item, asked.reason, by=asked.by, key=asked.key), asked)

    def flag(self, asked: requests.Flag) -> dict[str, Any]:
        return self._done(lambda: self.campaign.flag(asked.item, asked.note, by=asked.by, key=asked.key), asked)

    def undo(self, asked: requests.Undo) -> dict[str, Any]:
        return self._done(lambda: self.campaign.retract(asked.item, by=asked.by, key=asked.key), asked)

    def release(self, asked: requests.Release) -> dict[str, Any]:
        """Give items back; one that is not theirs any more is nobody's trouble."""
        self._check(asked)
        for item in asked.items:
            with contextlib.suppress(CampaignError, LabelError):
                self.campaign.release(item, by=asked.by)
        return {"released": True}

    def content(self, position: int) -> Content:
        """What an item of the pool looks like."""
        return self.campaign.view.content(position)

    def is_drawn(self, position: int) -> bool:
        """Whether an item is anybody's business."""
        return self.campaign.pool.id_of(position) in self.campaign.state.items

    def _done(self, act: Callable[[], Event], asked: requests.Act) -> dict[str, Any]:
        """Do it, and say so once it is stored."""
        self._check(asked)
        event = act()
        self.watch.changed()
        return {"saved": True, "number": event.number}

    def _check(self, asked: requests.PageRequest) -> None:
        if asked.campaign != self.name:
            raise ElsewhereError(
                "this page belongs to another campaign",
                rule="labels go to the campaign whose items were shown",
                hint="load the page again",
            )


def identity(campaign: Campaign) -> str:
    """A short name that no other campaign has."""
    return hashlib.sha256(campaign.log.events()[0].key.encode()).hexdigest()[:16]


def answers_for(campaign: Campaign, wanted: str | None) -> Answers:
    """How labels are given: numbers for a regression, else classes, or right and wrong."""
    if campaign.settings.task == "regression":
        if wanted is not None:
            raise FieldcheckError(f"--as {wanted} for a regression", rule="its labels are numbers", hint="no --as")
        return "number"
    if wanted == "right-wrong" and len(campaign.view.question.pools) > 1:
        raise FieldcheckError(
            "--as right-wrong for several models",
            rule="a label is to serve all of them: the true class",
            hint="no --as",
        )
    if wanted == "right-wrong" or (wanted is None and not campaign.settings.classes):
        return "right-wrong"
    if wanted in (None, "classes") and campaign.settings.classes:
        return "classes"
    raise FieldcheckError(
        f"no answers '{wanted}' here" if wanted != "classes" else "this pool names no classes",
        rule="classes, where the pool names them, or right-wrong",
        hint="--as right-wrong",
    )
