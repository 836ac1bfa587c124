"""Where campaigns are kept, by the scheme of their address. A new store is a file here and a name below."""

from __future__ import annotations

from pathlib import Path

from fieldcheck.campaign.stores.backup import back_up
from fieldcheck.campaign.stores.base import Store
from fieldcheck.campaign.stores.chain import fingerprint
from fieldcheck.campaign.stores.postgres import PostgresStore
from fieldcheck.campaign.stores.sqlite import SqliteStore
from fieldcheck.core.errors import StoreError
from fieldcheck.core.registry import Registry

__all__ = ["SqliteStore", "back_up", "fingerprint", "is_address", "open_store", "registry"]


registry: Registry[Store] = Registry(
    "store", "fieldcheck.stores", SqliteStore, PostgresStore, error=StoreError, hint="a file, or postgresql://..."
)
"""By the scheme of an address: ``postgresql`` of ``postgresql://user@host/database``."""


def is_address(place: str | Path) -> bool:
    """Whether it is the address of a store, and not a file."""
    return "://" in str(place)


def open_store(place: str | Path, *, create: bool = False) -> Store:
    """The store at a place: a file, or an address such as ``postgresql://user@host/database?campaign=name``.

    create
        Make it where it is not there yet; one that holds events already is opened as it is.
    """
    scheme = str(place).partition("://")[0] if is_address(place) else SqliteStore.name
    return registry[scheme](str(place), create=create)
