"""Stores of both kinds, empty."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldcheck.campaign.stores import open_store
from fieldcheck.campaign.stores.base import Store

from .server import Server, programs, running

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server of the tests' own."""
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL (initdb and postgres) is not installed; `python3 run.py test` installs it")
    with running(folder) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Each call names a place where no campaign is yet."""
    if kind == "sqlite":
        return lambda: str(tmp_path / f"{next(NUMBERS)}.db")
    found: Server = request.getfixturevalue("server")
    return lambda: found.url(f"campaign-{next(NUMBERS)}")


@pytest.fixture
def place(new_place: Callable[[], str]) -> str:
    return new_place()


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    found = open_store(place, create=True)
    yield found
    found.close()
