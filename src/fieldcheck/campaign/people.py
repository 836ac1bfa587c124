"""Who is who: names that differ in nothing but case are one person's, and a token says whose link it is."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Collection, Mapping


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


def new_token() -> str:
    """192 random bits, fit for an address."""
    return secrets.token_urlsafe(24)


def digest_of(token: str) -> str:
    """What is kept of a token: whoever reads it cannot sign in with it. Random tokens need no salt."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def holder(token: str, invited: Mapping[str, str]) -> str | None:
    """Whose token it is; None for an unknown or revoked one. It takes as long for a near miss as for any other."""
    given = digest_of(token)
    found = [name for name, digest in invited.items() if hmac.compare_digest(given, digest)]
    return found[0] if found else None
