"""What tests of several packages share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def published_data() -> Path:
    """The folder of the papers' subjects and tables; tests that want it are skipped where it is absent."""
    given = os.environ.get("FIELDCHECK_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not (folder / "subjects").is_dir():
        pytest.skip(f"the published subjects are not in {folder}; FIELDCHECK_DATA names their folder")
    return folder
