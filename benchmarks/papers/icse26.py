"""Robustness tomography against its paper (Arif et al., TestifAI, ICSE 2026), on its five tasks.

    python benchmarks/papers/icse26.py DATA --keep FOLDER        every part; models and truths are made once
    python benchmarks/papers/icse26.py DATA figure-3 --short     on the recorded truth of the data folder

Models, data and space files: ``testifai/``. A truth is every test of the space on the inputs of its space file, by the
product's own run with the plan ``full``; models and truths are kept in FOLDER. A short run takes the truth that is
recorded in the data folder, and a network that was hardly trained where perturbed images are needed.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from pathlib import Path

import numpy as np
from pages import DOCS, Floats, Part, Run, main, table

sys.path.append(str(Path(__file__).resolve().parent / "testifai"))
import pictures
import subjects
from question_pairs import weights
from sklearn.ensemble import RandomForestRegressor
from truths import TASKS, file_of, folder, names, spaces, subject, truth

from fieldcheck.bench.tomography import bench, queries, regions
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Outcomes
from fieldcheck.core.types import BoolArray
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.answers import independence
from fieldcheck.tomography.answers.run import measure
from fieldcheck.tomography.perturbations.text.base import TextPerturbation
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.plans.base import low_orders
from fieldcheck.tomography.quality.features import View
from fieldcheck.tomography.quality.map import measure_quality
from fieldcheck.tomography.runs import stopping
from fieldcheck.tomography.runs.schedule import BASE
from fieldcheck.tomography.setup.space_file import read_space_file
from fieldcheck.tomography.setup.subject import of_truth
from fieldcheck.tomography.setup.truth import RecordedTruth
from fieldcheck.tomography.surrogates import registry as surrogates
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate

SMALL = 12.5
"""Inferences of the default way for every test of a space, where it has few."""
REPETITIONS = 10
QUERIES = tuple(f"Q{number}" for number in range(1, 13))
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7)


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
    for name, axes in spaces(run):
        known = truth(run, name, axes)
        labels = [PUBLISHED, f"{PUBLISHED}, early stopping", *[DEFAULT] * len(budgets(run, known))]
        found = run.kept(f"ways {name} {axes}", lambda known=known: np.array(list(_ways(run, known))))  # type: ignore[misc]
        for label, (inferences, mse, largest, covered, seconds) in zip(labels, found.tolist(), strict=True):
            share = f"{inferences / found[0, 0]:.3f}"
            shown = [f"{1e4 * mse:.1f}", f"{largest:.3f}", f"{covered:.3f}", f"{seconds:.1f}"]
            rows.append([f"{name}, {axes}-D", label, f"{inferences:,.0f}", share, *shown])
    heads = ["task", "way", "inferences", "of the published"]
    return table([*heads, "MSE × 1e4", "largest query error", "bands cover", "fit, CPU s"], rows)


PUBLISHED, DEFAULT = "pairs, forest", "default (spread, auto)"


def budgets(run: Run, known: RecordedTruth) -> tuple[int, ...]:
    """Rows of the default way: few, and a quarter of the published way's."""
    small, rows = int(SMALL * known.space.size), len(low_orders(known.space, 2)) * known.inputs
    return (small,) if run.short else (small, rows // 4)


def _ways(run: Run, known: RecordedTruth) -> Iterator[tuple[float, ...]]:
    """Inferences, MSE and coverage over orders three and more, largest query error, seconds."""
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


def edits(run: Run) -> str:
    """Share of the questions that have a place for so many edits, and of the pairs that are judged otherwise then."""
    questions = asked(run)
    severity, items = np.full(len(questions), 5), np.arange(len(questions))
    rows = []
    for name in axes_of("pairs"):
        perturbation = perturbations.registry.build(name)
        assert isinstance(perturbation, TextPerturbation)
        made = perturbation.edit(questions, severity, ItemStreams.of(0, name, items, severity)).edits
        cells = [f"{np.mean(made >= level):.3f}" for level in range(1, 6)]
        rows.append([name, *cells, *([] if run.short else judged_otherwise(truth(run, "pairs"), name))])
    heads = ["perturbation", *(f"{level} or more" for level in range(1, 6))]
    return table([*heads, *([] if run.short else ["judged otherwise at level 1", "at level 5"])], rows)


def asked(run: Run) -> list[str]:
    """Both questions of every pair of the truth; of the first fifty pairs of the data in a short run."""
    if run.short:
        with (run.data / "pairs" / "quora.csv").open(encoding="utf-8", newline="") as file:
            pairs = [(row["question1"], row["question2"]) for row in islice(csv.DictReader(file), 50)]
    else:
        executor = subject(run, "pairs", 3, TASKS["pairs"].inputs[3]).executor
        assert executor is not None
        pairs = executor.inputs.batch(0, len(executor.inputs))
    return [question for pair in pairs for question in pair]


def judged_otherwise(known: RecordedTruth, name: str) -> list[str]:
    """Share of the inputs whose outcome is another one under this perturbation alone, at levels one and five."""
    if name not in known.space:
        return ["–", "–"]
    tests = known.space.numbers(np.array([[level * (axis == name) for axis in known.space.names] for level in (1, 5)]))
    return [f"{np.mean(known.held[test] != known.held[0]):.3f}" for test in tests.tolist()]


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
        default = measure(of_truth(known), plan=plans.build("spread"), budget=int(SMALL * known.space.size), base=BASE)
        unseen = unseen_by(known)
        for label, found in (("published", fitted(known, low(known))), ("default", default.fitted)):
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
    for name, axes in spaces(run):
        found = run.kept(f"choice {name} {axes}", lambda n=name, a=axes: _choice(run, n, a, shares))  # type: ignore[misc]
        rows.append([f"{axes}-D", name, *(f"{a:.1f} / {b:.1f}" for a, b in 1e4 * found)])
    return table(["", "task", *(f"{share:.0%}" for share in shares)], rows)


def _choice(run: Run, name: str, axes: int, shares: Sequence[float]) -> Floats:
    """One row per share, one column per way of choosing."""
    known, times = truth(run, name, axes), run.times(REPETITIONS)
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
    """CPU seconds of the truth, or of what its last go made of it, and of perturbing over inference."""
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
    truth(run, name)
    with np.load(file_of(run, name, 3)) as file:
        perturbing, inferring = file["seconds"].tolist()
        return perturbing, inferring, int(file["timed"])


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
    for name in ["digits"] if run.short else TASKS:
        found = run.kept(f"quality {name}", lambda n=name: _quality(run, n))  # type: ignore[misc]
        score = "token-f1" if name == "pairs" else "kid"
        rows.append([name, score, *(f"{one:.3f}" for one in found[:2]), *(f"{one:.2f}" for one in found[2:])])
    heads = ["task", "score", "error, published way", "error, ours", *(f"sum {total}" for total in (1, 5, 10, 15))]
    return table(heads, rows)


def _quality(run: Run, name: str) -> Floats:
    """Errors of the published way and of ours, and mean scores by sum of severities, of the range of the scores."""
    executor = subject(run, name, 4, 40 if run.short or name == "pairs" else 200).executor
    assert executor is not None
    view = VIEWS.get(name, lambda: "auto")()
    counts = (180, 40) if run.short else (300, 150)
    many, few = (measure_quality(executor, features=view, tests=count) for count in counts)
    severities, orders = executor.space.severities(many.tests), executor.space.orders(many.tests)
    forest = RandomForestRegressor(100, bootstrap=False, random_state=0)
    forest.fit(severities[orders <= 2], many.measured[orders <= 2])
    unseen = (orders > 2) & ~np.isin(many.tests, few.tests)
    errors = [
        np.abs(one - many.measured)[unseen].mean() for one in (forest.predict(severities), few.predicted[many.tests])
    ]
    sums = severities.sum(axis=1)
    by_sum = [many.measured[sums == total].mean() for total in (1, 5, 10, 15)]
    return np.array([*errors, *by_sum]) / np.ptp(many.measured)


VIEWS: dict[str, Callable[[], Path | View]] = {"driving": lambda: pictures.shrunk, "pairs": weights}
"""What quality looks at, where it is not the last hidden layer of the tested network: a detector has no one such layer,
and texts are compared token by token, as BERTScore does."""


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
    "edits": edits,
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
