"""A campaign's items as files for people and other programs: what is to be labelled, and what went wrong."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import label_studio
from fieldcheck.campaign.exchange.csv import as_csv
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.progress import Failure
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.sources.inputs.images import MEDIA

LOCAL_FILES = "/data/local-files/?d="
"""Where Label Studio serves the files below its LOCAL_FILES_DOCUMENT_ROOT."""


OURS = frozenset({"id", "fieldcheck_id", "prediction", "label", "reason", "remark", "annotator", "by"})
"""Columns that mean something when a file is read again."""


def to_label_csv(campaign: Campaign, items: Sequence[str], *, by: str = "", predictions: bool = False) -> str:
    """A table to fill in: the id, what there is to see, and empty columns for the label or the reason of a skip."""
    seen = {name: _cells(campaign, content_at(campaign, name)) for name in items}
    shown = list(dict.fromkeys(column for cells in seen.values() for column in cells))
    said = ["prediction"] if predictions else []
    header = ["id", *said, *shown, "label", "reason", *(["annotator"] if by else [])]
    rows = (
        [
            name,
            *(campaign.view.prediction_of(_position(campaign, name)) for _ in said),
            *(cells.get(column, "") for column in shown),
            *("", "", by)[: 3 if by else 2],
        ]
        for name, cells in seen.items()
    )
    return as_csv(header, rows)


def to_label_tasks(
    campaign: Campaign, items: Sequence[str], *, predictions: bool = False, base: str = LOCAL_FILES
) -> str:
    """Tasks for Label Studio, with our id in their data.

    base
        What stands before the path of a picture, as seen from the folder of the items.
    """
    return json.dumps(
        [label_studio.task(name, _task_data(campaign, name, predictions=predictions, base=base)) for name in items],
        ensure_ascii=False,
        indent=1,
    )


def labelling_config(
    campaign: Campaign, items: Sequence[str], *, predictions: bool = False, outcomes: bool = False
) -> str:
    """The labelling interface for these tasks: what most of them show, and the classes.

    outcomes
        Ask whether the model is right, not for the class.
    """
    kinds = [content_at(campaign, name).kind for name in items]
    return label_studio.config(
        max(dict.fromkeys(kinds), key=kinds.count, default="row"),
        () if outcomes or campaign.pool.predictions is None else campaign.settings.classes,
        regression=campaign.settings.task == "regression",
        prediction=predictions,
    )


def failures_csv(campaign: Campaign, failures: Iterable[Failure]) -> str:
    """The failing items with their true label, for whoever trains the next model."""
    seen = {failure: _cells(campaign, content_at(campaign, failure.item)) for failure in failures}
    shown = list(dict.fromkeys(column for cells in seen.values() for column in cells))
    rows = (
        [one.item, str(one.label), _blank(one.prediction), *(cells.get(c, "") for c in shown), one.by, when(one.at)]
        for one, cells in seen.items()
    )
    return as_csv(["id", "label", "prediction", *shown, "annotator", "labelled_at"], rows)


def _blank(value: object) -> object:
    return "" if value is None else value


def when(at: float) -> str:
    """A moment in UTC, to the second."""
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")


def content_at(campaign: Campaign, item: str) -> Content:
    """What an item that was drawn looks like."""
    return campaign.view.content(_position(campaign, item))


def _position(campaign: Campaign, item: str) -> int:
    return campaign.state.items[item].position


def _cells(campaign: Campaign, content: Content) -> dict[str, str]:
    """What there is to see of an item, as cells of a table."""
    if content.kind == "image":
        return {"file": relative(campaign, content)} if content.path is not None else {}
    if content.kind == "text":
        return {"text": content.text}
    return {f"{name} (item)" if name.strip().lower() in OURS else name: value for name, value in content.pairs}


def relative(campaign: Campaign, content: Content) -> str:
    """The file of an item as seen from the folder of the items, with slashes."""
    folder = campaign.view.items_folder
    if content.path is None or folder is None:
        return ""
    return content.path.relative_to(folder.resolve()).as_posix()


def _task_data(campaign: Campaign, item: str, *, predictions: bool, base: str) -> dict[str, Any]:
    content = content_at(campaign, item)
    said = campaign.view.prediction_of(_position(campaign, item)) if predictions else None
    return _shown(campaign, content, base) | ({} if said is None else {"prediction": said})


def _shown(campaign: Campaign, content: Content, base: str) -> dict[str, Any]:
    if content.kind == "image":
        return {"image": _address(campaign, content, base)}
    return {"text": content.text} if content.kind == "text" else {"row": dict(content.pairs)}


def _address(campaign: Campaign, content: Content, base: str) -> str:
    """Where Label Studio finds a picture; one that comes from an array is carried in the task itself."""
    if content.path is None:
        return "data:image/png;base64," + base64.b64encode(content.data).decode()
    return base + quote(relative(campaign, content))


def copy_pictures(campaign: Campaign, items: Iterable[str], folder: Path) -> int:
    """The items' pictures as files in a folder, named by their ids; the number of them."""
    copied = 0
    for name in items:
        content = content_at(campaign, name)
        if content.kind == "image":
            suffix = ".png" if content.path is None else content.path.suffix.lower()
            _write(folder / file_name(name, suffix), content)
            copied += 1
    return copied


def _write(path: Path, content: Content) -> None:
    try:
        path.write_bytes(content.read())
    except OSError as error:
        raise FieldcheckError(
            f"{path}: cannot be written ({error.strerror})", rule="a folder that may be written to, with room"
        ) from None


def file_name(item: str, suffix: str) -> str:
    """A file name for an item, whatever its id: no folder in it, no two alike."""
    stem = item.removesuffix(suffix) if suffix in MEDIA else item
    plain = re.sub(r"[^\w.-]+", "_", stem)[:80].lstrip(".")
    own = "" if plain == stem else "-" + hashlib.sha256(item.encode()).hexdigest()[:8]
    return f"{plain}{own}{suffix}"
