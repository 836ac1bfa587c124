"""How far an estimate must lie from a threshold before one may stop, when it is looked at again and again.

A fixed 1.96 that is tried after every wave is crossed by chance in a quarter of all campaigns. Here the error is spent
little by little (Lan and DeMets, Biometrika 1983), without a largest number of labels, and each critical value follows
from the ones before by recursive integration (Armitage, McPherson and Rowe, JRSS A 1969).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.types import FloatArray

HALF_SPENT = 200
"""Labels after which half of the error is spent."""


_SQUARE_ROOT_2PI = math.sqrt(2 * math.pi)


def spent(labels: int, *, alpha: float = 0.05) -> float:
    """Chance of a false claim up to here: it stays under ``alpha`` however long the campaign goes on."""
    return alpha * labels / (labels + HALF_SPENT)


def clock(labels: float, population: int) -> float:
    """Information after so many labels of a finite pool, in labels of an endless one."""
    return labels / (1 - labels / population)


@lru_cache(maxsize=512)
def boundary(looks: tuple[int, ...], population: int, *, alpha: float = 0.05) -> tuple[float, ...]:
    """One critical value per look, two-sided: ``P(|B(I_j)| ≥ c_j √I_j for any j ≤ k) = spent(n_k)``, B Brownian motion.

    They depend on the looks up to their own, never on later ones: a campaign may go on as long as it likes. When it
    looks must not depend on how close the estimate is to the threshold.

    looks
        Numbers of labels at the looks, increasing, all less than ``population``.
    """
    times = np.array([clock(labels, population) for labels in looks])
    steps = np.sqrt(np.diff(times, prepend=0.0))
    budget = np.diff([spent(labels, alpha=alpha) for labels in looks], prepend=0.0)
    places, mass = np.zeros(1), np.ones(1)
    found = []
    for look, (step, share) in enumerate(zip(steps, budget, strict=True)):
        limit = _limit(places, mass, step=step, share=share)
        found.append(limit / math.sqrt(times[look]))
        finest = steps[look : look + 2].min()
        places, mass = _survivors(places, mass, step=step, limit=limit, nodes=_nodes(limit / finest))
    return tuple(found)


def _crossing(places: FloatArray, mass: FloatArray, *, step: float, limit: float) -> float:
    """Chance to lie outside ±limit one step later."""
    return float(mass @ (special.ndtr((places - limit) / step) + special.ndtr(-(places + limit) / step)))


def _limit(places: FloatArray, mass: FloatArray, *, step: float, share: float) -> float:
    """The limit that is crossed with this chance."""
    low, high = 0.0, float(np.abs(places).max() + 38 * step)
    for _ in range(60):
        middle = (low + high) / 2
        if _crossing(places, mass, step=step, limit=middle) > share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _survivors(
    places: FloatArray, mass: FloatArray, *, step: float, limit: float, nodes: int
) -> tuple[FloatArray, FloatArray]:
    """Where the paths that have not crossed are one step later: quadrature nodes in ±limit, and their mass."""
    unit, weight = _quadrature(nodes)
    new = limit * unit
    kernel = np.exp(-0.5 * ((new[:, None] - places) / step) ** 2) / (step * _SQUARE_ROOT_2PI)
    return new, limit * weight * (kernel @ mass)


def _nodes(steps: float) -> int:
    """Enough of them that neighbours are closer than the smallest step; few sizes, so that they can be kept."""
    return 16 * math.ceil(min(24 + 5 * steps, 640) / 16)


@lru_cache(maxsize=64)
def _quadrature(nodes: int) -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(nodes)
