"""A campaign's items as files for people and other programs: what is to be labelled, and what went wrong."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.base import ToLabel
from fieldcheck.campaign.exchange.formats import interface, registry
from fieldcheck.campaign.items import Content
from fieldcheck.files import whole
from fieldcheck.sources.inputs import images as encoded

LOCAL_FILES = "/data/local-files/?d="
"""Where Label Studio serves the files below its LOCAL_FILES_DOCUMENT_ROOT."""


def as_file(
    kind: str,
    campaign: Campaign,
    items: Sequence[str],
    *,
    by: str = "",
    predictions: bool = False,
    base: str = LOCAL_FILES,
) -> str:
    """Items to label, as a file of one of the formats; what the model says is shown only where it is asked for."""
    return registry[kind].write(shown(campaign, items, predictions=predictions), by=by, base=base)


def shown(campaign: Campaign, items: Sequence[str], *, predictions: bool = False) -> list[ToLabel]:
    """What there is to see of some items."""
    return [_shown(campaign, name, predictions=predictions) for name in items]


def _shown(campaign: Campaign, item: str, *, predictions: bool) -> ToLabel:
    content = content_at(campaign, item)
    said = campaign.pool.prediction_at(_position(campaign, item)) if predictions else None
    return ToLabel(item, content, relative(campaign, content), said)


def labelling_config(
    campaign: Campaign, items: Sequence[str], *, predictions: bool = False, outcomes: bool = False
) -> str:
    """The labelling interface of Label Studio for these tasks.

    outcomes
        Ask whether the model is right, not for the class.
    """
    classes = () if outcomes or campaign.pool.predictions is None else campaign.state.classes
    regression = campaign.settings.task == "regression"
    return interface(shown(campaign, items, predictions=predictions), classes, regression=regression)


def blank(value: object) -> object:
    """A cell without a value is empty."""
    return "" if value is None else value


def content_at(campaign: Campaign, item: str) -> Content:
    """What an item that was drawn looks like."""
    return campaign.view.content(_position(campaign, item))


def _position(campaign: Campaign, item: str) -> int:
    return campaign.state.items[item].position


def relative(campaign: Campaign, content: Content) -> str:
    """The file of an item as seen from the folder of the items, with slashes."""
    folder = campaign.view.items_folder
    if content.path is None or folder is None:
        return ""
    return content.path.relative_to(folder.resolve()).as_posix()


def copy_pictures(campaign: Campaign, items: Iterable[str], folder: Path) -> int:
    """The items' pictures as files in a folder, named by their ids; the number of them."""
    copied = 0
    for name in items:
        content = content_at(campaign, name)
        if content.kind == "image":
            suffix = ".png" if content.path is None else content.path.suffix.lower()
            whole.write_bytes(folder / file_name(name, suffix), content.read())
            copied += 1
    return copied


def file_name(item: str, suffix: str) -> str:
    """A file name for an item, whatever its id: no folder in it, no two alike."""
    stem = item.removesuffix(suffix) if suffix in encoded.MEDIA else item
    plain = re.sub(r"[^\w.-]+", "_", stem)[:80].lstrip(".")
    own = "" if plain == stem else "-" + hashlib.sha256(item.encode()).hexdigest()[:8]
    return f"{plain}{own}{suffix}"
