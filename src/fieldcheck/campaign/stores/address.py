"""Where a PostgreSQL database is: ``postgresql://user:password@host:port/database?campaign=name``."""

from __future__ import annotations

import os
import socket
import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from fieldcheck.core.errors import StoreError

OPTIONS = ("campaign", "host", "sslmode")


MODES = ("disable", "prefer", "require", "verify-full")


@dataclass(frozen=True)
class Address:
    """A database and the name of a campaign in it.

    folder
        Folder of the server's socket, for a server on the same machine; then there is no host.
    sslmode
        As libpq names them: ``prefer`` encrypts where the server can, only ``verify-full`` checks who it is.
    """

    user: str
    password: str | None = field(repr=False)
    host: str
    port: int
    database: str
    campaign: str
    folder: str = ""
    sslmode: str = "prefer"

    @property
    def shown(self) -> str:
        """The address without its password."""
        where = "" if self.folder else f"{self.host}:{self.port}"
        return f"postgresql://{quote(self.user)}@{where}/{quote(self.database)}?campaign={quote(self.campaign)}"

    def connect(self, timeout: float) -> socket.socket:
        """A connection to the server, before a word is said."""
        if not self.folder:
            line = socket.create_connection((self.host, self.port), timeout)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return line
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(timeout)
        try:
            line.connect(f"{self.folder}/.s.PGSQL.{self.port}")
        except OSError:
            line.close()
            raise
        return line

    def arguments(self) -> dict[str, Any]:
        """For ``pg8000.native.Connection``, beside the connection."""
        return {
            "user": self.user,
            "password": self.password,
            "host": self.host,
            "database": self.database,
            "ssl_context": self._encryption(),
        }

    def _encryption(self) -> ssl.SSLContext | bool | None:
        if self.sslmode == "verify-full":
            return ssl.create_default_context()
        return {"disable": False, "prefer": None, "require": True}[self.sslmode]


def parse(url: str) -> Address:
    """The address that a URL names; a password that is left out is taken from PGPASSWORD, as libpq does."""
    try:
        parts = urlsplit(url)
        port = parts.port or 5432
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise _malformed(
            "it cannot be read; letters such as @, / and : in a password are written %40, %2F, %3A"
        ) from None
    strange = [name for name in options if name not in OPTIONS]
    if strange:
        raise _malformed(f"there is no option '{strange[0]}'")
    if options.get("sslmode", "prefer") not in MODES:
        raise _malformed(f"sslmode '{options['sslmode']}' is none of {', '.join(MODES)}")
    if not parts.username or not parts.path.strip("/"):
        raise _malformed("it has no " + ("database" if parts.username else "user"))
    return Address(
        user=unquote(parts.username),
        password=unquote(parts.password) if parts.password else os.environ.get("PGPASSWORD"),
        host=parts.hostname or "localhost",
        port=port,
        database=unquote(parts.path.strip("/")),
        campaign=options.get("campaign", "campaign"),
        folder=options.get("host", ""),
        sslmode=options.get("sslmode", "prefer"),
    )


def _malformed(what: str) -> StoreError:
    """The URL itself is not shown: it may hold a password."""
    return StoreError(
        f"the URL of the database: {what}",
        rule="postgresql://user:password@host:port/database?campaign=name",
        hint="the password may also be in PGPASSWORD",
    )
