"""Answers in a space that is too large to list."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.cli.tomography.query import show_answer
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.report.tomography import _answer
from fieldcheck.tomography.answers.ask import ask
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.query import parse

HUGE = Space(tuple(Axis(f"p{at}", 6) for at in range(12)))


class Known:
    """A surrogate that knows: every level costs half a point."""

    notes: tuple[str, ...] = ()

    def predict(self, tests: IntArray) -> tuple[FloatArray, FloatArray]:
        return 0.95 - 0.005 * HUGE.severities(tests).sum(axis=1), np.zeros(len(tests))

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        return float(weights @ self.predict(tests)[0]), 0.0


def outcomes(count: int = 3_000) -> Outcomes:
    """Rows of a plan that draws every test alike."""
    rng = np.random.default_rng(4)
    tests = HUGE.numbers(rng.integers(0, 7, (count, 12)))
    held = (rng.random(count) < Known().predict(tests)[0]).astype(np.float64)
    return Outcomes(tests, rng.integers(0, 100, count), held, np.full(count, 1 / HUGE.size))


@pytest.mark.parametrize(
    ("text", "mean", "size"),
    [
        ("all", 0.95 - 0.005 * 36, 7**12),
        ("p0 >= 5", 0.95 - 0.005 * (33 + 5.5), 2 * 7**11),
        ("order = 12", 0.95 - 0.005 * 42, 6**12),
        ("p0 > p1", 0.95 - 0.005 * (30 + 6), 21 * 7**10),
    ],
)
def test_an_answer_has_the_error_of_its_sample(text: str, mean: float, size: int) -> None:
    """Of p0 > p1 the two are 6 in the mean, as any two are: the pair and its mirror image sum up alike."""
    found = ask(Known(), outcomes(), parse(text, HUGE))
    # Four standard errors: all four hold but for one case in four thousand.
    assert found.robustness == pytest.approx(mean, abs=4 * found.drawn_error)
    assert 0 < found.drawn_error < 0.001
    assert found.high - found.low == pytest.approx(2 * 1.96 * found.drawn_error, rel=1e-3)
    assert found.tests == pytest.approx(size, rel=0.05)
    assert found.drawn >= 10_000
    assert found.audit == pytest.approx(mean, abs=5 * found.audit_error)
    said = found.to_dict()
    assert (said["drawn"], said["drawn_error"]) == (found.drawn, found.drawn_error)
    assert f"{found.drawn:,} of its tests" in found.of_drawn()
    assert "too many to list" in _answer(found).sentence


def test_the_terminal_says_that_it_is_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(ask(Known(), outcomes(), parse("p0 >= 5", HUGE)))
    shown = " ".join(capsys.readouterr().out.split())
    assert "p0 >= 5: about 3,9" in shown
    assert "stand for all, which are too many to list" in shown


def test_a_profile_weighs_a_sample() -> None:
    """Only the first perturbation occurs, at levels 0 and 6; the others are off, or at level 1 in one of ten cases."""
    weights = {"p0": [1.0, 0, 0, 0, 0, 0, 1.0]} | {f"p{at}": [9.0, 1, 0, 0, 0, 0, 0] for at in range(1, 12)}
    found = ask(Known(), outcomes(), parse("all", HUGE), profile=Profile(weights, "field"))
    assert found.robustness == pytest.approx(0.95 - 0.005 * (3 + 11 * 0.1), abs=4 * found.drawn_error + 1e-9)
    assert 0 < found.drawn_error < 0.01


def test_what_no_draw_hits_is_said() -> None:
    found = ask(Known(), outcomes(), parse("severity_sum <= 12 and order >= 11 and p0 = 2 and p1 < p2 < p3", HUGE))
    assert found.tests == 0
    assert "tests that were drawn fits it" in found.notes[0]
