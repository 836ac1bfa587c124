"""Where tests make the same of an input, the model is asked once, and what it said counts for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from fieldcheck import tomography
from fieldcheck.core.inputs import Texts
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.perturbations import registry
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.setup.executor import Executor
from fieldcheck.tomography.setup.subject import Subject
from fieldcheck.tomography.setup.truth import RecordedTruth
from fieldcheck.tomography.surrogates.alike import Alike
