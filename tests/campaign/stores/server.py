"""A PostgreSQL server of one's own, for as long as the tests run."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pg8000.native

USER, PASSWORD = "annotator", "p@ss:w/rd"
UNPRIVILEGED = ("postgres", "nobody")
PORTS = 5
PATIENCE = 300.0
"""Seconds that a server may take to start or to stop."""


@dataclass(frozen=True)
class Server:
    """A running server with one empty database."""

    port: int
    folder: Path

    def url(self, campaign: str = "campaign", *, password: str = PASSWORD, database: str = "postgres") -> str:
        return f"postgresql://{USER}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}?campaign={campaign}"

    @contextlib.contextmanager
    def connection(self) -> Iterator[pg8000.native.Connection]:
        """As the owner of everything, beside any store."""
        connection = pg8000.native.Connection(
            USER, host="127.0.0.1", port=self.port, password=PASSWORD, database="postgres"
        )
        try:
            yield connection
        finally:
            connection.close()


def programs() -> Path | None:
    """The folder of initdb and postgres; None where PostgreSQL is not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((one for one in folders if (one / "initdb").exists() and (one / "postgres").exists()), None)


@contextlib.contextmanager
def running(bin_folder: Path) -> Iterator[Server]:
    """A new server in a temporary folder; it is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="fieldcheck-postgres-"))
    try:
        who = _who(folder)
        (folder / "password").write_text(PASSWORD)
        _own(folder / "password", who)
        data = folder / "data"
        subprocess.run(
            [
                *(bin_folder / "initdb", "-D", data, "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync"),
                *("--auth=scram-sha-256", f"--pwfile={folder / 'password'}"),
            ],
            check=True,
            capture_output=True,
            cwd=folder,
            **who,
        )
        server, process = _started(bin_folder, folder, who)
        with process:
            try:
                yield server
            finally:
                process.send_signal(signal.SIGINT)  # the fast shutdown of PostgreSQL
                process.wait(timeout=PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(bin_folder: Path, folder: Path, who: dict[str, Any]) -> tuple[Server, subprocess.Popen[bytes]]:
    """Somebody else may take a free port before the server does: then another one is tried."""
    for _ in range(PORTS):
        server = Server(_free_port(), folder)
        place = ("-D", folder / "data", "-k", folder, "-h", "127.0.0.1", "-p", str(server.port))
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen([bin_folder / "postgres", *place], stdout=log, stderr=log, cwd=folder, **who)
        if _is_ready(bin_folder / "pg_isready", server, process):
            return server, process
    raise RuntimeError((folder / "log").read_text())


def _who(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root: arguments for subprocess that say as whom instead."""
    if os.getuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next(known[name] for name in UNPRIVILEGED if name in known)
    who = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    _own(folder, who)
    return who


def _own(path: Path, who: dict[str, Any]) -> None:
    if who:
        os.chown(path, who["user"], who["group"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_ready(asking: Path, server: Server, process: subprocess.Popen[bytes]) -> bool:
    """Whether it takes connections, which is waited for, or has ended; its own socket cannot be another server's."""
    end = time.monotonic() + PATIENCE
    question = [asking, "-q", "-h", server.folder, "-p", str(server.port)]
    while process.poll() is None and time.monotonic() < end:
        if subprocess.run(question, check=False).returncode == 0:
            return True
        time.sleep(0.1)
    process.kill()
    process.wait()
    return False
