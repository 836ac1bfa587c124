"""Fixtures for a server that runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from fieldcheck.campaign.items import Content

from .sites import Site, Start, starting


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with starting(tmp_path) as make:
        yield make


@pytest.fixture
def site(start: Start) -> Site:
    return start()


@pytest.fixture
def web(site: Site) -> Iterator[httpx.Client]:
    with site.visitor() as client:
        yield client


@pytest.fixture
def picture() -> bytes:
    return Content("image", "", pixels=np.arange(64, dtype=np.uint8).reshape(8, 8, 1)).read()
