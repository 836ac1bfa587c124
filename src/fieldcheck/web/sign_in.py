"""Who asks: the lead, or a person with a link of their own."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from starlette.requests import HTTPConnection

from fieldcheck.campaign import people
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.web.refusal import RefusedError

Role = Literal["annotator", "lead"]


FREE = 10
"""Different wrong tokens from one address that cost nothing: links that were replaced, or copied badly."""


LONGEST_PAUSE = 60.0
"""Seconds after which an address may try again, at most: people behind the same proxy wait, too."""


FORGOTTEN = 600.0
"""Seconds without a wrong token after which an address counts as new."""


MOST_ADDRESSES = 10_000
"""Addresses that are remembered; then all are forgotten, rather than memory filled."""


@dataclass(frozen=True)
class Person:
    """Who asks.

    name
        Empty where it is not known: alone on one machine, the page asks for it.
    link
        Fingerprint of the token in their link; empty for the lead.
    """

    name: str
    role: Role
    link: str = ""


@dataclass
class _Record:
    """What came from one address: fingerprints of wrong and of right tokens, and from when on it may try again."""

    wrong: set[str] = field(default_factory=set)
    right: set[str] = field(default_factory=set)
    last: float = 0.0
    until: float = 0.0


class Guesses:
    """Wrong tokens cost time: after a few different ones, nothing new from their address is looked at for a while.

    A token that was right before is taken all the while, so that a guesser does not lock out those who work. The same
    wrong token again is no new guess: a page that was left open keeps asking with an old one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._records: dict[str, _Record] = {}

    def check(self, address: str, digest: str) -> None:
        """Refuse to look at a token, of which this is the fingerprint, now."""
        record = self._record(address)
        if digest in record.right or digest in record.wrong:
            return
        left = record.until - self._clock()
        if left > 0:
            wait = f"{int(left) + 1}"
            raise RefusedError(
                429, "too many wrong tokens from here", hint=f"try again in {wait} s", headers={"retry-after": wait}
            )

    def was_wrong(self, address: str, digest: str) -> bool:
        return digest in self._record(address).wrong

    def note(self, address: str, digest: str, *, right: bool) -> None:
        """Remember how a token turned out."""
        record, now = self._record(address), self._clock()
        if right:
            record.right.add(digest)
            record.wrong.discard(digest)
        elif digest not in record.wrong:
            record.wrong.add(digest)
            over = len(record.wrong) - FREE
            record.last, record.until = now, now + min(2.0 ** min(over, 10), LONGEST_PAUSE) if over > 0 else 0.0

    def _record(self, address: str) -> _Record:
        if len(self._records) > MOST_ADDRESSES:
            self._records.clear()
        record = self._records.setdefault(address, _Record())
        if record.wrong and self._clock() - record.last > FORGOTTEN:
            record.wrong.clear()
        return record


class SignIn:
    """Who may do what on one server.

    token
        The lead's, for as long as the server runs; None where the machine itself is the fence: then whoever reaches the
        server without a link leads.
    lead
        The lead's name.

    ``campaign`` is a short name that no other campaign has, ``cookie`` that of its cookie.
    """

    def __init__(self, campaign: Campaign, *, token: str | None = None, lead: str = "") -> None:
        self._log = campaign.log
        self._token = None if token is None else people.digest_of(token)
        self._lead = Person(lead, "lead")
        self._guesses = Guesses()
        self.campaign = people.digest_of(campaign.log.numbered(1).key)[:16]
        # Cookies do not know ports: two campaigns on one machine must not share one.
        self.cookie = f"fieldcheck_{self.campaign}"

    async def person(self, request: HTTPConnection) -> Person | None:
        """Who asks; None where it is not said, or not true."""
        token = self._given(request)
        found = None if token is None else await self.holder(request, token)
        return self._lead if found is None and self._token is None else found

    def _given(self, request: HTTPConnection) -> str | None:
        header = request.headers.get("authorization")
        if header is None:
            return request.cookies.get(self.cookie)
        scheme, _, token = header.partition(" ")
        return token if scheme.lower() == "bearer" and token else None

    async def holder(self, request: HTTPConnection, token: str) -> Person | None:
        """Whose token it is; an unknown one is looked for among those that were invited just now."""
        address, digest = request.client.host if request.client else "", people.digest_of(token)
        self._guesses.check(address, digest)
        found = self._known(token)
        if found is None and not self._guesses.was_wrong(address, digest):
            self._guesses.note(address, digest, right=False)  # before the wait: else many at once would be one guess
            await asyncio.to_thread(self._log.refresh)
            found = self._known(token)
        if found is not None:
            self._guesses.note(address, digest, right=True)
        return found

    def _known(self, token: str) -> Person | None:
        if self._token is not None and hmac.compare_digest(people.digest_of(token), self._token):
            return self._lead
        invited = self._log.state.invited
        name = people.holder(token, invited)
        return None if name is None else Person(name, "annotator", invited[name])

    def is_valid(self, person: Person) -> bool:
        """Whether a person who came in once may still stay: another link in the same name ends theirs."""
        return person.role == "lead" or self._log.state.invited.get(person.name) == person.link
