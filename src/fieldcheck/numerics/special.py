"""Special functions of scipy, loaded when the first one is used: importing them costs more than all of fieldcheck.

Those that are worked out for every item of a pool are made of numpy's: two to five times as fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def expit(x: npt.ArrayLike) -> Any:
    """The chance for these log odds."""
    with np.errstate(over="ignore"):  # it is 0 there
        found = np.exp(np.negative(x, dtype=np.float64))
    found += 1  # in place: what is worked out for a block of items stays in the cache
    return np.divide(1, found, out=found) if isinstance(found, np.ndarray) else 1 / found


def logit(chance: npt.ArrayLike) -> Any:
    """The log odds of a chance; infinite for 0 and 1."""
    p = np.asarray(chance, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(p / (1 - p))


def __getattr__(name: str) -> Any:
    import scipy.special

    found = globals()[name] = getattr(scipy.special, name)
    return found
