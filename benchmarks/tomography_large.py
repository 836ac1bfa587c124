"""Spaces that are too large to list: twelve perturbations with six levels, 1.4e10 tests, planned, run and queried.

    python benchmarks/tomography_large.py
    python benchmarks/tomography_large.py 20000        the memory of a fit to so many rows

The model is a formula, so that the robustness of every test is known: a logistic function of the severities, of two
pairs that interact, and of how hard an input is. Queries are answered from 20,000 inferences; the true mean of a
region is that of 400,000 tests drawn from it by other means. Then the same is done many times in a space that can be
listed, where the truth is exact: once as it is, once by samples of the region.
"""

from __future__ import annotations

import itertools
import resource
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from fieldcheck.core.space import Axis, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.ask import ask
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.query import parse, selection
from fieldcheck.tomography.setup.subject import Subject

INPUTS, INFERENCES, RUNS = 1_000, 20_000, 40
QUERIES = ("all", "order <= 4", "order = 2", "p0 >= 4 and p1 >= 4", "severity_sum <= 30", "p2 > p3 and order <= 8")
REFERENCE = 400_000


def logits(space: Space, tests: IntArray) -> FloatArray:
    """Of an input of middling difficulty."""
    rows = space.severities(tests).astype(np.float64)
    slopes = np.linspace(0.05, 0.35, rows.shape[1])
    pairs = 0.06 * rows[:, 0] * rows[:, 1] - 0.03 * rows[:, 2] * rows[:, 3]
    return np.asarray(3.5 - rows @ slopes - pairs)


HARD = np.linspace(-2.0, 2.0, INPUTS)


def chance(space: Space, tests: IntArray, inputs: IntArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-(logits(space, tests) - HARD[inputs]))))


def truth(space: Space, tests: IntArray) -> FloatArray:
    """Robustness of each test over all inputs, by a rule with 64 points."""
    some = np.linspace(0, INPUTS - 1, 64).astype(np.int64)
    found = np.zeros(len(tests))
    for one in some:
        found += chance(space, tests, np.full(len(tests), one))
    return found / len(some)


