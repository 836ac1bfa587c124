"""Writing a file so that there is the old one or the new one, never half of it."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.files.places import RemotePath, place_of, sent


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A place to write to, beside the target and with its suffix; it takes the target's name when all went well.

    The name of the place is its own, so that two who write at once do not mix; the content is on disk before the
    rename, which the system does at one stroke. What a writer who was killed left behind is cleared away by the next.
    """
    target = place_of(path).absolute()
    if isinstance(target, RemotePath):
        with sent(target) as here:
            yield here
        return
    temporary = target.with_name(f"{_beginning(target)}{os.getpid()}-{uuid4().hex}{target.suffix}")
    with _writing(target):
        _check(target)
    _clear(target)
    try:
        with _writing(target, only=FULL):
            yield temporary
        with _writing(target):
            _take_over(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _beginning(target: Path) -> str:
    """Of the names of places, with the machine: whether a writer still lives can only be told on its own."""
    machine = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    return f".{target.stem[:40]}.{machine}-"


def _clear(target: Path) -> None:
    """Take away what writers of this machine left who do not live any more."""
    beginning = _beginning(target)
    with suppress(OSError, ValueError):  # a folder that cannot be listed, a name that is not ours
        for path in target.parent.iterdir():
            writer = path.name.removeprefix(beginning).partition("-")[0]
            if path.name.startswith(beginning) and path.suffix == target.suffix and not _lives(int(writer)):
                path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    """Whether there is such a process; on Windows, where asking would end it, there always is."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def _take_over(temporary: Path, target: Path) -> None:
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(target)
    _sync_folder(target.parent)


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What says that there is no room, whoever wrote; other troubles of a writer may be with what it reads."""


@contextmanager
def _writing(target: Path, *, only: Collection[int] = ()) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if only and error.errno not in only:
            raise
        raise FieldcheckError(
            f"cannot write '{target}': {os.strerror(error.errno) if error.errno else error}",
            rule="the folder must be writable and have room",
            hint="another folder",
        ) from error


def write_text(path: str | Path, text: str) -> Path:
    """Write the text (UTF-8) to the file, whole or not at all, and give back its absolute path."""
    return write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Likewise of bytes."""
    target = place_of(path).absolute()
    with whole_file(target) as place, _writing(target):
        place.write_bytes(content)
    return target


def _check(target: Path) -> None:
    if not target.parent.is_dir():
        raise FieldcheckError(
            f"cannot write '{target}': there is no folder '{target.parent}'",
            rule="the folder of an output file must exist",
            hint=f"mkdir -p '{target.parent}'",
        )
    if target.is_dir():
        raise FieldcheckError(
            f"cannot write '{target}': it is a folder",
            rule="an output is a file",
            hint=str(target / "report.html"),
        )


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a loss of power, where folders can be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
