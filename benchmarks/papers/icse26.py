"""Robustness tomography against its paper (Arif et al., TestifAI, ICSE 2026), on its five tasks.

    python benchmarks/papers/icse26.py DATA --keep FOLDER        every part; models and truths are made once
    python benchmarks/papers/icse26.py DATA figure-3 --short     on the recorded truth of the data folder

Models, data and space files: ``testifai/``. A truth is every test of the space on the inputs of its space file, by the
product's own run with the plan ``full``; models and truths are kept in FOLDER. A short run takes the truth that is
recorded in the data folder, and a network that was hardly trained where perturbed images are needed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from pages import DOCS, Floats, Part, Run, main, table

sys.path.append(str(Path(__file__).resolve().parent / "testifai"))
import pictures
import subjects
from sklearn.ensemble import RandomForestRegressor

from fieldcheck.bench.tomography import bench, queries, regions
from fieldcheck.core.space import Outcomes, Space
from fieldcheck.core.types import BoolArray
from fieldcheck.tomography.answers import independence
from fieldcheck.tomography.answers.run import measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.plans.base import low_orders
from fieldcheck.tomography.quality.map import measure_quality
from fieldcheck.tomography.runs import stopping
from fieldcheck.tomography.setup.space_file import read_space_file
from fieldcheck.tomography.setup.subject import Subject, of_space_file
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth
from fieldcheck.tomography.surrogates import registry as surrogates
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate


@dataclass(frozen=True)
class Task:
    """One of the paper's: what it has, and on how many inputs we have the truth, by number of perturbations."""

    title: str
    model: str
    size: int
    accuracy: float
    inputs: dict[int, int]
    ours: str


TASKS = {
    "digits": Task("MNIST", "LeNet-5", 10_000, 0.984, {3: 1_000, 4: 1_000}, "LeNet-5"),
    "photos": Task("CIFAR-10", "WRN-28-10", 10_000, 0.947, {3: 1_000}, "CNN of 8 layers"),
    "driving": Task("Roboflow", "YOLOv11s", 1_000, 0.822, {3: 422}, "YOLOX-nano"),
    "pairs": Task("QQP", "RoBERTa", 1_000, 0.912, {3: 1_000}, "MiniLM, head of two layers"),
    "signs": Task("GTSRB", "CNN-SE", 12_630, 0.976, {3: 1_000, 4: 400}, "CNN of 5 layers"),
}
SMALL = 2_700
"""Inferences of the default way in three dimensions: 12.5 for every test."""
REPETITIONS = 10
QUERIES = tuple(f"Q{number}" for number in range(1, 13))
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7)


def names(run: Run, axes: int = 3) -> list[str]:
    """The tasks whose truth there is in so many dimensions."""
    return ["digits"] if run.short else [name for name, task in TASKS.items() if axes in task.inputs]


@cache
def folder(run: Run) -> Path:
    """Where models and truths are kept."""
    if run.short or run.keep is None:
        return Path(tempfile.mkdtemp())
    return run.keep / "testifai"


@cache
def subject(run: Run, name: str, axes: int, inputs: int) -> Subject:
    """The model of a task with the first perturbations of its space file."""
    place = subjects.prepared(run.data, folder(run), name, short=run.short)
    sys.path.append(str(place.parent))  # the model of the pairs is code beside the space file
    recipe = read_space_file(place)
    assert recipe.space is not None
    space = Space(recipe.space.axes[:axes])
    return of_space_file(replace(recipe, space=space, data={**recipe.data, "limit": inputs}), trust=True)


@cache
def truth(run: Run, name: str, axes: int = 3) -> RecordedTruth:
    if run.short:
        known = read_truth(run.data / "tomography" / "lenet_mnist.npz")
        return known.along(known.space.names[:axes])
    path = folder(run) / f"{name}_{axes}d.npz"
    if not path.exists():
        record(subject(run, name, axes, TASKS[name].inputs[axes]), path)
    return read_truth(path)


