"""Statistical assertions that derive their own tolerance from the rate of false alarms one is ready to accept."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def assert_unbiased(estimates: npt.ArrayLike, truth: float, *, alarm: float = 1e-6) -> None:
    """The mean of independent estimates is no farther from the truth than chance explains.

    Fails for an unbiased estimator with probability ``alarm``, as far as the mean of the estimates is normal: take
    hundreds of them, more where they are very skewed. It notices a bias of about five times their standard error.
    """
    from scipy.stats import t

    values = np.asarray(estimates, dtype=np.float64)
    error = float(values.std(ddof=1)) / np.sqrt(len(values))
    rounding = 1e-12 * max(1.0, abs(truth))
    reach = float(t.isf(alarm / 2, len(values) - 1)) * error + rounding
    distance = float(values.mean()) - truth
    if not abs(distance) <= reach:
        raise AssertionError(
            f"mean {values.mean():.6g} of {len(values):,} estimates is {distance:+.3g} from the truth {truth:.6g}; "
            f"an unbiased estimator stays within ±{reach:.3g} but for {alarm:g} of the time"
        )


def assert_covers(hits: int, n: int, *, least: float, alarm: float = 1e-6) -> None:
    """``hits`` of ``n`` independent intervals hold the truth, which is not too few for a coverage of ``least``.

    The limit is the exact binomial one: with a coverage of ``least`` it fails with probability ``alarm`` or less.
    """
    from scipy.stats import binom

    if not float(binom.cdf(hits, n, least)) >= alarm:
        raise AssertionError(
            f"{hits:,} of {n:,} intervals cover ({hits / n:.3f}); with a coverage of {least:g} so few have a chance "
            f"below {alarm:g}"
        )


def assert_frequencies(counts: npt.ArrayLike, chances: npt.ArrayLike, *, alarm: float = 1e-6) -> None:
    """Outcomes came as often as their chances say, by Pearson's chi-square test.

    counts, chances
        One per outcome. Outcomes that are expected fewer than ten times are counted together; what is impossible must
        not have been seen.
    """
    from scipy.stats import chi2

    seen, chance = np.asarray(counts, dtype=np.float64), np.asarray(chances, dtype=np.float64)
    expected = chance * seen.sum() / chance.sum()
    if np.any(seen[expected == 0] > 0):
        raise AssertionError(f"{int(seen[expected == 0].sum())} impossible outcomes were seen")
    rare = expected < 10
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    kept = expected > 0
    statistic = float(((seen - expected)[kept] ** 2 / expected[kept]).sum())
    limit = float(chi2.isf(alarm, max(int(kept.sum()) - 1, 1)))
    if not statistic <= limit:
        raise AssertionError(f"chi-square {statistic:.1f} over the limit {limit:.1f} for an alarm of {alarm:g}")
