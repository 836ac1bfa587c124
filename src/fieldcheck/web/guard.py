"""What every request passes before anything else looks at it, and what every answer carries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse

from fieldcheck.web.refusal import RefusedError, error_answer
from fieldcheck.web.sign_in import Person, SignIn

log = logging.getLogger("fieldcheck.web")


Scope = MutableMapping[str, Any]


Message = MutableMapping[str, Any]


Receive = Callable[[], Awaitable[Message]]


Send = Callable[[Message], Awaitable[None]]


App = Callable[[Scope, Receive, Send], Awaitable[None]]


LOOPBACK = ("127.0.0.1", "localhost", "::1")


LARGEST_BODY = 64 * 1024


SLOWEST_BODY = 10.0
"""Seconds in which a body must have come."""


CLOSE = {"connection": "close"}
"""Where the rest of a body is not wanted any more: a connection on which it dribbled in would never end."""


READING = frozenset({"GET", "HEAD"})


PAGES = ("/", "/desk")
"""The pages. They hold nothing of a campaign."""


ASSETS = "/assets/"
"""Files of the pages, likewise."""


HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


FAILED = RefusedError(500, "the server failed; this request was not carried out", hint="see its messages")


@dataclass(frozen=True)
class Guard:
    """Middleware that refuses requests which do not come from the page itself.

    hosts
        Names under which the server may be asked. Another name in the Host header is a site that has pointed its own
        name at this machine (DNS rebinding), and would be allowed to read the answers.
    root
        The path below which a proxy has put the server, without a slash at its end; empty where there is none.
    sign_in
        Says who asks: by a cookie, which the link with the token sets, or by a bearer token. Whoever it is, is put into
        the scope as ``person``.
    """

    app: App
    hosts: frozenset[str]
    sign_in: SignIn
    root: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, outer: Scope, receive: Receive, send: Send) -> None:
        scope = {**outer, "path": self._below(outer), "root_path": ""}
        if not scope["path"]:  # addresses are relative: without the slash, they would lead beside the pages
            await RedirectResponse(f"{self.root.rpartition('/')[2]}/", 307)(scope, receive, send)
            return
        request = HTTPConnection(scope)
        try:
            self._check(request)
            scope["person"] = await self._person(request)
            body = b"" if scope["method"] in READING else await _body(request, receive)
            await self.app(scope, _replayed(body, receive), send)
        except RefusedError as refused:
            await _refusal(refused)(scope, receive, send)
        except Exception:
            # Here and not in the application, so that this answer, too, has its headers.
            log.exception("%s %s failed", scope["method"], scope["path"])
            await _refusal(FAILED)(scope, receive, send)

    def _below(self, scope: Scope) -> str:
        """The path as the pages know it, whether the proxy has taken its own part off or not."""
        path, root = str(scope["path"]), self.root or str(scope.get("root_path", ""))
        return path.removeprefix(root) if path == root or path.startswith(f"{root}/") else path

    def _check(self, request: HTTPConnection) -> None:
        self._check_host(request.headers.get("host", ""))
        _check_origin(request)
        if request.scope["method"] not in READING:
            _check_json(request.headers.get("content-type", ""))

    async def _person(self, request: HTTPConnection) -> Person | None:
        """Who asks. Without a valid token the pages still come, empty, with status 401; nothing else does."""
        path = request.scope["path"]
        if path.startswith(ASSETS):
            return None
        found = await self.sign_in.person(request)
        if found is None and path not in PAGES:
            raise RefusedError(401, "this needs your own link, and one that is valid", hint="ask for a new link")
        return found

    def _check_host(self, host: str) -> None:
        if host_name(host) not in self.hosts:
            raise RefusedError(
                421, "this server does not answer to that name", hint="--allow-host NAME, if it is meant to"
            )


def _refusal(refused: RefusedError) -> JSONResponse:
    return error_answer(refused.status, refused.problem, hint=refused.hint, headers=refused.headers)


def host_name(host: str) -> str:
    """A Host header without its port, in small letters; empty where it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "") if host and not set(host) & set("/@?#\\ ") else ""
    except ValueError:
        return ""


def _check_origin(request: HTTPConnection) -> None:
    site = request.headers.get("sec-fetch-site", "none")
    navigates = request.scope["method"] in READING and request.scope["path"] in PAGES
    if not navigates and site not in ("same-origin", "none"):
        raise RefusedError(403, "another site asked for this")
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise RefusedError(403, "another site asked for this")


def _check_json(media: str) -> None:
    # A form or plain text can be sent by any site without asking; JSON cannot.
    if media.partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(415, "only JSON is taken", hint="content-type: application/json")


async def _body(request: HTTPConnection, receive: Receive) -> bytes:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 9 or int(length) > LARGEST_BODY:
        raise _too_large()
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            return await _read(receive)
    except TimeoutError:
        raise RefusedError(408, "the request did not arrive in time", headers=CLOSE) from None


async def _read(receive: Receive) -> bytes:
    """The body, counted while it comes: a length that was promised, or none, proves nothing."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the connection was lost")
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise _too_large()
        if not message.get("more_body", False):
            return bytes(body)


def _too_large() -> RefusedError:
    return RefusedError(413, f"the request is larger than {LARGEST_BODY // 1024} KB", headers=CLOSE)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, then whatever the connection says."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(one for one in ENCODED if one[0] not in given)]
        await send(message)

    return sending