def subject(space: Space, seed: int) -> Subject:
    """Each pair of test and input comes out once for all, whoever asks."""

    def outcome(tests: IntArray, inputs: IntArray, arrangements: IntArray | None) -> FloatArray:
        mixed = (tests * 1_000_003 + inputs * 7_919 + seed * 104_729).astype(np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        uniform = (mixed >> np.uint64(11)).astype(np.float64) / 2**53
        return np.asarray(uniform < chance(space, tests, inputs), dtype=np.float64)

    return Subject(space, INPUTS, outcome)


def of_order(space: Space, order: int) -> IntArray:
    """All tests in which so many perturbations are not at level 0."""
    found = []
    for axes in itertools.combinations(range(len(space.axes)), order):
        levels = np.array(list(itertools.product(*(range(1, space.shape[axis]) for axis in axes))), dtype=np.int64)
        severities = np.zeros((len(levels), len(space.axes)), dtype=np.int64)
        severities[:, list(axes)] = levels.reshape(len(levels), order)
        found.append(space.numbers(severities))
    return np.concatenate(found)


BOUNDED = {"order <= 4": range(1, 5), "order = 2": range(2, 3)}


def drawn(space: Space, query: str, rng: np.random.Generator) -> IntArray:
    """Tests of a region by plain rejection, so many that 400,000 are left; all of those with few perturbations."""
    if query in BOUNDED:
        return np.concatenate([of_order(space, order) for order in BOUNDED[query]])
    found, kept = parse(query, space), list[IntArray]()
    while sum(map(len, kept)) < REFERENCE:
        severities = rng.integers(0, np.array(space.shape), size=(1_000_000, len(space.axes)))
        tests = space.numbers(severities)
        kept.append(tests[found.holds(tests)])
    return np.concatenate(kept)[:REFERENCE]


def large() -> None:
    space, rng = Space(tuple(Axis(f"p{at}", 6) for at in range(12))), np.random.default_rng(0)
    print(f"{space.size:.3g} tests, {INFERENCES:,} inferences")
    with tempfile.TemporaryDirectory() as place:
        began = time.process_time()
        measure(subject(space, 0), plan=plans.build("spread"), budget=INFERENCES, folder=Path(place) / "run")
        print(f"plan and run: {time.process_time() - began:.1f} CPU s")
        before, began = _peak(), time.process_time()
        run = Run.open(Path(place) / "run")
        _ = run.fitted
        each = (_peak() - before) * 2**20 / INFERENCES
        print(f"fit: {time.process_time() - began:.1f} CPU s, peak {_peak():.0f} MB, {each:.0f} bytes a row more")
        print(
            f"{'query':26} {'truth':>7} {'answer':>7} {'low':>7} {'high':>7} {'drawn':>8} {'± drawn':>8} {'CPU s':>6}"
        )
        for query in QUERIES:
            began = time.process_time()
            found = run.ask(query)
            spent = time.process_time() - began
            true = float(truth(space, drawn(space, query, rng)).mean())
            print(
                f"{query:26} {true:8.4f} {found.robustness:8.4f} {found.low:8.4f} {found.high:8.4f} {found.drawn:8,} "
                f"{1.96 * found.drawn_error:8.5f} {spent:8.2f}{'' if found.low <= true <= found.high else '  outside'}",
                flush=True,
            )


SAMPLED: dict[str, Any] = {"LISTED": 0, "FEW": 0, "ROUND": 1_000, "LEAST": 50, "ENOUGH": 500}
"""With these limits a space of 15,625 tests is too large to list, and so is each of its orders."""


def listed() -> None:
    """Coverage, in a space that can be listed, of answers over all tests and over samples."""
    space = Space(tuple(Axis(f"p{at}", 4) for at in range(6)))
    true = truth(space, np.arange(space.size))
    queries = [
        text.replace("order <= 8", "order <= 5").replace("<= 30", "<= 9").replace(">= 4", ">= 3") for text in QUERIES
    ]
    hits = {text: [0, 0] for text in queries}
    errors = {text: [0.0, 0.0] for text in queries}
    looked_at = dict.fromkeys(queries, 0.0)
    for seed in range(RUNS):
        run = measure(subject(space, seed), plan=plans.build("spread"), budget=4_000, seed=seed)
        for text in queries:
            query = parse(text, space)
            exact = float(true[query.tests()].mean())
            for at, limits in enumerate(({}, SAMPLED)):
                with patch.multiple(selection, **limits) if limits else nullcontext():
                    found = ask(run.fitted, run.outcomes, query)
                looked_at[text] += found.drawn / RUNS * at
                hits[text][at] += found.low <= exact <= found.high
                errors[text][at] += abs(found.robustness - exact) / RUNS
    print(f"{space.size:,} tests, 4,000 inferences, {RUNS} runs: intervals that hold, and mean error, listed / sampled")
    for text in queries:
        print(
            f"{text:26} {hits[text][0]:3} / {hits[text][1]:3}   {errors[text][0]:.4f} / {errors[text][1]:.4f}"
            f"   {looked_at[text]:,.0f} drawn"
        )


def fit(rows: int) -> None:
    """The memory of a fit, in a process of its own."""
    space = Space(tuple(Axis(f"p{at}", 6) for at in range(12)))
    run = measure(subject(space, 0), plan=plans.build("spread"), budget=rows)
    before, began = _peak(), time.process_time()
    _ = run.fitted
    print(f"fit of {rows:,} rows: {time.process_time() - began:.1f} CPU s, peak {before:.0f} to {_peak():.0f} MB")


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdecimal():
        fit(int(sys.argv[1]))
        sys.exit()
    if "listed" not in sys.argv[1:]:
        large()
    if "large" not in sys.argv[1:]:
        listed()
