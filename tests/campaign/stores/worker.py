"""Somebody who labels until killed: ``worker.py PLACE NAME JOURNAL``.

The journal says of each label that it is about to be sent, and that it was acknowledged. Whoever starts again sends
again what was not acknowledged, under the same key.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import uuid
import zlib
from pathlib import Path

from fieldcheck.campaign.campaign import Campaign

CLASSES = ("cat", "dog", "owl")

MOST = 1_000
"""Labels of one process, about. Then it waits to be killed: however slowly another one starts, there is work for it."""


def main(place: str, name: str, journal: str) -> None:
    known = [json.loads(line) for line in Path(journal).read_text().splitlines() if line.endswith("}")]
    said = {entry["key"]: entry for entry in known}
    log = os.open(journal, os.O_WRONLY | os.O_APPEND)
    os.write(log, b"\n")  # the last line may be torn
    campaign = Campaign.open(place)
    for entry in said.values():
        if "number" not in entry:
            send(campaign, name, entry, log)
    left = MOST
    while left > 0:
        given = campaign.ask(name, n=4)
        left -= len(given)
        time.sleep(0 if given else 0.05)
        for item in given:
            label = CLASSES[zlib.crc32(item.encode()) % 3]
            entry = {"key": uuid.uuid4().hex, "item": item, "label": label}
            write(log, entry)
            send(campaign, name, entry, log)
    signal.pause()


def send(campaign: Campaign, name: str, entry: dict[str, object], log: int) -> None:
    event = campaign.tell(str(entry["item"]), str(entry["label"]), by=name, key=str(entry["key"]))
    write(log, {**entry, "number": event.number})


def write(log: int, entry: dict[str, object]) -> None:
    """Past the process at once: what it wrote survives it."""
    os.write(log, json.dumps(entry).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
