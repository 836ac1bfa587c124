"""What every store of campaigns and every format of labels must do, whoever wrote it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from fieldcheck.campaign.exchange import base as exchange
from fieldcheck.campaign.items import Content
from fieldcheck.campaign.stores import base as stores
from fieldcheck.core.errors import FieldcheckError, StaleError
from fieldcheck.testing.require import check_described, check_refused, made_of, require

HARD = ("grün", "'; DROP TABLE events; --", "日本語 🙂", "%s :key $1", 'a"b\\c\n\t')
"""Texts that go wrong where a text is taken for something else."""


def check_store(kind: type[stores.Store], new_place: Callable[[], str]) -> None:
    """Raise AssertionError unless events come back numbered, once, in order, and also after it is opened again.

    new_place
        Each call names a place where no campaign is yet.
    """
    place = new_place()
    require(kind.name and kind.__doc__, f"{kind!r} has no name or no docstring")
    check_refused(lambda: kind(new_place()), f"{kind.name} opens what is not there")
    with contextlib.closing(kind(place, create=True)) as store:
        require(isinstance(store, stores.Store), f"{kind.name} lacks a part of Store")
        _check_appends(store)
        kept = store.read()
        store.keep(stores.Bookmark(len(kept), "zwölf"))
        with contextlib.closing(kind(place)) as other:
            require(other.read() == kept, f"{kind.name}: another opener reads something else")
            require(other.bookmark() == stores.Bookmark(len(kept), "zwölf"), f"{kind.name}: the bookmark is lost")
    with (
        contextlib.closing(kind(place, create=True)) as again,
        contextlib.closing(kind(new_place(), create=True)) as elsewhere,
    ):
        require(again.read() == kept, f"{kind.name}: opened again, it holds something else")
        require(elsewhere.read() == [], f"{kind.name}: two places hold one campaign")


def _check_appends(store: stores.Store) -> None:
    given = [
        stores.Event("labelled", f"k{at}", text, text, 1_700_000_000.25, {text: text}) for at, text in enumerate(HARD)
    ]
    stored = store.append(given, seen=0)
    require(stored == [replace(one, number=at) for at, one in enumerate(given, 1)], f"{store.name}: events change")
    require(store.read() == stored and store.read(2) == stored[2:], f"{store.name}: not all that was stored is read")
    require(store.append(given[::-1], seen=0) == stored[::-1], f"{store.name}: a key is stored twice")
    require(store.find("k1") == stored[1] == store.find(2), f"{store.name}: an event is not found")
    require(store.find("none") is None, f"{store.name} finds an event that is not there")
    new = stores.Event("skipped", "new")
    try:
        store.append([new], seen=1)
    except StaleError:
        pass
    else:
        raise AssertionError(f"{store.name} stores what was decided without its newest events")
    unwritten = [new, stores.Event("labelled", "odd", data={"x": float("nan")})]
    check_refused(lambda: store.append(unwritten, seen=len(stored)), f"{store.name} stores what is not JSON")
    require(store.read() == stored, f"{store.name} stores a part of what it refuses")


def check_exchange(kind: type[exchange.LabelFormat], example: str, labels: Mapping[str, str]) -> None:
    """Raise AssertionError unless the items that are written come back, the example says its labels, and rubbish is
    refused or named line by line.

    example, labels
        A file that was filled in, and what it says of items that have a label.
    """
    made: exchange.LabelFormat = made_of(kind)
    check_described(made, exchange.LabelFormat, "suffixes")
    require(all(one[:1] in ("", ".") and one == one.lower() for one in made.suffixes), f"{made.name}: {made.suffixes}")
    items = [exchange.ToLabel(f"é,{at}", Content("text", f"é,{at}", text=text)) for at, text in enumerate(HARD)]
    written = made.write(items, by="Ann", base="")
    require(made.recognises(written.lstrip()), f"{made.name} does not recognise what it wrote")
    said = _lines(made, written)
    names = [line.item for line in said]  # a format of tasks may say nothing of those without an answer
    require(names in ([], [one.item for one in items]), f"{made.name}: items come back changed")
    require(not any(line.text or line.skipped for line in said), f"{made.name}: there are labels before any is given")
    found = {line.item: line.text for line in _lines(made, example) if line.text}
    require(found == dict(labels), f"{made.name} reads {found}")
    with contextlib.suppress(FieldcheckError):
        for line in made.read(io.StringIO("\0\udcff [{;,\n" * 20), Path("rubbish")):
            require(
                isinstance(line, exchange.Fault) or not line.text, f"{made.name} finds a label in what is no such file"
            )


def _lines(made: exchange.LabelFormat, text: str) -> list[exchange.LabelLine]:
    found = list(made.read(io.StringIO(text), Path("labels")))
    faults = [str(one) for one in found if isinstance(one, exchange.Fault)]
    require(not faults, f"{made.name}: {faults[:1]}")
    return [one for one in found if isinstance(one, exchange.LabelLine)]
