"""Queries that name the order in which perturbations are applied."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.arranged import in_order
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.query import parse
from fieldcheck.tomography.setup.executor import orders_of
from fieldcheck.tomography.setup.subject import Subject

SPACE = Space((Axis("noise", 3), Axis("motion-blur", 3), Axis("zoom", 3)))


def ran(plan: str, budget: int | None) -> Run:
    """Where noise comes before the blur the model is right on 80 % of the inputs, else on 50 %; alone, on 90 %."""

    def held(tests: IntArray, inputs: IntArray, arrangements: IntArray | None) -> FloatArray:
        assert arrangements is not None
        severities = SPACE.severities(tests)
        places = np.argsort(orders_of(3, arrangements), axis=1)
        both = (severities[:, 0] > 0) & (severities[:, 1] > 0)
        share = np.where(both, np.where(places[:, 0] < places[:, 1], 0.8, 0.5), 0.9)
        return (inputs % 10 < 10 * share).astype(np.float64)

    subject = Subject(SPACE, 60, held)
    return measure(subject, plan=plans.build(plan), budget=budget, ordered=True, seed=3)


def test_an_order_is_answered_from_the_rows_that_had_it() -> None:
    found = ran("spread", 6_000)
    for text, truth in (
        ("blur after noise, zoom = 0", 0.8),
        ("motion-blur before noise", 0.5),
        ("noise before zoom before blur and order = 3", 0.8),
        ("noise > 0 and blur > 0", 0.65),
    ):
        answer = found.ask(text)
        # A smooth surrogate near a jump, and 6,000 outcomes: .08 tells .5 from .65 and .8.
        assert answer.robustness == pytest.approx(truth, abs=0.08), text
        if np.isfinite(answer.audit):
            assert answer.audit == pytest.approx(truth, abs=4 * answer.audit_error + 0.01), text


def test_rows_are_kept_with_the_chances_that_they_had() -> None:
    every = np.arange(6)
    tests = np.full(6, SPACE.numbers(np.array([[1, 1, 1]]))[0])
    rows = in_order(SPACE, Outcomes(tests, every, np.ones(6), np.full(6, 0.5)), every, [(0, 1), (1, 2)])
    assert rows.inputs.tolist() == [0]
    assert rows.chance == pytest.approx([0.5 / 6])
    rows = in_order(SPACE, Outcomes(tests, every, np.ones(6), np.full(6, 0.5)), every, [(2, 0)])
    wanted = [rank for rank, order in enumerate(permutations(range(3))) if order.index(2) < order.index(0)]
    assert rows.inputs.tolist() == wanted
    assert rows.chance == pytest.approx([0.25] * 3)
    alone = np.full(6, SPACE.numbers(np.array([[1, 0, 1]]))[0])
    assert len(in_order(SPACE, Outcomes(alone, every, np.ones(6)), every, [(0, 1)])) == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("noise before blur or zoom = 1", "under 'or' or 'not'"),
        ("not (noise before blur)", "under 'or' or 'not'"),
        ("noise before noise", "before itself"),
        ("noise before order", "order is no perturbation"),
        ("noise before", "where a name or a level should be"),
        ("noise before rain", "no 'rain' here"),
    ],
)
def test_what_is_no_order_is_refused(text: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        parse(text, SPACE)


def test_orders_that_contradict_each_other_and_runs_with_one_order_are_refused() -> None:
    with pytest.raises(QueryError, match="no order of perturbations is so"):
        ran("full", None).ask("noise before blur, blur before noise")
    subject = Subject(SPACE, 20, lambda tests, inputs, arrangements: np.ones(len(tests)))
    plain = measure(subject, plan=plans.build("full"))
    with pytest.raises(QueryError, match="ordered = true"):
        plain.ask("noise before blur")
