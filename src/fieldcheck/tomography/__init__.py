"""Where does the model break? A space of perturbations, a plan of tests, outcomes, a surrogate, answers."""

from __future__ import annotations

from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.answers.weak_spots import Weakness, weaknesses
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.plans.base import Plan
from fieldcheck.tomography.runs.stopping import Stopping
from fieldcheck.tomography.runs.stopping import registry as stopping_rules
from fieldcheck.tomography.setup.executor import Executor
from fieldcheck.tomography.setup.space_file import SpaceFile, read_space_file
from fieldcheck.tomography.setup.subject import Subject, of_space_file, of_truth
from fieldcheck.tomography.setup.template import template
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth

__all__ = [
    "Executor",
    "Plan",
    "Profile",
    "RecordedTruth",
    "Run",
    "SpaceFile",
    "Stopping",
    "Subject",
    "Weakness",
    "measure",
    "of_space_file",
    "of_truth",
    "plans",
    "read_space_file",
    "read_truth",
    "stopping_rules",
    "template",
    "weaknesses",
]
