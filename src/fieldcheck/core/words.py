"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """A number with what it counts: ``1 label``, ``1,200 labels``; ``1 item waits``, where both forms are given."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
