"""What a labelling project is: choose, label, estimate; or simulate all of it where the truth is known."""

from __future__ import annotations

from fieldcheck.campaign.assess import assess, estimate
from fieldcheck.campaign.choose import build_design, choose, load_pool
from fieldcheck.campaign.compare import compare
from fieldcheck.campaign.field import Field
from fieldcheck.campaign.live import Campaign
from fieldcheck.campaign.metrics import metrics
from fieldcheck.campaign.plan import plan
from fieldcheck.campaign.progress import Failure, Nonresponse, Point, Progress
from fieldcheck.campaign.reuse import reuse
from fieldcheck.campaign.sayings import Saying
from fieldcheck.campaign.settings import Settings
from fieldcheck.campaign.sheet import Sheet
from fieldcheck.campaign.sheet_files import read_answers, read_pool, read_remarks, read_sheet, write_sheet
from fieldcheck.campaign.simulate import Outcome, simulate
from fieldcheck.campaign.slices import slices
from fieldcheck.campaign.state import ItemState, Lease, Mark, State, fold
from fieldcheck.campaign.stop import Certify, HalfWidth, assess_until, judge, run_until

__all__ = [
    "Campaign",
    "Certify",
    "Failure",
    "Field",
    "HalfWidth",
    "ItemState",
    "Lease",
    "Mark",
    "Nonresponse",
    "Outcome",
    "Point",
    "Progress",
    "Saying",
    "Settings",
    "Sheet",
    "State",
    "assess",
    "assess_until",
    "build_design",
    "choose",
    "compare",
    "estimate",
    "fold",
    "judge",
    "load_pool",
    "metrics",
    "plan",
    "read_answers",
    "read_pool",
    "read_remarks",
    "read_sheet",
    "reuse",
    "run_until",
    "simulate",
    "slices",
    "write_sheet",
]