def record(found: Subject, path: Path) -> None:
    """All tests on all inputs, and the seconds that they took."""
    done = measure(found, plan=plans.build("full"), folder=path.with_suffix(""), resume=True)
    held, applies = np.zeros((2, found.space.size, found.inputs), dtype=np.bool_)
    held[done.outcomes.tests, done.outcomes.inputs] = done.outcomes.held > 0
    applies[done.outcomes.tests, done.outcomes.inputs] = True
    bits: dict[str, Any] = {} if applies.all() else {"applies": np.packbits(applies, axis=1)}
    bits |= {} if found.classes is None else {"labels": found.classes}
    assert found.clock is not None
    np.savez_compressed(
        path,
        tests=found.space.severities(np.arange(found.space.size)).astype(np.int8),
        perturbations=np.array(found.space.names),
        correct=np.packbits(held, axis=1),
        inputs=found.inputs,
        classes=round(1 / found.guess) if found.guess else 0,
        seconds=[found.clock.perturbing, found.clock.inferring],
        **bits,
    )


def low(known: RecordedTruth) -> Outcomes:
    """All tests of orders up to two on all inputs."""
    tests = low_orders(known.space, 2)
    return known.measure(np.repeat(tests, known.inputs), np.tile(np.arange(known.inputs), len(tests))).applicable


def stopped(known: RecordedTruth) -> Outcomes:
    """The same with the published early stopping; inputs come in random order, another one in every test."""
    rule, rng = stopping.registry.build("published"), np.random.default_rng(2026)
    tests, inputs = [], []
    for test in low_orders(known.space, 2).tolist():
        order = rng.permutation(known.inputs if known.applies is None else np.flatnonzero(known.applies[test]))
        used = order[: stopping.inputs_used(rule, known.held[test][order].astype(np.float64))]
        tests.append(np.full(len(used), test))
        inputs.append(used)
    return known.measure(np.concatenate(tests), np.concatenate(inputs))


def fitted(known: RecordedTruth, outcomes: Outcomes, surrogate: str = "forest", seed: int = 0) -> FittedSurrogate:
    evidence = Evidence(known.space, outcomes, known.labels, known.guess)
    return surrogates.build(surrogate).fit(evidence, seed=seed)


def errors_of(known: RecordedTruth, found: FittedSurrogate) -> Floats:
    """Predicted less true, of the tests that say something about the model."""
    return np.asarray(found.predict(known.applicable)[0] - known.robustness[known.applicable])


def unseen_by(known: RecordedTruth) -> BoolArray:
    """Which of these tests are of order three or more."""
    return np.asarray(known.space.orders(known.applicable) >= 3)


def query_errors(known: RecordedTruth, found: FittedSurrogate) -> Floats:
    answers = [found.region(tests, np.full(len(tests), 1 / len(tests)))[0] for tests in regions(known)]
    return np.array(answers) - true_answers(known)


def true_answers(known: RecordedTruth) -> Floats:
    return np.array([known.robustness[tests].mean() for tests in regions(known)])


def table_1(run: Run) -> str:
    """The tasks: published and here."""
    rows = []
    for name in names(run):
        task, known = TASKS[name], truth(run, name)
        theirs = (f"{task.size:,}", task.model, f"{task.accuracy:.1%}")
        said = ", ".join(known.space.names if run.short else axes_of(name))
        rows.append([task.title, said, *theirs, f"{known.inputs:,}", task.ours, f"{known.robustness[0]:.1%}"])
    heads = ["task", "perturbations", "inputs", "model", "accuracy", "inputs here", "model here", "accuracy here"]
    return table(heads, rows)


def axes_of(name: str) -> Sequence[str]:
    space = read_space_file(subjects.HERE / f"{name}.toml").space
    assert space is not None
    return space.names


def table_2(run: Run) -> str:
    """Tests of each query that are measured (orders up to two) and inferred; no data are needed."""
    space = truth(run, "digits").space
    measured = [int((space.orders(tests) <= 2).sum()) for tests in queries(space)]
    inferred = [len(tests) - m for tests, m in zip(queries(space), measured, strict=True)]
    return table(["", *QUERIES], [["measured", *measured], ["inferred", *inferred]])


