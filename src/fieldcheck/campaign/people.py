"""Who is who: names that differ in nothing but case are one person's."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection


def spelt(name: str, known: Collection[str]) -> str:
    """A name as it was spelt first, where somebody of that name is known; else as it is given.

    known
        Names so far, in order of time. One that is spelt exactly like this goes first: older campaigns may hold two
        people whose names differ in case.
    """
    if name in known:
        return name
    wanted = _folded(name)
    return next((one for one in known if _folded(one) == wanted), name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
