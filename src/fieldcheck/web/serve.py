"""Run the server, and say who may come."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from threadpoolctl import threadpool_limits

from fieldcheck.campaign import people
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool import watching
from fieldcheck.web.app import create_app
from fieldcheck.web.connection import Connection
from fieldcheck.web.guard import LOOPBACK
from fieldcheck.web.watch import share_one_heap

PORT = 8765


SHORTEST_TOKEN = 16


KEPT = 60
"""Seconds for which a connection is kept while somebody thinks."""


LEAD = "lead"
"""Name of a lead who gives none, where people sign in."""


EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 -- asked for by whoever starts the server, and only with a token


def _say(text: str) -> None:
    """At once: whoever started the server through a pipe waits for its address."""
    print(words.on_one_line(text), flush=True)  # noqa: T201 -- the server has no other face


class _Server(uvicorn.Server):
    """A server that lets go of those who listen for news when it is stopped: they would keep it waiting."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for watch in self.config.app.state.watches:  # type: ignore[union-attr]
            watch.let_go()
        await super().shutdown(sockets)


class PortInUseError(FieldcheckError):
    """Another server listens there."""


def serve(  # noqa: PLR0913 -- one parameter per option of the verb
    storage: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    by: str = "",
    invite: Sequence[str] = (),
    address: str = "",
    root: str = "",
    pool: str | Path | None = None,
    hosts: Sequence[str] = (),
    answers: str | None = None,
    show_predictions: bool = False,
    open_browser: bool = False,
    tell: Callable[[str], None] = _say,
) -> None:
    """Serve the pages of a campaign until it is interrupted.

    host, port
        Where to listen; this machine only, unless another address is given. Port 0 takes any that is free.
    token
        The lead's. Made up where others can reach the server, or were invited, and none is given.
    by
        The lead's name.
    invite
        People who get a link of their own; where a server listens at the port already, it is one for that server.
    address
        How people reach the server, where that is not the host and the port: ``https://label.example.org/pool-7``.
    root
        The path below which a proxy has put it, ``/pool-7``, whether it takes that part off or not.
    hosts
        Further names under which the server may be asked, of a proxy in front of it.
    tell
        Takes the lines for the person who started it, the address among them.
    """
    # The estimate is made in a thread of its own: a label must not wait 5 ms for each of its turns.
    sys.setswitchinterval(0.0005)
    share_one_heap()
    names = (*LOOPBACK, *names_of(host), *hosts, *_names_in(address))
    # One thread for linear algebra: a second one would take the other core from those who label, mostly to wait.
    with threadpool_limits(1), Campaign.open(storage, pool=pool) as campaign:
        campaign.log.check_writable()
        try:
            listener = _bound(host, port)
        except PortInUseError as error:
            if not invite:
                raise
            _tell_links(tell, campaign, address or _address(host, port), _invited(campaign, invite, lead=by))
            tell(f"{error.problem}: the links are for the server there, if it serves this campaign")
            return
        with listener:
            token = _checked(token, needed=host not in LOOPBACK or bool(invite or campaign.state.invited))
            links = _invited(campaign, invite, lead=by)
            app = create_app(
                campaign,
                token=token,
                lead=by or (LEAD if token else ""),
                hosts=names,
                answers=answers,
                show_predictions=show_predictions,
                root=_root(root),
                secure=address.startswith("https:"),
            )
            shown = address or _address(host, listener.getsockname()[1]) + _root(root)[1:]
            own = _link(shown, token)
            tell(f"{'lead' if token else 'label'} at {own}")
            if token is None:
                tell(f"desk at {_link(shown, None, 'desk')}")
            _tell_links(tell, campaign, shown, links)
            tell("Ctrl-C stops the server; every label that the page shows as saved is kept")
            _run(app, listener, browse=own if open_browser else "")
        saved = sum(campaign.progress().annotators.values())
    tell(f"stopped; {words.counted(saved, 'label')} saved in {campaign.place}")


def _run(app: Starlette, listener: socket.socket, *, browse: str) -> None:
    if browse:
        threading.Thread(target=webbrowser.open, args=[browse], daemon=True).start()
    with _ended_by_signal(), watching.watched(None):  # pages say themselves that they wait
        _Server(_config(app)).run(sockets=[listener])


def _invited(campaign: Campaign, names: Sequence[str], *, lead: str) -> Mapping[str, str]:
    """Tokens by name; nobody gets the lead's name, or the lead that of a person with a link."""
    state, lead = campaign.state, lead or LEAD
    taken = {state.person(name) for name in names} | {name for name, digest in state.invited.items() if digest}
    if people.spelt(lead, taken) in taken:
        raise FieldcheckError(f"'{lead}' is the lead", rule="one name, one person", hint="--by NAME for the lead")
    return campaign.invite(names) if names else {}


def _tell_links(tell: Callable[[str], None], campaign: Campaign, address: str, tokens: Mapping[str, str]) -> None:
    for name, token in tokens.items():
        tell(f"{name}: {_link(address, token)}")
    if tokens:
        end = f"fieldcheck label {shlex.quote(campaign.place)} --revoke NAME"
        tell(f"each link is one person's: what is labelled there is in that name. {end} ends it")


def _link(address: str, token: str | None, page: str = "") -> str:
    return f"{address.rstrip('/')}/{page}" + (f"?token={token}" if token else "")


def _names_in(address: str) -> tuple[str, ...]:
    """The name in an address that people use."""
    if not address:
        return ()
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise FieldcheckError(
            f"--address {address}", rule="how people reach the server", hint="https://label.example.org/pool-7"
        )
    return (parts.hostname,)


def _root(path: str) -> str:
    """A path as it is cut off: with a slash before it, and none behind it."""
    plain = path.strip("/")
    if set(plain) & set("?#%\\ ") or ".." in plain:
        raise FieldcheckError(f"--root-path {path}", rule="the path of a proxy to this server", hint="/pool-7")
    return f"/{plain}" if plain else ""


@contextlib.contextmanager
def _ended_by_signal() -> Iterator[None]:
    """SIGTERM ends like Ctrl-C: the campaign is closed, and it is said what was saved."""
    with contextlib.suppress(KeyboardInterrupt):
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="warning",
        access_log=False,  # it would write down tokens
        server_header=False,
        proxy_headers=False,  # whoever is on this machine could say to be another address with each guess
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=10,
    )


def _checked(token: str | None, *, needed: bool) -> str | None:
    if token is None:
        return people.new_token() if needed else None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.replace("-", "").replace("_", "").isalnum():
        raise FieldcheckError(
            "this token is too easy to guess, or not fit for an address",
            rule=f"at least {SHORTEST_TOKEN} letters, digits, - and _",
            hint="leave --token out: one is made",
        )
    return token


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named: else asyncio leaves out TCP_NODELAY, and answers wait 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
        return PortInUseError(
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


def _address(host: str, port: int) -> str:
    name = _outward() if host in EVERYWHERE else host
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/"
