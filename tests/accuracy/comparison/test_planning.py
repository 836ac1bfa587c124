"""How many labels a comparison takes, before any label."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy.comparison.planning import ComparisonForecast, plan_comparison
from fieldcheck.accuracy.comparison.simulate import simulate_comparison
from fieldcheck.core.errors import BudgetError, FieldcheckError

from .test_compare import models, numbers


def test_the_range_holds_the_labels_that_campaigns_took() -> None:
    """Three pairs, from far apart to close: the median of seven campaigns each."""
    for skill in ((0.85, 0.6), (0.8, 0.7), (0.8, 0.76)):
        pair = models(1500, skill=skill, seed=4)
        found = fc.plan(pair[0], against=pair[1])
        taken = [simulate_comparison(pair, certify=True, seed=seed).labels for seed in range(7)]
        assert isinstance(found, ComparisonForecast)
        assert found.needed[1] <= np.median(taken) <= found.needed[2] <= found.disagreements


def test_half_widths_are_those_of_campaigns() -> None:
    """Within a third: the interval of a campaign knows who is right about as well as a world does."""
    pair = models(1500, skill=(0.8, 0.7), seed=4)
    found = {one.labels: one for one in plan_comparison(pair, budget=150).forecasts}
    for labels in (100, 150):
        seen = simulate_comparison(pair, budget=labels, seed=1).differences[0].interval.width / 2
        assert found[labels].low / 1.33 <= seen <= found[labels].high * 1.33
    halves = [found[labels].half_width for labels in sorted(found)]
    assert halves == sorted(halves, reverse=True)


def test_a_wide_margin_is_cheaper_than_a_close_call() -> None:
    pair = models(1500, skill=(0.8, 0.8), seed=4)
    which, within = plan_comparison(pair), plan_comparison(pair, margin=0.1)
    assert within.needed[0] <= which.needed[0]
    assert "by more than 10 points" in within.sentences()[0]
    assert json.loads(json.dumps(within.to_dict()))["margin"] == 0.1
    assert "exact" in str(within)


def test_models_that_agree_need_no_labels() -> None:
    one = models(200)[0]
    found = plan_comparison([one, one])
    assert (found.needed, found.disagreements, found.forecasts) == ((0, 0, 0), 0, ())
    assert "nothing to label" in found.sentences()[0]


def test_what_cannot_be_planned_is_refused() -> None:
    first, second = models(200)
    with pytest.raises(FieldcheckError, match="no plan for a comparison of regressions"):
        plan_comparison(numbers())
    with pytest.raises(BudgetError, match="a margin of 2"):
        plan_comparison([first, second], margin=2)
    with pytest.raises(FieldcheckError, match="margin without another model"):
        fc.plan(first, not_worse=0.01)  # type: ignore[call-overload]
    with pytest.raises(FieldcheckError, match="together with another model"):
        fc.plan(first, against=second, half_width=0.1)  # type: ignore[call-overload]
