"""What a labelling project is: choose, label, estimate; or simulate all of it where the truth is known."""

from __future__ import annotations

from fieldcheck.campaign.assess import assess, estimate
from fieldcheck.campaign.choose import build_design, choose, load_pool
from fieldcheck.campaign.field import Field
from fieldcheck.campaign.sheet import Sheet
from fieldcheck.campaign.sheet_files import read_answers, read_pool, read_remarks, read_sheet, write_sheet
from fieldcheck.campaign.simulate import Outcome, simulate

__all__ = [
    "Field",
    "Outcome",
    "Sheet",
    "assess",
    "build_design",
    "choose",
    "estimate",
    "load_pool",
    "read_answers",
    "read_pool",
    "read_remarks",
    "read_sheet",
    "simulate",
    "write_sheet",
]
