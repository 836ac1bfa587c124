"""Special functions of scipy, loaded when the first one is used: importing them costs more than all of fieldcheck."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import scipy.special

    found = globals()[name] = getattr(scipy.special, name)
    return found
