"""The picture at the top of the README: the labelling page beside the narrowing interval, as a browser shows them.

``FIELDCHECK_PICTURE=1 pytest tests/web/test_web_picture.py`` writes it into ``docs/figures``.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.sources.digits import digits_field

from .sites import served
from .test_web_browser import Visit, desk_of, visit, wait_text

pytestmark = pytest.mark.browser

__all__ = ["visit"]  # a fixture

PLACE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "page-and-interval.png"

GAP, PAPER = 24, (255, 255, 255)

ONLY_THESE = """wanted => document.querySelectorAll(".card").forEach(
  card => { if (!card.querySelector(wanted)) card.remove(); })"""

LARGEST = 1_000_000
"""Bytes of the picture."""


def digits(folder: Path) -> Campaign:
    """A campaign over the digits of the demo, with most of its labels."""
    field = digits_field(0)
    np.save(folder / "digits.npy", np.rint(255 * (1.0 - np.clip(field.images, 0.0, 1.0))).astype(np.uint8))
    campaign = Campaign.create(
        folder / "c.db", field.pool, budget=200, seed=0, items=folder / "digits.npy", title="Digits in the field"
    )
    for _ in range(150):
        (item,) = campaign.ask("Ada")
        truth = field.pool.classes[int(field.pool.target[field.pool.position_of([item])[0]])]  # type: ignore[index]
        campaign.tell(item, truth, by="Ada")
    return campaign


def beside(left: bytes, right: bytes) -> Image.Image:
    """Two pictures of one height."""
    both = [Image.open(io.BytesIO(one)).convert("RGB") for one in (left, right)]
    height = max(one.height for one in both)
    whole = Image.new("RGB", (sum(one.width for one in both) + GAP, height), PAPER)
    whole.paste(both[0], (0, 0))
    whole.paste(both[1], (both[0].width + GAP, 0))
    return whole


def test_the_picture_of_the_readme(tmp_path: Path, visit: Visit) -> None:
    with digits(tmp_path) as campaign, served(campaign) as site:
        size: Any = {"width": 820, "height": 620}
        page = visit(site, name="Bob", viewport=size)
        page.wait_for_selector(".frame img")
        page.wait_for_timeout(300)
        desk = desk_of(page)
        desk.set_viewport_size({"width": 640, "height": 620})
        wait_text(desk, ".card h2", "How it developed")
        desk.wait_for_selector(".chart")
        desk.evaluate(ONLY_THESE, "#estimate, .chart")
        picture = beside(page.screenshot(), desk.screenshot())
        page.context.close()  # before the server: the desk would complain that it is gone
    out = io.BytesIO()
    picture.quantize(128).save(out, "PNG", optimize=True)
    assert len(out.getvalue()) <= LARGEST
    if os.environ.get("FIELDCHECK_PICTURE"):
        PLACE.write_bytes(out.getvalue())
