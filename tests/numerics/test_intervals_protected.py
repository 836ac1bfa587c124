"""The protected interval and the narrower one: by hand, at the edges, and monotone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta
from scipy.stats import t as student

from fieldcheck.numerics.intervals.exact import hypergeometric
from fieldcheck.numerics.intervals.protected import MeanEvidence, protected, protected_loss, trusting, trusting_loss


def found(*, least: float = 0.01, **changes: float) -> MeanEvidence:
    """Four failures in 100 labels of 5,000 items, all drawn equally often."""
    usual = MeanEvidence(0.02, 1e-4, 1.2e-4, np.full(5000, least), 0.04, 0.03, failures=4, labels=100, population=5000)
    usual = replace(usual, **changes)  # type: ignore[arg-type]
    return replace(usual, least=np.full(usual.population, least))


def quantile(q: float, mean: float, variance: float) -> float:
    size = mean * (1 - mean) / variance - 1
    return float(beta.ppf(q, mean * size, (1 - mean) * size))


def test_bounds_by_hand() -> None:
    """Upper B.975(θ + w, f·Va + w²), w = .75/(N λ_min); lower B.025(θ, f·max(Va, Vb) + (.75/(N λ̃))²)."""
    f = (student.ppf(0.975, 94) / 1.959963985) ** 2
    w, typical = 0.75 / (5000 * 0.01), 0.75 / (5000 * 0.04)
    low, high = protected(found(), level=0.95)
    assert high == pytest.approx(quantile(0.975, 0.02 + w, f * 1e-4 + w**2), rel=1e-8)
    assert low == pytest.approx(quantile(0.025, 0.02, f * 1.2e-4 + typical**2), rel=1e-8)
    narrow_low, narrow_high = trusting(found(), level=0.95)
    assert narrow_low == low
    unseen = 0.75 / (5000 * 0.03)
    assert narrow_high == pytest.approx(quantile(0.975, 0.02 + unseen, f * 1.2e-4 + unseen**2), rel=1e-8)


@pytest.mark.parametrize("useless", [0.0, 0.5, 1.0])
def test_useless_signals_lead_from_the_narrower_bound_to_the_protected_one(useless: float) -> None:
    narrow, wide = trusting(found(), level=0.95)[1], protected(found(), level=0.95)[1]
    assert narrow < wide
    assert trusting(found(useless=useless), level=0.95)[1] == pytest.approx(narrow + useless * (wide - narrow))
    none = found(value=0, failures=0, seen=0, useless=useless)
    assert trusting(none, level=0.95) == trusting(replace(none, useless=0.0), level=0.95)


def test_what_is_sure_without_the_heaviest_failure_is_sure_with_it() -> None:
    """The lower bound of both intervals is the larger of the two; the upper ones stay."""
    heavy, light = found(value=0.05, seen=2e-3, failures=5), found()
    alone, without = (protected(one, level=0.95)[0] for one in (heavy, light))
    assert alone < without
    both, swapped = replace(heavy, lighter=light), replace(light, lighter=heavy)
    assert protected(both, level=0.95) == (without, protected(heavy, level=0.95)[1])
    assert trusting(both, level=0.95) == (without, trusting(heavy, level=0.95)[1])
    assert protected(swapped, level=0.95) == protected(light, level=0.95)


def test_strict_allows_for_a_whole_failure() -> None:
    f = (student.ppf(0.975, 94) / 1.959963985) ** 2
    w = 1 / (5000 * 0.01)
    assert protected(found(), level=0.95, strict=True)[1] == pytest.approx(
        quantile(0.975, 0.02 + w, f * 1e-4 + w**2), rel=1e-8
    )


@pytest.mark.parametrize("value", [0.0, 0.02])
def test_hidden_failures_need_room(value: float) -> None:
    """The bound by hand, where every tenth item was drawn a fifth as often: the crossing, found on a grid."""
    rates = np.sort(np.where(np.arange(5000) % 10, 0.01, 0.002))
    least = np.cumsum(rates) / np.arange(1, 5001)
    at = replace(found(value=value, failures=200 * value, seen=value / 200), least=least)
    f = (student.ppf(0.975, 94) / 1.959963985) ** 2

    def bound(hidden: int) -> float:
        w = 0.75 / (5000 * least[hidden - 1])
        return quantile(0.975, value + w, f * value / 200 + w**2)

    first = next(k for k in range(1, 5001) if bound(k) <= value + k / 5000)
    assert protected(at, level=0.95)[1] == pytest.approx(value + first / 5000, abs=2 / 5000)
    assert protected(at, level=0.95)[1] < bound(1)


@pytest.mark.parametrize("labels", [10, 50, 200, 800])
def test_no_failure_in_equal_draws(labels: int) -> None:
    """Narrower than the exact interval; with a whole failure allowed for, that of a Poisson number: ln 40 over n."""
    size = 100_000
    rate = -math.log1p(-labels / size)
    none = found(
        value=0, seen=0, foreseen=0, least=rate, typical=rate, unseen=rate, failures=0, labels=labels, population=size
    )
    low, high = protected(none, level=0.95)
    assert low == 0
    assert high < hypergeometric(0, labels, size, level=0.95)[1]
    strict = protected(none, level=0.95, strict=True)[1]
    # With equal mean and standard deviation it is an exponential distribution, but for terms of order 1/n and n/N.
    assert strict == pytest.approx(math.log(40) / labels, rel=3 / labels + labels / size)


def test_all_failures() -> None:
    """The mirror image of none, where labels are sparsest."""
    every = found(value=1, seen=0, foreseen=0, failures=100)
    none = found(value=0, seen=0, foreseen=0, failures=0)
    low, high = protected(every, level=0.95)
    assert high == 1
    assert low == pytest.approx(1 - protected(none, level=0.95)[1], rel=1e-9)


def test_more_variance_than_a_rate_can_have() -> None:
    """Then only the labelled items bound it."""
    assert protected(found(seen=0.3), level=0.95) == (pytest.approx(4 / 5000), pytest.approx(1 - 96 / 5000))


def test_every_item_labelled() -> None:
    done = found(value=0.04, seen=0, foreseen=0, least=math.inf, typical=math.inf, unseen=math.inf, population=100)
    assert protected(done, level=0.95) == (0.04, 0.04) == trusting(done, level=0.95)


@given(
    value=st.floats(0, 1),
    seen=st.floats(0, 0.05),
    foreseen=st.floats(0, 0.05),
    least=st.floats(1e-4, 1),
    more=st.floats(0, 2),
    level=st.sampled_from([0.8, 0.95, 0.99]),
)
def test_bounds_are_possible_and_hold_the_estimate(
    value: float, seen: float, foreseen: float, least: float, more: float, level: float
) -> None:
    failures = round(100 * value)
    value = min(max(value, failures / 5000), failures / 5000 + 1 - 100 / 5000)
    at = found(
        value=value,
        seen=seen,
        foreseen=foreseen,
        least=least,
        typical=least + more,
        unseen=least + more,
        failures=failures,
    )
    (low, high), (narrow_low, narrow_high) = protected(at, level=level), trusting(at, level=level)
    assert 0 <= low <= narrow_low <= value <= narrow_high <= high <= 1
    assert high <= protected(at, level=min(level + 0.005, 0.999))[1] + 1e-12


@given(unit=st.sampled_from([1e-3, 1.0, 1e6]))
def test_losses_without_a_limit(unit: float) -> None:
    """By the logarithm, with an ordinary loss that was missed; in any unit."""
    at = found(value=2 * unit, seen=0.09 * unit**2, failures=210 * unit)
    z, w = student.ppf(0.975, 94), 0.75 * 2 / (5000 * 0.01)
    low, high = protected_loss(at, level=0.95)
    assert low == pytest.approx(2 * unit * math.exp(-z * 0.15), rel=1e-9)
    assert high == pytest.approx((2 + w) * unit * math.exp(z * math.sqrt(0.09 + w**2) / (2 + w)), rel=1e-9)
    assert low == trusting_loss(at, level=0.95)[0]
    assert 2 * unit < trusting_loss(at, level=0.95)[1] < high


def test_no_loss_at_all() -> None:
    low, high = protected_loss(found(value=0, seen=0, failures=0), level=0.95)
    assert low == 0
    assert np.isfinite(high)
