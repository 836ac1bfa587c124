"""Estimates explain themselves, on every scale."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.interval import Interval
from fieldcheck.core.measures import measure_of
from fieldcheck.core.measures.base import SCALES

ACCURACY = Estimate(
    metric="accuracy",
    value=0.9,
    interval=Interval(0.85, 0.95, kind="exact", method="hypergeometric"),
    standard_error=0.02,
    labels=100,
    failures=10,
    population=12_000,
    task="classification",
    design="srs",
    design_title="Simple random sampling",
    paper="textbook",
    auxiliary="none",
    budget=100,
    seed=1,
    mean_loss=0.1,
    truth=0.91,
)
ERROR = replace(
    ACCURACY,
    metric="1-mse",
    value=0.75,
    interval=Interval(0.64, 0.84),
    standard_error=0.05,
    task="regression",
    mean_loss=0.25,
    truth=0.71,
)


@pytest.mark.parametrize(("loss", "shown"), [(-0.1, 1.0), (0.1, 0.9), (1.4, 0.0)])
def test_shown_is_possible_and_the_value_stays_what_it_was(loss: float, shown: float) -> None:
    raw = replace(ACCURACY, value=1 - loss, mean_loss=loss)
    assert raw.shown == pytest.approx(shown)
    assert raw.to_dict()["value"] == 1 - loss
    assert replace(ERROR, mean_loss=-0.1, value=1.1).shown == 1.0
    assert replace(ERROR, mean_loss=1.5, value=-0.5).shown == -0.5


@pytest.mark.parametrize(
    ("metric", "value", "low", "high", "error", "truth"),
    [
        ("1-mse", 0.75, 0.64, 0.84, 0.05, 0.71),
        ("mse", 0.25, 0.16, 0.36, 0.05, 0.29),
        ("rmse", 0.5, 0.4, 0.6, 0.05, math.sqrt(0.29)),
    ],
)
def test_scales(metric: str, value: float, low: float, high: float, error: float, truth: float) -> None:
    """rmse: the standard error goes with the slope 1/(2·0.5) = 1."""
    moved = ERROR.as_metric(metric)
    assert (moved.value, moved.interval.low, moved.interval.high) == pytest.approx((value, low, high))
    assert (moved.standard_error, moved.truth) == pytest.approx((error, truth))


@pytest.mark.parametrize("there", ["mse", "rmse"])
def test_scales_there_and_back(there: str) -> None:
    back = ERROR.as_metric(there).as_metric("1-mse")
    assert (back.value, back.standard_error, back.truth) == pytest.approx((0.75, 0.05, 0.71))
    assert (back.interval.low, back.interval.high) == pytest.approx((0.64, 0.84))


def test_a_metric_of_another_task_is_refused() -> None:
    with pytest.raises(FieldcheckError):
        ACCURACY.as_metric("rmse")
    with pytest.raises(FieldcheckError):
        ERROR.as_metric("mae")


def test_metrics() -> None:
    assert measure_of("classification", "squared").scales == ("accuracy",)
    assert measure_of("regression", "absolute").scales[0] == "mae"
    assert [SCALES[m].of(0.25) for m in ("accuracy", "1-mse", "mse", "rmse", "1-mae", "mae")] == [
        0.75,
        0.75,
        0.25,
        0.5,
        0.75,
        0.25,
    ]
    assert SCALES["rmse"].of(-1e-9) == 0


def test_words() -> None:
    assert "90.0 % (95 % interval 85.0 % to 95.0 %), from 100 labels that exposed 10 failures" in ACCURACY.sentence()
    assert "12,000 items" in ACCURACY.sentence()
    assert "cannot be trusted" in replace(ACCURACY, interval=Interval(0, 1, trusted=False)).sentence()
    assert "inside" in dict(ACCURACY.facts())["truth"]
    assert "OUTSIDE" in dict(replace(ACCURACY, truth=0.5).facts())["truth"]


def test_every_face_shows_the_warnings() -> None:
    warned = replace(ACCURACY, warnings=("look <here>",))
    assert "look <here>" in str(warned)
    assert "look &lt;here&gt;" in warned._repr_html_()
    assert warned.to_dict()["warnings"] == ["look <here>"]


def test_json_has_no_nan() -> None:
    record = replace(ACCURACY, standard_error=math.nan).to_dict()
    assert json.loads(json.dumps(record, allow_nan=False))["standard_error"] is None


def test_the_audit_form_says_when_it_is_unbiased() -> None:
    """Not when labels are missing or decided where to stop; and the root of an unbiased estimate is biased."""
    audited = replace(ERROR, audit=0.9)
    words = [dict(one.facts())["audit form"] for one in (audited, audited.as_metric("rmse"))]
    assert all("fixed beforehand and none was skipped" in text for text in words)
    assert [text.split(": ")[1].startswith("before the root") for text in words] == [False, True]
