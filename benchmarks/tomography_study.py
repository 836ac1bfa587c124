"""Plans, surrogates, stopping rules and independence tests on a recorded truth, and a space of 1.7 million tests.

    python benchmarks/tomography_study.py TRUTH.npz [--repetitions 20] [--only PART]

TRUTH.npz is a full recorded truth of four perturbations (not part of this project). The large space has a truth that is
made up here, so that it is known everywhere. The tables are printed as Markdown.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fieldcheck.bench import tomography
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.tomography.answers.independence import published, resampled
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.runs.stopping import inputs_used
from fieldcheck.tomography.runs.stopping import registry as rules
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth
from fieldcheck.tomography.surrogates import registry as surrogates
from fieldcheck.tomography.surrogates.base import Evidence

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LARGE_AXES, LARGE_INPUTS, LARGE_BUDGET = 8, 400, 20_000
RATES = ("half-width:width=0.02", "half-width:width=0.01", "sequence:width=0.03", "published")


def cells(truth: RecordedTruth, plan: str, surrogate: str, budget: int | None, repetitions: int) -> str:
    row = tomography.bench(
        [truth], plan_specs=[plan], surrogate_specs=[surrogate], budgets=[budget], repetitions=repetitions
    ).rows[0]
    return (
        f"| {plan} | {surrogate} | {row.inferences:,} | {row.repetitions} | {row.mse * 1e4:.1f} | {row.within_0_1:.3f} "
        f"| {row.max_error:.3f} | {row.query_error_mean:.4f} | {row.query_error_max:.4f} | {row.coverage:.3f} "
        f"| {row.cpu_seconds:.1f} |"
    )


def table(title: str, truth: RecordedTruth, chosen: list[tuple[str, str, int | None, int]]) -> None:
    print(f"\n## {title}\n")
    print("| plan | surrogate | inferences | runs | MSE × 1e4 | within .1 | largest error | query error, mean", end="")
    print(" | largest | coverage | CPU s |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for plan, surrogate, budget, repetitions in chosen:
        print(cells(truth, plan, surrogate, budget, repetitions), flush=True)


def four(truth: RecordedTruth, repetitions: int) -> None:
    few = min(repetitions, 3)
    chosen: list[tuple[str, str, int | None, int]] = [
        ("spread", "auto", 17_000, repetitions),
        *(("spread", name, 17_000, few) for name in ("logistic", "gp", "boosting", "mlp", "closure", "forest")),
        ("pairs", "forest", None, 1),
        ("pairs", "closure", None, 1),
        ("pairs", "independence", None, 1),
        ("pairs", "closure", 17_100, few),
        ("pairs:share=0.05", "auto", None, 1),
        ("spread", "auto", 5184, few),
    ]
    table("Four perturbations, orders three and more", truth, chosen)


def three(truth: RecordedTruth, repetitions: int) -> None:
    smaller = truth.along(truth.space.names[:3])
    chosen: list[tuple[str, str, int | None, int]] = [
        ("spread", "auto", 2700, repetitions),
        ("pairs", "forest", None, 1),
        ("pairs", "closure", None, 1),
    ]
    table("Three perturbations, order three", smaller, chosen)


def choice(truth: RecordedTruth, repetitions: int) -> None:
    """Whole tests, low orders first or at random, and the forest: error on the tests that were not run."""
    print("\n## Low orders first against a random choice: MSE × 1e4 of the forest on the tests that were not run\n")
    print("| axes | share of the tests | ordered | random |\n|---|---|---|---|")
    for axes in (3, 4):
        smaller = truth.along(truth.space.names[:axes])
        for share in (0.1, 0.2, 0.3, 0.5, 0.7):
            errors = [_unseen(smaller, plan, share, min(repetitions, 5)) for plan in ("ordered", "random")]
            print(f"| {axes} | {share} | {errors[0] * 1e4:.0f} | {errors[1] * 1e4:.0f} |", flush=True)


def _unseen(truth: RecordedTruth, plan: str, share: float, repetitions: int) -> float:
    errors = []
    for seed in range(repetitions):
        budget = int(share * truth.space.size) * truth.inputs
        rows = plans.build(plan).rows(truth.space, truth.inputs, budget=budget, seed=seed)
        evidence = Evidence(truth.space, truth.measure(rows.tests, rows.inputs), truth.labels, truth.guess)
        rest = np.setdiff1d(np.arange(truth.space.size), rows.tests)
        means, _ = surrogates.build("forest:trees=1").fit(evidence, seed=seed).predict(rest)
        errors.append(float(np.mean((means - truth.robustness[rest]) ** 2)))
    return float(np.mean(errors))


def stopping(truth: RecordedTruth, repetitions: int) -> None:
    print("\n## Stopping: all tests of orders up to two, inputs in random order\n")
    print("| rule | inferences saved | largest error | errors over .02 |\n|---|---|---|---|")
    low = np.flatnonzero(truth.space.orders(np.arange(truth.space.size)) <= 2)
    order = np.random.default_rng(0).permutation(truth.inputs)
    for spec in RATES:
        rule = rules.build(spec)
        used, errors = [], []
        for test in low:
            held = truth.held[test][order].astype(np.float64)
            used.append(inputs_used(rule, held))
            errors.append(abs(held[: used[-1]].mean() - held.mean()))
        saved = 1 - np.sum(used) / (len(low) * truth.inputs)
        print(f"| {spec} | {saved:.1%} | {max(errors):.3f} | {np.mean(np.array(errors) > 0.02):.1%} |")


def independence(truth: RecordedTruth, repetitions: int) -> None:
    print("\n## Independence at 5 %: share of pairs, or of made-up independent pairs, that are rejected\n")
    print("| test | pairs of the truth | false alarms, base accuracy 1 | .9 |\n|---|---|---|---|")
    rows = plans.build("pairs").rows(truth.space, truth.inputs, budget=None, seed=0)
    outcomes = truth.measure(rows.tests, rows.inputs)
    pairs = list(combinations(truth.space.names, 2))
    for name, test in (("published", published), ("resampled", resampled)):
        real = np.mean([test(truth.space, outcomes, first=a, second=b).p_value <= 0.05 for a, b in pairs])
        alarms = [_alarms(test, base, 20 * repetitions) for base in (1.0, 0.9)]
        print(f"| {name} | {real:.2f} | {alarms[0]:.3f} | {alarms[1]:.3f} |", flush=True)


def _alarms(test: Callable[..., object], base: float, repetitions: int) -> float:
    space = Space((Axis("a", 5), Axis("b", 5)))
    severities = space.severities(np.arange(space.size))
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(repetitions):
        drawn = rng.random((3, 1000))
        held = (drawn[0] < base) & (drawn[1:][None] > 0.1 * severities[:, :, None]).all(axis=1)
        rows = Outcomes(np.repeat(np.arange(36), 1000), np.tile(np.arange(1000), 36), held.ravel().astype(np.float64))
        found += test(space, rows, first="a", second="b").p_value <= 0.05  # type: ignore[attr-defined]
    return found / repetitions


def large(truth: RecordedTruth, repetitions: int) -> None:
    """Inputs with tolerances of their own to each of eight perturbations; an input fails once the load is too much."""
    print(f"\n## {LARGE_AXES} perturbations of six levels, {LARGE_BUDGET:,} inferences, made-up truth\n")
    print(
        "| run | MSE × 1e4, mean over orders 1..8 | coverage | fit, s | CPU s | first query, CPU s | next query, CPU s",
        end="",
    )
    print(" | all tests against one by one |\n|---|---|---|---|---|---|---|---|")
    space = Space(tuple(Axis(f"p{at}", 5) for at in range(LARGE_AXES)))
    for seed in range(min(repetitions, 3)):
        print(_large_run(space, seed), flush=True)


def _large_run(space: Space, seed: int) -> str:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, LARGE_INPUTS)
    weights = np.exp(rng.normal(0, 0.4, (LARGE_INPUTS, LARGE_AXES)))
    tolerance = np.exp(rng.normal(1.0, 0.5, LARGE_INPUTS) + 0.3 * np.sin(labels))
    steps = np.concatenate([np.zeros((LARGE_AXES, 1)), np.cumsum(rng.gamma(2, 0.08, (LARGE_AXES, 5)), axis=1)], axis=1)

    def holds(tests: IntArray, inputs: IntArray) -> FloatArray:
        loads = steps[np.arange(LARGE_AXES), space.severities(tests)]
        return np.asarray((loads * weights[inputs]).sum(axis=1) < tolerance[inputs], dtype=np.float64)

    rows = plans.build("spread").rows(space, LARGE_INPUTS, budget=LARGE_BUDGET, seed=seed)
    evidence = Evidence(space, Outcomes(rows.tests, rows.inputs, holds(rows.tests, rows.inputs)), labels, 0.1)
    started, cpu = time.perf_counter(), time.process_time()
    fitted = surrogates.build("auto").fit(evidence, seed=seed)
    fit, cpu = time.perf_counter() - started, time.process_time() - cpu
    every = np.arange(space.size)
    even = np.full(space.size, 1 / space.size)
    first, _ = _timed(lambda: (fitted.region(every, even), fitted.predict(every)))
    again, _ = _timed(lambda: (fitted.region(every, even), fitted.predict(every)))
    tests = _by_order(space, rng)
    truth = np.array([holds(np.full(LARGE_INPUTS, test), np.arange(LARGE_INPUTS)).mean() for test in tests])
    means, deviations = fitted.predict(tests)
    single, _ = _timed(lambda: fitted.predict(tests))
    orders = space.orders(tests)
    squares = (means - truth) ** 2
    mse = np.mean([squares[orders == order].mean() for order in range(1, LARGE_AXES + 1)])
    coverage = np.mean(np.abs(means - truth) <= tomography.BAND * deviations)
    ratio = single / len(tests) * space.size / first
    numbers = f"{mse * 1e4:.1f} | {coverage:.3f} | {fit:.1f} | {cpu:.1f} | {first:.2f} | {again:.2f}"
    return f"| {seed} | {numbers} | {ratio:.0f}× |"


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


def _by_order(space: Space, rng: np.random.Generator) -> IntArray:
    """150 random tests of each order."""
    severities = np.zeros((150 * LARGE_AXES, LARGE_AXES), dtype=np.int64)
    for row in range(len(severities)):
        chosen = rng.permutation(LARGE_AXES)[: row // 150 + 1]
        severities[row, chosen] = rng.integers(1, 6, len(chosen))
    return space.numbers(severities)


PARTS = {
    "four": four,
    "three": three,
    "choice": choice,
    "stopping": stopping,
    "independence": independence,
    "large": large,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--only", choices=PARTS)
    given = parser.parse_args()
    truth = read_truth(given.truth)
    for name, part in PARTS.items():
        if given.only in (None, name):
            part(truth, given.repetitions)


if __name__ == "__main__":
    main()
