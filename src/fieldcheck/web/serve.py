"""Run the labelling page."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.words import visible
from fieldcheck.web.app import create_app
from fieldcheck.web.guard import LOOPBACK

PORT = 8765


SHORTEST_TOKEN = 16


KEPT = 60
"""Seconds for which a connection is kept while somebody thinks."""


EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 -- asked for by whoever starts the server, and only with a token


def _say(text: str) -> None:
    """At once: whoever started the server through a pipe waits for its address."""
    print(visible(text), flush=True)  # noqa: T201 -- the server has no other face


class _Server(uvicorn.Server):
    """A server that lets go of those who listen for news when it is stopped: they would keep it waiting."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.app.state.desk.watch.let_go()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def serve(
    storage: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    pool: str | Path | None = None,
    hosts: Sequence[str] = (),
    answers: str | None = None,
    show_prediction: bool = False,
    open_browser: bool = False,
    tell: Callable[[str], None] = _say,
) -> None:
    """Serve the page of a campaign until it is interrupted.

    host, port
        Where to listen; this machine only, unless another address is given. Port 0 takes any that is free.
    token
        What visitors must know. Made up where others can reach the server and none is given.
    hosts
        Further names under which the server may be asked, of a proxy in front of it.
    tell
        Takes the lines for the person who started it, the address among them.
    """
    # The estimate is made in a thread of its own: a label must not wait 5 ms for each of its turns.
    sys.setswitchinterval(0.0005)
    local = host in LOOPBACK
    token = _checked(token, needed=not local)
    with Campaign.open(storage, pool=pool) as campaign, _bound(host, port) as listener:
        campaign.log.check_writable()
        app = create_app(
            campaign,
            token=token,
            hosts=(*LOOPBACK, *names_of(host), *hosts),
            answers=answers,
            show_prediction=show_prediction,
        )
        address = _address(host, listener.getsockname()[1], token)
        tell(f"label at {address}")
        tell("Ctrl-C stops the server; every label that the page shows as saved is kept")
        if open_browser:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            _Server(_config(app)).run(sockets=[listener])


def _config(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would write down tokens
        server_header=False,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=10,
    )


def _checked(token: str | None, *, needed: bool) -> str | None:
    if token is None:
        return secrets.token_urlsafe(24) if needed else None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.replace("-", "").replace("_", "").isalnum():
        raise FieldcheckError(
            "this token is too easy to guess, or not fit for an address",
            rule=f"at least {SHORTEST_TOKEN} letters, digits, - and _",
            hint="leave --token out: one is made",
        )
    return token


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":  # there, it would share a port that is in use
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise _cannot_listen(host, port, error) from None
    return listener


def _cannot_listen(host: str, port: int, error: OSError | OverflowError) -> FieldcheckError:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return FieldcheckError(
            f"port {port} is in use", rule="one server per port", hint=f"--port {port + 1}, or --port 0 for a free one"
        )
    why = error.strerror if isinstance(error, OSError) else "no such port"
    return FieldcheckError(f"cannot listen at {host}, port {port}: {why}", rule="an address of this machine")


def names_of(host: str) -> tuple[str, ...]:
    """Names under which others may ask for a server that listens at this address."""
    if host not in EVERYWHERE:
        return (host,)
    own = {socket.gethostname(), socket.getfqdn()}
    with contextlib.suppress(OSError):  # a machine that does not know its own name
        own |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    return tuple(sorted(own | {_outward()}))


def _outward() -> str:
    """This machine's address as others see it; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def _address(host: str, port: int, token: str | None) -> str:
    name = _outward() if host in EVERYWHERE else host
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
