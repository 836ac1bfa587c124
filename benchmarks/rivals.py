"""Rivals of today beside our techniques: same pools, same signal, same budgets; RMSE and coverage.

    pip install ppi-python glide-py        (glide-py needs Python 3.12 or newer; what is not installed is left out)
    python benchmarks/rivals.py SUBJECT.csv ... [--repetitions 300] [--budget 100,200,400] [--only lure,ppi++]

All see the pool's confidence and nothing else; 1 - confidence is the loss that they expect of an item.

- ppi++: prediction-powered inference on a simple random sample, by its authors' package (`ppi_py.ppi_mean_ci`).
- glide ppi++, glide stratified, glide active: GLIDE's estimators of the same, the second with ten strata of equal size
  and proportional allocation, the third with its active sampler (chance in proportion to sqrt(p(1-p)), a tenth
  uniform). GLIDE refuses samples without a failure, and strata whose items all have the same confidence: the estimate
  is the plain mean then, and there is no interval, which counts as not covering.
- lure: active testing (Kossen et al., ICML 2021) with the LURE weights of Farquhar et al. (ICLR 2021); items one after
  the other without replacement, in proportion to the expected loss, a tenth uniform. It has no published interval.
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fieldcheck import bench
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.sources import load

Floats = npt.NDArray[np.float64]
OURS = ("srs", "ssrs", "waves", "waves:objective=estimate")
FLOOR = 0.1
"""Share of the draws that is uniform, as in our own designs."""


@dataclass(frozen=True, eq=False)
class Field:
    """A pool whose truth is known: loss and expected loss of each item."""

    name: str
    losses: Floats
    expected: Floats

    @property
    def truth(self) -> float:
        return float(self.losses.mean())


class Answer(NamedTuple):
    """Of the mean loss; nan where there is no interval."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


Rival = Callable[[Field, int, np.random.Generator], Answer]


def lure(field: Field, budget: int, rng: np.random.Generator) -> Answer:
    """Items by exponential clocks: the order in which they ring is that of draws without replacement."""
    size, weight = len(field.losses), mixed(field.expected)
    order = np.argsort(rng.exponential(size=size) / weight)[:budget]
    step = np.arange(1, budget + 1)
    left = weight.sum() - np.concatenate([[0.0], np.cumsum(weight[order])[:-1]])
    chance = weight[order] / left
    factor = 1 + (size - budget) / np.maximum(size - step, 1) * (1 / ((size - step + 1) * chance) - 1)
    return Answer(float(np.mean(factor * field.losses[order])))


def mixed(values: Floats) -> Floats:
    """In proportion to the values but for a uniform part; mean 1."""
    return np.asarray((1 - FLOOR) * values / values.mean() + FLOOR)


def ppi(field: Field, budget: int, rng: np.random.Generator) -> Answer:
    from ppi_py import ppi_mean_ci

    at = rng.choice(len(field.losses), budget, replace=False)
    rest = np.delete(field.expected, at)
    low, high = ppi_mean_ci(field.losses[at], field.expected[at], rest, alpha=0.05)
    return Answer(float(low[0] + high[0]) / 2, float(low[0]), float(high[0]))


def glide_ppi(field: Field, budget: int, rng: np.random.Generator) -> Answer:
    from glide.estimators import PPIMeanEstimator

    seen = labelled(field, rng.choice(len(field.losses), budget, replace=False))
    return _glide(seen, lambda: PPIMeanEstimator().estimate(seen, field.expected))


def glide_stratified(field: Field, budget: int, rng: np.random.Generator) -> Answer:
    from glide.estimators import StratifiedPPIMeanEstimator

    ranks = np.argsort(np.argsort(field.expected + 1e-12 * rng.random(len(field.expected))))
    groups = ranks * 10 // len(ranks)
    at = [rng.choice(np.flatnonzero(groups == g), budget // 10, replace=False) for g in range(10)]
    seen = labelled(field, np.concatenate(at))
    return _glide(seen, lambda: StratifiedPPIMeanEstimator().estimate(seen, field.expected, groups))


def glide_active(field: Field, budget: int, rng: np.random.Generator) -> Answer:
    from glide.estimators import ASIMeanEstimator
    from glide.samplers import ActiveSampler

    doubt = mixed(np.sqrt(field.expected * (1 - field.expected)))
    chance, drawn = ActiveSampler().sample(doubt, budget, random_seed=int(rng.integers(2**32)))
    seen = np.where(drawn == 1, field.losses, np.nan)
    return _glide(seen, lambda: ASIMeanEstimator().estimate(seen, field.expected, chance))


def labelled(field: Field, at: npt.NDArray[Any]) -> Floats:
    seen = np.full(len(field.losses), np.nan)
    seen[at] = field.losses[at]
    return seen


def _glide(seen: Floats, estimate: Callable[[], Any]) -> Answer:
    try:
        interval = estimate().confidence_interval
    except ValueError:
        return Answer(float(np.nanmean(seen)))
    return Answer(float(interval.mean), float(interval.lower_bound), float(interval.upper_bound))


RIVALS: dict[str, tuple[str, Rival]] = {
    "lure": ("", lure),
    "ppi++": ("ppi_py", ppi),
    "glide ppi++": ("glide", glide_ppi),
    "glide stratified": ("glide", glide_stratified),
    "glide active": ("glide", glide_active),
}
"""By name, the package that it needs, and how it is asked."""


def installed() -> dict[str, Rival]:
    return {
        name: rival for name, (package, rival) in RIVALS.items() if not package or importlib.util.find_spec(package)
    }


def field_of(path: Path) -> Field:
    pool = load(path)
    assert pool.failed is not None
    return Field(path.stem, pool.failed.astype(np.float64), derived.frame(pool, ["confidence"]).values("confidence"))


def row(field: Field, name: str, rival: Rival, budget: int, repetitions: int) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([rival(field, budget, np.random.default_rng([budget, r])) for r in range(repetitions)])
    values, low, high = found.T
    covered = np.mean((low <= field.truth) & (field.truth <= high))
    shown = "–" if np.isnan(low).all() else f"{covered:.3f}"
    return [field.name, str(budget), name, f"{np.sqrt(np.mean((values - field.truth) ** 2)):.4f}", shown]


def our_rows(path: Path, budgets: Sequence[int], repetitions: int) -> list[list[str]]:
    """The truth of an accuracy is one minus that of the loss: errors are the same."""
    study = bench.Study([path], OURS, ("confidence",), budgets, repetitions=repetitions)
    found = bench.run(study).rows()
    return [[path.stem, str(r["budget"]), r["design"], f"{r['rmse']:.4f}", f"{r['coverage']:.3f}"] for r in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="+", type=Path)
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--budget", default="100,200,400")
    parser.add_argument("--only", default="", help="some of the rivals: " + ", ".join(RIVALS))
    given = parser.parse_args()
    budgets = [int(word) for word in given.budget.split(",")]
    rivals = {name: one for name, one in installed().items() if not given.only or name in given.only.split(",")}
    print("| pool | labels | technique | RMSE | coverage |\n|---|---|---|---|---|", flush=True)
    for path in given.subjects:
        lines = our_rows(path, budgets, given.repetitions)
        field = field_of(path)
        lines += [row(field, name, one, n, given.repetitions) for n in budgets for name, one in rivals.items()]
        for line in sorted(lines, key=lambda one: int(one[1])):
            print("| " + " | ".join(line) + " |", flush=True)
    left = [name for name in RIVALS if name not in installed()]
    if left:
        print(f"\nNot installed here: {', '.join(left)}.")


if __name__ == "__main__":
    main()
