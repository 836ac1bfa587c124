"""What tests of several packages share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every machine, and no clock: a busy machine is no failure. New examples are looked for with
# `--hypothesis-profile=explore`, now and then.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("explore", derandomize=False, print_blob=True, **PATIENT)
settings.register_profile("steady", derandomize=True, **PATIENT)
settings.load_profile("steady")

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""A browser that looks at nothing but our pages."""

START_LIMIT = 300_000
"""Milliseconds that a browser may take to start."""


@pytest.fixture(scope="session")
def published_data() -> Path:
    """The folder of the papers' subjects and tables; tests that want it are skipped where it is absent."""
    given = os.environ.get("FIELDCHECK_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not (folder / "subjects").is_dir():
        pytest.skip(f"the published subjects are not in {folder}; FIELDCHECK_DATA names their folder")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium; tests that want it are skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not found:
        pytest.skip("no Chromium: set CHROMIUM, or install the package chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=list(QUIET), timeout=START_LIMIT)
        yield opened
        opened.close()
