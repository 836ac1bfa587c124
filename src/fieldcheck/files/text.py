"""Long cells in CSV files, within a limit that Python has once for the whole process."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from contextlib import contextmanager

USUAL_CELL = csv.field_size_limit()
"""Characters of a cell that Python reads unless it is told otherwise."""


_LIMIT = threading.RLock()  # reentrant: a file that is dropped half read may be closed at any moment


_WANTED: list[int] = []
"""Characters that the files which are being read want allowed."""


@contextmanager
def long_cells(longest: int) -> Iterator[None]:
    """Cells of so many characters can be read: items may be whole documents, and Python's own limit is short.

    The limit is one for the whole process. It holds as long as any file is half read, and is put back then: what others
    read must not depend on what was read here.
    """
    with _LIMIT:
        _WANTED.append(longest)
        csv.field_size_limit(max(USUAL_CELL, *_WANTED))
    try:
        yield
    finally:
        with _LIMIT:
            _WANTED.remove(longest)
            csv.field_size_limit(max([USUAL_CELL, *_WANTED]))
