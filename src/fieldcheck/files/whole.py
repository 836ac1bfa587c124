"""Writing a file so that there is the old one or the new one, never half of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from fieldcheck.core.errors import FieldcheckError


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A place to write to, beside the target and with its suffix; it takes the target's name when all went well."""
    target = Path(path).absolute()
    if not target.parent.is_dir() or target.is_dir():
        raise FieldcheckError(f"{target} cannot be written", rule="a file in a folder that exists")
    temporary = target.with_name(f".{target.stem[:40]}.{uuid4().hex}{target.suffix}")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> Path:
    """Write the text (UTF-8) to the file, and give back its absolute path.

    It is written beside the target first and then renamed, which the system does at one stroke.
    """
    target = Path(path).absolute()
    try:
        _check(target)
        _replace(target, text)
    except OSError as error:
        raise FieldcheckError(
            f"cannot write '{target}': {error.strerror or error}",
            rule="the folder must be writable and have room",
            hint="another folder",
        ) from error
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


def _replace(target: Path, text: str) -> None:
    temporary = target.with_name(f".{target.name[:40]}.{uuid4().hex}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all."""
    temporary = path.with_name(f".{path.name}.part")
    with temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename survive a loss of power, where folders can be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
