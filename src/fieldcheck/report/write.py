"""Writing a file so that there is the old one or the new one, never half of it."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from fieldcheck.core.errors import FieldcheckError


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
