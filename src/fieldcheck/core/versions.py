"""What a number was computed with."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def versions() -> dict[str, str]:
    """Of fieldcheck, numpy, scipy and Python; 'unknown' when running from a source tree that is not installed."""
    return {name: _version(name) for name in ("fieldcheck", "numpy", "scipy")} | {"python": platform.python_version()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
