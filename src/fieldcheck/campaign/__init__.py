"""People and time: a labelling project that several people share, stop, resume and audit."""

from __future__ import annotations

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.item_state import Annotation, ItemState, Lease
from fieldcheck.campaign.progress import Failure, Nonresponse, Progress
from fieldcheck.campaign.settings import Settings
from fieldcheck.campaign.state import State, fold

__all__ = [
    "Annotation",
    "Campaign",
    "Failure",
    "ItemState",
    "Lease",
    "Nonresponse",
    "Progress",
    "Settings",
    "State",
    "fold",
]
