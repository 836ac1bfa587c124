"""For contributors: what every registered thing must pass, and assertions that say how often they err."""

from __future__ import annotations

from fieldcheck.testing.auxiliary import check_auxiliary
from fieldcheck.testing.campaigns import check_exchange, check_store
from fieldcheck.testing.cases import Case, cases, scattered
from fieldcheck.testing.conformance import check_design, check_estimator
from fieldcheck.testing.engines import check_engine
from fieldcheck.testing.measures import check_measure
from fieldcheck.testing.models import check_adapter, check_decoder, check_model
from fieldcheck.testing.sources import check_input_source, check_pool_format
from fieldcheck.testing.statistics import assert_covers, assert_frequencies, assert_unbiased
from fieldcheck.testing.tomography import (
    check_perturbation,
    check_plan,
    check_quality_score,
    check_stopping_rule,
    check_surrogate,
)

__all__ = [
    "Case",
    "assert_covers",
    "assert_frequencies",
    "assert_unbiased",
    "cases",
    "check_adapter",
    "check_auxiliary",
    "check_decoder",
    "check_design",
    "check_engine",
    "check_estimator",
    "check_exchange",
    "check_input_source",
    "check_measure",
    "check_model",
    "check_perturbation",
    "check_plan",
    "check_pool_format",
    "check_quality_score",
    "check_stopping_rule",
    "check_store",
    "check_surrogate",
    "scattered",
]
