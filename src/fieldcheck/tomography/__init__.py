"""Where does the model break? A space of perturbations, a plan of tests, outcomes, a surrogate, answers."""

from fieldcheck.tomography.execute import Executor
from fieldcheck.tomography.plan import Plan
from fieldcheck.tomography.plan import registry as plans
from fieldcheck.tomography.profile import Profile
from fieldcheck.tomography.recipe import Recipe, read_recipe
from fieldcheck.tomography.run import Run, measure
from fieldcheck.tomography.stopping import Stopping
from fieldcheck.tomography.stopping import registry as stopping_rules
from fieldcheck.tomography.subject import Subject, of_recipe, of_truth
from fieldcheck.tomography.template import template
from fieldcheck.tomography.truth import Truth, read_truth
from fieldcheck.tomography.weak import Weakness, weaknesses

__all__ = [
    "Executor",
    "Plan",
    "Profile",
    "Recipe",
    "Run",
    "Stopping",
    "Subject",
    "Truth",
    "Weakness",
    "measure",
    "of_recipe",
    "of_truth",
    "plans",
    "read_recipe",
    "read_truth",
    "stopping_rules",
    "template",
    "weaknesses",
]
