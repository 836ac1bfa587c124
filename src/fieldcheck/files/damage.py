"""Damaged files: whatever a decoder makes of them becomes one error that names the file and says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fieldcheck.core.errors import FieldcheckError

AGAIN = "write it again; a download may have been cut off"


@contextmanager
def decoding(
    path: object, error: type[FieldcheckError], *, rule: str, kind: str = "", hint: str = AGAIN
) -> Iterator[None]:
    """Around a decoder, and around nothing else.

    Everything is caught, on purpose: zipfile, zlib, numpy, json, tomllib, Pillow and pyarrow raise some twenty types of
    error on damaged bytes, and which ones changes from version to version.

    error
        What is raised instead; our own errors pass.
    kind
        What the file was read as.
    """
    try:
        yield
    except FieldcheckError:
        raise
    except Exception as problem:
        read_as = f" as {kind}" if kind else ""
        raise error(f"{path} cannot be read{read_as}: {in_words(problem)}", rule=rule, hint=hint) from problem


def in_words(problem: Exception) -> str:
    """What a decoder complained about, in one line."""
    if isinstance(problem, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    if isinstance(problem, KeyError):
        return f"{problem} is missing"
    return next(iter(str(problem).splitlines()), "") or "it is cut off"
