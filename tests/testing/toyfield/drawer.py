"""A store: files in a drawer."""

from pathlib import Path
from typing import ClassVar

from fieldcheck.campaign.stores import SqliteStore


class Drawer(SqliteStore):
    """``drawer://name`` is a file in the folder drawer."""

    name: ClassVar[str] = "drawer"

    def __init__(self, place, *, create=False):
        Path("drawer").mkdir(exist_ok=True)
        super().__init__(Path("drawer", place.partition("://")[2]), create=create)
