"""Right, loss and failure, by enumeration; and how a result is spoken."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.label import Score
from fieldcheck.core.measures import Accuracy, Cost, Error, MeanScore, label_losses
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.words import percent


def test_top_k_by_enumeration() -> None:
    """All orders of four different probabilities: right where fewer than ``top`` classes are more probable."""
    rows = np.array(list(permutations([0.1, 0.2, 0.3, 0.4])))
    for top in (1, 2, 3, 4):
        for code in range(4):
            wanted = [float((row > row[code]).sum() >= top) for row in rows]
            assert Accuracy(top).losses(rows, np.full(len(rows), code)).tolist() == wanted


def test_an_error_on_the_threshold_is_no_failure() -> None:
    """Squaring an error and taking the root again does not move it over the threshold."""
    offsets = np.random.default_rng(1).gamma(1.0, 1.0, 10_000)
    for kind in ("squared", "absolute"):
        losses = Error(kind).losses(np.zeros(len(offsets)), offsets)
        at, under = (Error(kind, float(limit)) for limit in (offsets[0], np.nextafter(offsets[0], 0)))
        assert not at.failed(losses[:1])[0]
        assert under.failed(losses[:1])[0]
        assert np.array_equal(at.failed(losses), offsets > offsets[0])


def test_costs_and_scores() -> None:
    cost = Cost({("cat", "dog"): 5.0})
    assert cost.losses(["cat", "dog", "owl"], ["cat", "cat", "cat"]).tolist() == [0.0, 5.0, 1.0]
    assert cost.range == (0.0, 5.0)
    assert label_losses(MeanScore(), ["some text"], [Score(0.75)]).tolist() == [0.25]
    with pytest.raises(FieldcheckError, match="between 0 and 1"):
        MeanScore().losses(["some text"], [7.0])


@pytest.mark.parametrize("name", list(SCALES))
def test_a_scale_goes_back(name: str) -> None:
    scale = SCALES[name]
    assert scale.back(scale.of(0.37)) == pytest.approx(0.37, rel=1e-15)
    step = 1e-6
    assert scale.slope(scale.of(0.37)) == pytest.approx(abs(scale.of(0.37 + step) - scale.of(0.37)) / step, rel=1e-5)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.9312, "93.1 %"),
        (0.99873, "99.87 %"),
        (0.99998, "99.9980 %"),
        (0.99999991, "100.0 %"),
        (1.0, "100.0 %"),
        (2e-9, "0.0 %"),
        (0.0, "0.0 %"),
        (0.00127, "0.13 %"),
        (0.9, "90.0 %"),
        (-0.0001, "−0.010 %"),
        (math.nan, "–"),
    ],
)
def test_one_rounding_of_shares(share: float, text: str) -> None:
    assert percent(share) == text
    assert SCALES["accuracy"].shown(share) == text