def comparison(run: Run) -> str:
    """The default way against the published one, with the truth known."""
    rows = []
    for name in names(run):
        labels = [
            "pairs, forest",
            "pairs, forest, early stopping",
            *["default (spread, auto)"] * (1 if run.short else 2),
        ]
        found = run.kept(f"ways {name}", lambda name=name: np.array(list(_ways(run, truth(run, name)))))  # type: ignore[misc]
        for label, (inferences, mse, largest, covered, seconds) in zip(labels, found.tolist(), strict=True):
            shown = [f"{inferences:,.0f}", f"{1e4 * mse:.1f}", f"{largest:.3f}", f"{covered:.3f}", f"{seconds:.1f}"]
            rows.append([name, label, *shown])
    heads = ["task", "way", "inferences", "MSE × 1e4", "largest query error", "bands cover", "fit, CPU s"]
    return table(heads, rows)


def budgets(run: Run, known: RecordedTruth) -> tuple[int, ...]:
    """Rows of the default way: few, and so many that a quarter of the published way's inferences are made."""
    share = 1.0 if known.applies is None else float(known.applies.mean())
    return (SMALL,) if run.short else (SMALL, int(len(low(known)) / 4 / share))


def _ways(run: Run, known: RecordedTruth) -> Iterator[tuple[float, ...]]:
    """Inferences, MSE and coverage over order three, largest query error, seconds."""
    unseen = known.applicable[unseen_by(known)]
    for outcomes in (low(known), stopped(known)):
        started = time.process_time()
        found = fitted(known, outcomes)
        means, deviations = found.predict(unseen)
        seconds = time.process_time() - started
        errors = means - known.robustness[unseen]
        covered = np.abs(errors) <= 1.96 * deviations + 1e-12
        largest = np.abs(query_errors(known, found)).max()
        yield len(outcomes), float((errors**2).mean()), float(largest), float(covered.mean()), seconds
    for budget in budgets(run, known):
        row = bench(
            [known],
            plan_specs=["spread"],
            surrogate_specs=["auto"],
            budgets=[budget],
            repetitions=run.times(REPETITIONS),
        ).rows[0]
        yield row.inferences, row.mse, row.query_error_max, row.coverage, row.cpu_seconds


def figure_2(run: Run) -> str:
    """Robustness by order: smallest, quartiles, largest."""
    rows = []
    for name in names(run):
        axes = 4 if run.short or 4 in TASKS[name].inputs else 3
        known = truth(run, name, axes)
        orders = known.space.orders(known.applicable)
        for order in range(axes + 1):
            found = np.quantile(known.robustness[known.applicable][orders == order], [0, 0.25, 0.5, 0.75, 1])
            rows.append([name, order, *(f"{one:.3f}" for one in found)])
    return table(["task", "order", "smallest", "1st quartile", "median", "3rd quartile", "largest"], rows)


def figure_3(run: Run) -> str:
    """Errors of the forest over all 216 tests, and over the 125 that it has not seen; the default beside it."""
    rows = []
    for name in names(run):
        known = truth(run, name)
        plan = plans.build("spread").rows(known.space, known.inputs, budget=SMALL, seed=0)
        spread = fitted(known, known.measure(plan.tests, plan.inputs, chance=plan.chance).applicable, "auto")
        unseen = unseen_by(known)
        for label, found in (("published", fitted(known, low(known))), ("default", spread)):
            errors = errors_of(known, found)
            shares = [np.mean(np.abs(errors) <= width) for width in (0.05, 0.1)]
            shares.append(np.mean(np.abs(errors[unseen]) <= 0.1))
            shown = [f"{one:.3f}" for one in (*shares, np.median(errors), errors.min(), errors.max())]
            rows.append([name, label, *shown])
    heads = ["task", "way", "within .05", "within .1", "unseen within .1", "median", "lowest", "highest"]
    return table(heads, rows)


def figure_4(run: Run) -> str:
    """Inferences in all, of orders up to two, and with the published early stopping; MSE of the forest × 1e4."""
    rows = []
    for name in names(run):
        known = truth(run, name)
        whole = known.held.size if known.applies is None else int(known.applies.sum())
        cells = [f"{whole:,}"]
        for outcomes in (low(known), stopped(known)):
            mse = np.mean(errors_of(known, fitted(known, outcomes)) ** 2)
            cells.append(f"{len(outcomes):,} (−{1 - len(outcomes) / whole:.1%}), {1e4 * mse:.1f}")
        rows.append([name, *cells])
    return table(["task", "full", "orders ≤ 2, MSE", "with early stopping, MSE"], rows)


