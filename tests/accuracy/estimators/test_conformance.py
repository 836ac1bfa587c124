"""Every estimator in the registry keeps the contract of estimators; pairs that do not belong together are refused."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.assessment.certify import CertifyingBets
from fieldcheck.core.draws import PurposiveDraws
from fieldcheck.core.errors import DesignError, LabelError, SampleError
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.testing import cases, check_estimator


@pytest.mark.parametrize("name", list(estimators.registry))
def test_every_estimator(name: str) -> None:
    # Bets have a threshold: they are asked for as a certificate, not by the name of a design.
    certified = [labelled_by(CertifyingBets(0.8), budget) for budget in (10, 40)] if name == "bets" else []
    check_estimator(estimators.registry[name], certified)


def labelled_by(design: str | CertifyingBets, budget: int = 10) -> Labelled:
    case = cases()[0]
    design = designs.registry.build(design) if isinstance(design, str) else design
    sample = design.draw(case.frame(), case.losses, budget=budget, seed=1)
    losses = case.losses[sample.items]
    return Labelled(sample, losses, losses > 0)


def test_a_wrong_pair_is_refused_and_the_right_one_named() -> None:
    with pytest.raises(SampleError) as caught:
        estimators.estimate(labelled_by("sups"), estimator="mean")
    assert "hansen_hurwitz" in caught.value.hint


def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(DesignError):
        estimators.estimate(labelled_by("srs"), estimator="meen")


def test_a_stratum_without_label_is_refused() -> None:
    labelled = labelled_by("ssrs")
    few = labelled.sample.prefix(4)
    with pytest.raises(LabelError):
        estimators.estimate(Labelled(few, labelled.losses[:4], labelled.failed[:4]))


class Rounded(estimators.Mean):
    """Loses the unit of the losses."""

    def estimate(self, labelled, *, level):
        found = super().estimate(labelled, level=level)
        return type(found)(float(np.round(found.value)), found.variance, found.interval)


class Narrowing(estimators.Mean):
    """Promises more with less."""

    def estimate(self, labelled, *, level):
        return super().estimate(labelled, level=1 - level)


@pytest.mark.parametrize("broken", [Rounded, Narrowing])
def test_broken_estimators_are_noticed(broken: type) -> None:
    with pytest.raises(AssertionError):
        check_estimator(broken, [labelled_by("srs")])


def test_an_estimator_without_a_sample_is_noticed() -> None:
    sample = Sample(3, np.array([0, 1]), "mean", PurposiveDraws())
    with pytest.raises(AssertionError):
        check_estimator(estimators.Mean, [Labelled(sample, np.zeros(2), np.zeros(2) > 0)])
