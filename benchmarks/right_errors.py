"""Point and intervals where losses have no limit: `waves` with every objective, and DeepEST, in regression.

    python benchmarks/right_errors.py [--campaigns 500] [--first 0] [--pools NAME,...]

``dave_orig`` is the published subject; ``translations`` human scores of machine translations (``scores/mlqe_eten``),
predicted by a line through the model's log probability, with other columns as signals, which say little. Widths are
medians, relative to 3.92 standard errors of a random sample; bias and error are relative to one.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import registry
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from networks import data_folder

FloatArray = npt.NDArray[np.float64]
OBJECTIVES = ("protected", "expose")
"""Without a limit on losses `estimate` and `balanced` draw as `protected` does."""
BUDGETS = (50, 200)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pools", default="dave_orig,translations")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.campaigns)
    print(
        f"{given.campaigns} campaigns a cell; standard error of a coverage of .95 {math.sqrt(0.0475 / len(seeds)):.3f}"
    )
    print(
        "| pool | technique | n | bias | RMSE | interval: coverage (too low / too high) | width | the other | width |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.pools.split(","):
        frame, losses = POOLS[name]()
        designs = [(f"waves:objective={one}", "+".join(frame.auxiliary)) for one in OBJECTIVES]
        for design, auxiliary in [*designs, *(("deepest", one) for one in frame.auxiliary)]:
            for budget in BUDGETS:
                title = design if design.startswith("waves") else f"{design}, {auxiliary}"
                print(
                    f"| {name} | {title} | {budget} | {line(frame, losses, design, auxiliary, budget, seeds)} |",
                    flush=True,
                )


def line(frame: Frame, losses: FloatArray, design: str, auxiliary: str, budget: int, seeds: range) -> str:
    built, truth, rows = registry.build(design, auxiliary=auxiliary), float(losses.mean()), []
    for seed in seeds:
        sample = built.draw(frame, losses, budget=budget, seed=seed)
        labelled = Labelled(sample, losses[sample.items], losses[sample.items] > 0, task="regression")
        rows.append(list(numbers(labelled, truth)))
    found, srs = np.array(rows), math.sqrt(float(losses.var(ddof=1)) * (1 / budget - 1 / len(losses)))
    bias, error = found[:, 0].mean() / srs, math.sqrt(float((found[:, 0] ** 2).mean())) / srs
    parts = [f"{bias:+.3f} ± {found[:, 0].std() / srs / math.sqrt(len(found)):.3f}", f"{error:.2f}"]
    for low, high, width in (found[:, at : at + 3].T for at in range(1, found.shape[1], 3)):
        held = 1 - low.mean() - high.mean()
        parts += [f"{held:.3f} ({high.mean():.3f} / {low.mean():.3f})", f"{np.median(width) / srs / 3.92:.2f}"]
    return " | ".join(parts + ["", ""] * (found.shape[1] < 5))


def numbers(labelled: Labelled, truth: float) -> Iterator[float]:
    """Error of the estimate; of each interval whether it lies above the truth, below it, and how wide it is."""
    if labelled.sample.estimator == "model_assisted":
        fit = Fit.of(labelled)
        yield fit.value - truth
        both = [fit.protected(0.95), fit.trusting(0.95)]
    else:
        found = estimators.estimate(labelled, level=0.95)
        yield found.value - truth
        both = [found.interval]
    for one in both:
        yield from (float(one.low > truth), float(one.high < truth), one.width)


def driving() -> tuple[Frame, FloatArray]:
    found = sources.load(data_folder() / "subjects" / "dave_orig.csv")
    return derived.frame(found, ["lsa", "vae", "sae"]), found.losses()


def translations() -> tuple[Frame, FloatArray]:
    table = np.genfromtxt(
        data_folder() / "scores" / "mlqe_eten.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    score, human = table["judge_model_score"].astype(np.float64), table["human"].astype(np.float64)
    half = np.random.default_rng(0).permutation(len(score)) < len(score) // 3
    said = np.polyval(np.polyfit(score[half], human[half], 1), score[~half])
    names = ("judge_worst_word", "judge_word_spread", "judge_length_ratio")
    signals = {name: table[name][~half].astype(np.float64) for name in names}
    signals["judge_worst_word"] = -signals["judge_worst_word"]
    frame = Frame(len(said), task="regression", auxiliary=signals, predictions=said)
    return frame, (said - human[~half]) ** 2


POOLS = {"dave_orig": driving, "translations": translations}


if __name__ == "__main__":
    main()