def figure_6(run: Run) -> str:
    """Queries of the published way: error / predicted drop."""
    rows = []
    for name in names(run):
        known = truth(run, name)
        errors = query_errors(known, fitted(known, low(known)))
        drops = errors + true_answers(known) - known.robustness[0]
        rows.append([name, *(f"{e:+.3f} / {d:+.2f}" for e, d in zip(errors, drops, strict=True))])
    return table(["task", *QUERIES], rows)


def figures_7_and_8(run: Run) -> str:
    """MSE × 1e4 of the forest on tests that were not chosen, ordered / random, by share of the space."""
    shares = SHARES[:2] if run.short else SHARES
    rows = []
    for axes, repetitions in ((3, REPETITIONS), (4, 2)):
        for name in names(run, axes):
            times = run.times(repetitions)
            found = run.kept(f"choice {name} {axes}", lambda n=name, a=axes, t=times: _choice(run, n, a, shares, t))  # type: ignore[misc]
            rows.append([f"{axes}-D", name, *(f"{a:.1f} / {b:.1f}" for a, b in 1e4 * found)])
    return table(["", "task", *(f"{share:.0%}" for share in shares)], rows)


def _choice(run: Run, name: str, axes: int, shares: Sequence[float], times: int) -> Floats:
    """One row per share, one column per way of choosing."""
    known = truth(run, name, axes)
    return np.array(
        [[np.mean([_unseen(known, p, share, s) for s in range(times)]) for p in CHOICES] for share in shares]
    )


CHOICES = ("ordered", "random")


def _unseen(known: RecordedTruth, plan: str, share: float, seed: int) -> float:
    budget = int(share * known.space.size) * known.inputs
    rows = plans.build(plan).rows(known.space, known.inputs, budget=budget, seed=seed)
    rest = np.setdiff1d(known.applicable, rows.tests)
    # All trees of the published forest are equal: one is enough.
    found = fitted(known, known.measure(rows.tests, rows.inputs).applicable, "forest:trees=1", seed)
    return float(np.mean((found.predict(rest)[0] - known.robustness[rest]) ** 2))


def section_5_4(run: Run) -> str:
    """CPU seconds of the truth, and of perturbing over inference."""
    rows = []
    for name in names(run):
        perturbing, inferring, count = _seconds(run, name)
        rows.append([name, f"{count:,}", f"{perturbing:.0f}", f"{inferring:.0f}", f"{perturbing / inferring:.2f}"])
    return table(["task", "inferences", "perturbing, CPU s", "inference, CPU s", "ratio"], rows)


def _seconds(run: Run, name: str) -> tuple[float, float, int]:
    if run.short:
        found = subject(run, name, 3, 20)
        measure(found, plan=plans.build("full"))
        assert found.clock is not None
        return found.clock.perturbing, found.clock.inferring, found.space.size * found.inputs
    known = truth(run, name)
    with np.load(folder(run) / f"{name}_3d.npz") as file:
        perturbing, inferring = file["seconds"].tolist()
    return perturbing, inferring, known.held.size if known.applies is None else int(known.applies.sum())


def proposition_1(run: Run) -> str:
    """P-values of independence for each pair of perturbations: as published, and with the inputs resampled."""
    rows = []
    for name in names(run):
        known = truth(run, name)
        outcomes = low(known)
        for first, second in combinations(known.space.names, 2):
            old, new = (
                test(known.space, outcomes, first=first, second=second)
                for test in (independence.published, independence.resampled)
            )
            applies = "yes" if old.applicable else "no"
            rows.append([name, f"{first}, {second}", f"{old.p_value:.2g}", applies, f"{new.p_value:.3f}"])
    return table(["task", "pair", "p, published", "its condition holds", "p, resampled"], rows)


SHOWN = {3: "Q3", 8: "Q8", 12: "Q12"}
"""Queries of figure 5; the last is the whole space, as in figure 1."""


