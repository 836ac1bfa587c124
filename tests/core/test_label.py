"""What a person may say about an item."""

from __future__ import annotations

import json
import math

import pytest

from fieldcheck.core.errors import LabelError
from fieldcheck.core.label import Label, Missing, Outcome, Score, TrueClass, Value, as_record, from_record
from fieldcheck.core.measures import label_losses, measure_of

LABELS = (
    TrueClass("cat"),
    TrueClass("wrong"),
    Value(-0.1),
    Score(0.5),
    Outcome(right=True),
    Outcome(right=False),
    Missing(),
    Missing("too dark"),
)


@pytest.mark.parametrize("label", LABELS, ids=str)
def test_a_record_survives_json(label: Label) -> None:
    assert from_record(json.loads(json.dumps(as_record(label)))) == label


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", [Value, Score])
def test_numbers_are_finite(kind: type[Value] | type[Score], number: float) -> None:
    with pytest.raises(LabelError, match="finite"):
        kind(number)


@pytest.mark.parametrize(
    ("label", "prediction", "expected"),
    [
        (TrueClass("cat"), "cat", 0.0),
        (TrueClass("dog"), "cat", 1.0),
        (TrueClass("7"), "7.0", 0.0),
        (TrueClass("gr\u00fcn"), "gru\u0308n", 0.0),
        (Outcome(right=True), None, 0.0),
        (Outcome(right=False), "cat", 1.0),
        (Value(1.5), 1.0, 0.5),
        (Value(-2.0), 1.0, 3.0),
        (Missing("dark"), "cat", math.inf),
    ],
)
def test_how_far_off_the_model_is(label: Label, prediction: str | float | None, expected: float) -> None:
    measure = measure_of("regression" if isinstance(label, Value) else "classification", "absolute")
    losses = label_losses(measure, [prediction, prediction], [label, None])
    assert losses[0] == expected
    assert math.isnan(losses[1])
