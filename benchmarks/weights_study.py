"""Prior weights of hidden failures and floor of objective `estimate`, chosen by leaving one pool out.

    python benchmarks/weights_study.py [--campaigns 100]

Every choice is measured on the pools of ``accurate_pools.POOLS``, plain and with the most confident 2 % failing, with
50 and 200 labels. Best is the choice with the smallest geometric mean of the plain errors (relative to a random
sample) among those whose errors with hidden failures are at most 1.2; where none is, the one that exceeds it least.
For each pool the choice is made without it. What all pools choose, and what the library has, are then measured with
other seeds on ``accurate_pools.TESTED``, which had no part in it. Some five minutes on one core.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from accurate_pools import POOLS, TESTED
from fieldcheck.numerics.regression import risk
from fieldcheck.numerics.sampling import floor
from right_numbers import COLUMNS, Cell, conditioned, measured

BUDGETS = (50, 200)
CONDITIONS = ("plain", "hidden")
MOST = 1.2


@dataclass(frozen=True)
class Choice:
    """What is chosen.

    weight
        Prior weight of each of the two risk models with hidden failures.
    least
        The smallest floor.
    share
        What hidden failures are at most, of those that are announced.
    """

    weight: float
    least: float
    share: float


CHOICES = (
    *(Choice(0.005, 0.1, np.inf), Choice(0.005, 0.1, 0.3), Choice(0.002, 0.1, 0.3), Choice(0.01, 0.1, 0.3)),
    *(Choice(0.005, 0.05, 0.3), Choice(0.002, 0.15, 0.3)),
)


def errors(choice: Choice, name: str, campaigns: int, first: int) -> npt.NDArray[np.float64]:
    """Relative to a random sample: one row per condition, one column per budget."""
    conditioned.cache_clear()  # what a frame remembers was made with other weights
    weights = np.array([1 - 2 * choice.weight, choice.weight, choice.weight])
    with (
        patch.object(risk, "HIDDEN_WEIGHT", weights),
        patch.object(risk, "HIDDEN_MOST", choice.share),
        patch.object(floor, "LEAST", choice.least),
    ):
        rows = [
            [measured(Cell(name, condition, budget, "estimate", campaigns, first)) for budget in BUDGETS]
            for condition in CONDITIONS
        ]
    return np.array([[float(row[COLUMNS.index("rmse")]) for row in line] for line in rows])


def best(table: npt.NDArray[np.float64]) -> int:
    """Of errors by choice, pool, condition and budget."""
    plain = np.exp(np.log(table[:, :, 0]).mean(axis=(1, 2)))
    over = np.maximum(table[:, :, 1].max(axis=(1, 2)) - MOST, 0.0)
    return int(np.lexsort((plain, over))[0])


def say(title: str, table: npt.NDArray[np.float64], choices: tuple[Choice, ...]) -> None:
    print(f"\n{title}\n| weight | least floor | hidden at most | plain, mean (largest) | hidden, mean (largest) |")
    print("|---|---|---|---|---|")
    for choice, cells in zip(choices, table, strict=True):
        means = [f"{np.exp(np.log(part).mean()):.3f} ({part.max():.2f})" for part in (cells[:, 0], cells[:, 1])]
        print(f"| {choice.weight} | {choice.least} | {choice.share} | {' | '.join(means)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=60)
    campaigns = parser.parse_args().campaigns
    table = np.array([[errors(one, name, campaigns, 0) for name in POOLS] for one in CHOICES])
    say("pools to choose on", table, CHOICES)
    every = np.arange(len(POOLS))
    chosen = [best(table[:, every != out]) for out in every]
    for name, at in zip(POOLS, chosen, strict=True):
        print(f"without {name}: {CHOICES[at]}")
    held = np.array([table[at, out] for out, at in enumerate(chosen)])
    say("held out", held[None], (CHOICES[best(table)],))
    last = tuple(dict.fromkeys((CHOICES[best(table)], Choice(risk.HIDDEN_WEIGHT[1], floor.LEAST, risk.HIDDEN_MOST))))
    say("tested", np.array([[errors(one, name, campaigns, 10_000) for name in TESTED] for one in last]), last)


if __name__ == "__main__":
    main()
