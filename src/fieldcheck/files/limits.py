"""How much a file may unpack to: a small one that fills the memory is refused before it is unpacked."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.files.places import place_of

USUAL = 256 << 20
"""Bytes that any file may unpack to."""

RATIO = 100
"""By how much a larger file may grow: columns of real pools shrink by 2 to 30, a megabyte of zeros by 1,000."""

SETTING = "FIELDCHECK_MAX_SIZE"
"""The environment has it, so that it reaches every thread and process that reads files."""

_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)


def check_size(path: str | Path, unpacked: int, error: type[FieldcheckError], *, held: int | None = None) -> None:
    """Refuse a file that would unpack to more than is allowed; ``held`` is its size, where it is no file."""
    packed = place_of(path).stat().st_size if held is None else held
    if unpacked > allowed(packed):
        raise error(
            f"{path} unpacks from {in_units(packed)} to {in_units(unpacked)}",
            rule=f"a file unpacks to {in_units(allowed(packed))} at most"
            + ("" if _asked() else f" ({in_units(USUAL)}, or {RATIO} times its size)"),
            hint=f"--max-size {in_units(unpacked, up=True).replace(' ', '')}, if you trust it",
        )


def allowed(packed: int) -> int:
    """Bytes that a file of this size may unpack to."""
    asked = _asked()
    return max(USUAL, RATIO * packed) if asked is None else asked


def _asked() -> int | None:
    text = os.environ.get(SETTING)
    return None if not text else read_size(text)


def read_size(text: str) -> int:
    """``4GB``, ``500 MB`` or a number of bytes."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise FieldcheckError(f"no size '{text}'", rule="a number and B, KB, MB, GB or TB", hint="--max-size 4GB")
    return int(float(match[1]) * (1 << _UNITS[match[2].upper()]))


def in_units(size: int, *, up: bool = False) -> str:
    """Bytes as a person says it; rounded up where that is asked for."""
    power = next((power for power in (40, 30, 20, 10) if size >= 1 << power), 0)
    unit = next(unit for unit, at in _UNITS.items() if at == power)
    return f"{-(-size >> power) if up else round(size / (1 << power), 1):g} {unit}B"
