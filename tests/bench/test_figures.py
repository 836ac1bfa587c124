"""The charts of the papers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from fieldcheck.bench import Study, run
from fieldcheck.bench.exhibits.figures import efficiency_chart, error_bars, failures_chart, offset_exhibits
from fieldcheck.bench.signals import FailureCurve, logistic

from .subjects import make_row, write_subject


def rows_of_a_place():
    return [
        make_row(design, rmse / n**0.5, failures * n, budget=n, rmedse=rmse / 2)
        for n in (50, 200)
        for design, rmse, failures in (("srs", 2.0, 0.1), ("sups", 1.0, 0.3))
    ]


def test_failures_and_efficiency_against_the_budget():
    found = failures_chart(("s", "confidence"), rows_of_a_place())
    assert [(line.label, line.x, line.y) for line in found.lines] == [
        ("srs", (50.0, 200.0), (5.0, 20.0)),
        ("sups", (50.0, 200.0), (15.0, 60.0)),
    ]
    (chart,) = efficiency_chart(("s", "confidence"), rows_of_a_place())
    (line,) = chart.lines
    assert (line.label, chart.reference) == ("sups", 1.0)
    assert line.y == pytest.approx((0.25, 0.25))
    assert efficiency_chart(("s", "confidence"), [make_row("sups", 1, 1)]) == []


def test_both_errors_stand_side_by_side():
    chart = error_bars(("s", "confidence"), rows_of_a_place())
    assert (chart.groups, chart.series) == (("srs", "sups"), ("RMSE", "RMedSE"))
    assert chart.values[1] == (1.0, 0.5)


def test_the_fitted_curve_is_the_one_that_made_the_failures():
    """200,000 items fail with chance expit(2 x - 1): the slope is known to ± .008, a chance to ± .004 (four errors)."""
    rng = np.random.default_rng(3)
    chi = rng.random(200_000) * 2
    failed = rng.random(200_000) < expit(2 * chi - 1)
    at = np.array([0.0, 1.0, 2.0])
    assert logistic(chi, failed, at) == pytest.approx(expit(2 * at - 1), abs=0.01)
    curve = FailureCurve.of("s", "dsa", chi, failed)
    assert curve.value == tuple(sorted(curve.value))
    assert np.mean(curve.share) == pytest.approx(failed.mean())


@pytest.mark.parametrize("failed", [np.arange(50) > 30, np.zeros(50, dtype=bool), np.ones(50, dtype=bool)])
@pytest.mark.parametrize("chi", [np.arange(50) / 50, np.zeros(50)])
def test_a_curve_is_finite_whatever_happens(chi, failed):
    curve = FailureCurve.of("s", "dsa", chi, failed)
    assert np.isfinite(curve.chance).all()
    assert len(curve.value) == len(curve.share) == 10


def test_items_beyond_an_offset_are_all_those_in_later_bins(tmp_path):
    subject = write_subject(tmp_path / "steer.csv", regression=True)
    result = run(Study([subject], ("srs", "sups"), ("lsa",), (40,), repetitions=4, offset_scale=25))
    bars, table, beyond = offset_exhibits(result)
    first = [float(cell) for cell in table.rows[0][1:]]
    histogram, tail = first[:10], first[10:]
    assert histogram == list(bars.values[0])
    assert tail == pytest.approx([sum(histogram[i:]) for i in range(10)])
    assert tail[0] == pytest.approx(40)
    assert beyond.lines[0].y == pytest.approx(tail)
    assert beyond.lines[0].x == pytest.approx(np.arange(0, 25, 2.5))
    assert table.columns[6] == "12.5 - 15"
    assert table.columns[16] == "≥ 12.5"