def figures_1_and_5(run: Run) -> str:
    """Voxels of Q3, Q8 and Q12, predicted the published way, as files; mean robustness beside them."""
    rows = []
    for name in names(run):
        known = truth(run, name)
        predicted = fitted(known, low(known)).predict(np.arange(known.space.size))[0]
        shown = list(regions(known))
        cells = []
        for number, query in SHOWN.items():
            path = drawings(run) / f"voxels_{name}_{query}.svg"
            path.write_text(pictures.voxels(known.space, predicted, shown[number - 1]), encoding="utf-8")
            cells.append(f"[{predicted[shown[number - 1]].mean():.2f}](../figures/icse26/{path.name})")
        rows.append([name, *cells])
    return table(["task", *SHOWN.values()], rows)


def drawings(run: Run) -> Path:
    place = folder(run) if run.short else DOCS.parent / "figures" / "icse26"
    place.mkdir(parents=True, exist_ok=True)
    return place


def figures_9_and_10(run: Run) -> str:
    """Quality in four dimensions: mean absolute error of the published way and of ours, of the range of the scores."""
    rows = []
    for name in names(run, 4):
        executor = subject(run, name, 4, 40 if run.short else 200).executor
        assert executor is not None
        many, few = (measure_quality(executor, tests=count) for count in ((180, 40) if run.short else (300, 150)))
        severities, orders = executor.space.severities(many.tests), executor.space.orders(many.tests)
        forest = RandomForestRegressor(100, bootstrap=False, random_state=0)
        forest.fit(severities[orders <= 2], many.measured[orders <= 2])
        unseen = (orders > 2) & ~np.isin(many.tests, few.tests)
        span = float(np.ptp(many.measured))
        found = [forest.predict(severities), few.predicted[many.tests]]
        errors = [np.abs(one - many.measured)[unseen].mean() / span for one in found]
        sums = severities.sum(axis=1)
        by_sum = [many.measured[sums == total].mean() / span for total in (1, 5, 10, 15)]
        rows.append([name, many.score, *(f"{one:.3f}" for one in errors), *(f"{one:.2f}" for one in by_sum)])
    heads = ["task", "score", "error, published way", "error, ours", *(f"sum {total}" for total in (1, 5, 10, 15))]
    return table(heads, rows)


def figure_11(run: Run) -> str:
    """One input under tests whose severities have the sum ten: images as a file each, a pair of texts below."""
    rows = []
    for name in ["digits"] if run.short else TASKS:
        executor = subject(run, name, 4, 40 if run.short else 200).executor
        assert executor is not None
        tests = executor.space.numbers(np.array(TEN))
        batch, which = executor.perturbed(tests, np.full(len(tests), SHOWN_INPUT.get(name, 3)))
        words = ["".join(map(str, one)) for one in TEN]
        if name == "pairs":
            rows += [[f"pairs, {word}", " / ".join(batch[at])] for word, at in zip(words, which, strict=True)]
            continue
        path = drawings(run) / f"examples_{name}.svg"
        path.write_text(pictures.strip([batch[at] for at in which], words), encoding="utf-8")
        rows.append([name, f"[{len(tests)} images](../figures/icse26/{path.name})"])
    return table(["task", "examples"], rows)


SHOWN_INPUT = {"driving": 20, "photos": 5}
"""The input that is shown, where it is not the fourth."""


TEN = ((0, 0, 0, 0), (5, 5, 0, 0), (0, 0, 5, 5), (5, 0, 5, 0), (4, 3, 3, 0), (1, 1, 3, 5), (3, 3, 2, 2))
"""Severities of the images: clean, and with a sum of ten."""


PARTS: dict[str, Part] = {
    "table-1": table_1,
    "table-2": table_2,
    "comparison": comparison,
    "figures-1-5": figures_1_and_5,
    "figure-2": figure_2,
    "figure-3": figure_3,
    "figure-4": figure_4,
    "figure-6": figure_6,
    "figures-7-8": figures_7_and_8,
    "section-5-4": section_5_4,
    "figures-9-10": figures_9_and_10,
    "figure-11": figure_11,
    "proposition-1": proposition_1,
}

if __name__ == "__main__":
    main("icse26", PARTS, __doc__)
