"""Where campaigns are kept: SQLite files, PostgreSQL. A new store is a file here and a line below."""

from __future__ import annotations

from pathlib import Path

from fieldcheck.campaign.stores.base import Store
from fieldcheck.campaign.stores.sqlite import SqliteStore

__all__ = ["SqliteStore", "file_of", "open_store"]


POSTGRES = ("postgresql://", "postgres://")


def open_store(place: str | Path, *, create: bool = False) -> Store:
    """The store at a place: ``postgresql://user@host/database?campaign=name``, or a file.

    create
        Make it where it is not there yet; one that holds events already is opened as it is.
    """
    if str(place).startswith(POSTGRES):
        from fieldcheck.campaign.stores.postgres import PostgresStore

        return PostgresStore(str(place), create=create)
    return SqliteStore(place, create=create)


def file_of(store: Store) -> Path | None:
    """The file of a campaign, where it is one: what its settings name may lie beside it."""
    return store.path if isinstance(store, SqliteStore) else None
