"""Robustness tomography on real models: how far off, how sure, how quick, and beside the published way.

    python benchmarks/tomography_runs.py [runs] [eight] [use] [kill] [published] [choice] [stopping] [independence]

Without a name, all parts. Each writes its section of ``results/tomography_runs.md``; the figures of the paper are made
by ``tomography_figures.py``. Models, data and truths: ``tomography_subjects.py``.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.bench.tomography import bench, queries
from fieldcheck.core.space import Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.independence import published, resampled
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.plans.base import count_of_order, low_orders
from fieldcheck.tomography.runs.stopping import inputs_used
from fieldcheck.tomography.runs.stopping import registry as stopping_rules
from fieldcheck.tomography.setup.subject import Subject
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth
from fieldcheck.tomography.surrogates import registry as surrogates
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate
from networks import data_folder
from tomography_subjects import TASKS, Task, kept, truth

RECORD = Path(__file__).parent / "results" / "tomography_runs.md"
BAND = 1.959964

EIGHT = {
    "first": ("brightness", "zoom", "motion-blur", "shear", "rotate", "contrast", "gaussian-noise", "occlusion"),
    "second": ("brightness", "zoom", "motion-blur", "shear", "rotate", "translate", "gaussian-noise", "sharpness"),
    "milder": ("brightness", "rotate", "contrast", "gaussian-noise", "jpeg-compression", "shot-noise", "sharpness",
               "gaussian-blur"),
}  # fmt: skip
"""Sets of eight perturbations: the first was fixed before anything was measured."""
SMALL = 2_700
"""Inferences of the default plan in three dimensions."""

Cells = Sequence[object]


def table(columns: Cells, rows: Sequence[Cells]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_written(cell) for cell in line) + " |" for line in lines)


def _written(cell: object) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else str(cell)


def e4(value: float) -> str:
    """A mean squared error in units of 1e-4."""
    return f"{1e4 * value:.1f}"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A surrogate and what it was fitted to."""

    surrogate: FittedSurrogate
    outcomes: Outcomes


def fit(known: RecordedTruth, plan: str, surrogate: str, *, budget: int | None = None, seed: int = 0) -> Fitted:
    """Spend a budget on a recorded truth and fit."""
    rows = plans.build(plan).rows(known.space, known.inputs, budget=budget, seed=seed)
    outcomes = known.measure(rows.tests, rows.inputs, chance=rows.chance)
    return Fitted(fit_to(known, outcomes, surrogate, seed=seed), outcomes)


def fit_to(known: RecordedTruth, outcomes: Outcomes, surrogate: str, *, seed: int = 0) -> FittedSurrogate:
    evidence = Evidence(known.space, outcomes, known.labels, known.guess)
    return surrogates.build(surrogate).fit(evidence, seed=seed)


def first_three(task: Task) -> RecordedTruth:
    known = truth(task)
    return known.along(known.space.names[:3])


def all_tests(space: Space) -> IntArray:
    return np.arange(space.size, dtype=np.int64)


WAYS = (
    ("spread", "auto", SMALL, 10),
    ("spread", "auto", 9_100, 10),
    ("pairs", "forest", SMALL, 10),
    ("pairs", "forest", None, 1),
)
"""Plan, surrogate, inferences (None: all inputs) and repetitions."""


def runs() -> str:
    """Three perturbations: the default against the published way, with the full truth known."""
    rows = [_compared(task, *way) for task in TASKS.values() for way in WAYS]
    columns = ("model, data", "unperturbed", "plan, surrogate", "inferences", "MSE x 1e4", "within .1",
               "largest query error", "95 % bands cover")  # fmt: skip
    said = "216 tests x 400 inputs each; MSE and bands over order 3; 8 octants and 4 nested queries; mean of 10"
    return f"{said} repetitions, of 1 where all inputs are used.\n\n{table(columns, rows)}"


def _compared(task: Task, plan: str, surrogate: str, budget: int | None, repetitions: int) -> Cells:
    known = first_three(task)
    found = bench(
        [known], plan_specs=[plan], surrogate_specs=[surrogate], budgets=[budget], repetitions=repetitions
    ).rows[0]
    return (
        task.title, float(known.robustness[0]), f"{plan}, {surrogate}", found.inferences, e4(found.mse),
        found.within_0_1, found.query_error_max, found.coverage,
    )  # fmt: skip


def stratified(space: Space, count: int) -> IntArray:
    """About ``count`` tests, every order above 0 as many as far as it has them."""
    rng = np.random.default_rng(0)
    orders = range(1, len(space.axes) + 1)
    found: list[IntArray] = []
    for order in orders:
        share = -(-(count - sum(map(len, found))) // (len(orders) - order + 1))
        if count_of_order(space, order) <= share:
            tests = low_orders(space, order)
            found.append(tests[space.orders(tests) == order])
            continue
        chosen = rng.random((share, len(space.axes))).argsort(axis=1) < order
        levels = rng.integers(1, np.array(space.shape), (share, len(space.axes)))
        found.append(np.unique(space.numbers(np.where(chosen, levels, 0))))
    return np.sort(np.concatenate(found))


def measured(subject: Subject, tests: IntArray, inputs: IntArray) -> FloatArray:
    """Share of the inputs on which each test holds."""
    found = []
    for some in np.array_split(tests, -(-len(tests) // 20)):
        held = subject.measure(np.repeat(some, len(inputs)), np.tile(inputs, len(some)), None)
        found.append(held.reshape(len(some), -1).mean(axis=1))
    return np.concatenate(found)


def eight() -> str:
    """Eight perturbations, 1,679,616 tests, 20,000 inferences."""
    wanted = [("first", 400, 3), ("first", 10_000, 3), ("second", 400, 2), ("milder", 400, 2)]
    rows = [(name, inputs, *cells) for name, inputs, runs in wanted for cells in _of_set(name, inputs, runs)]
    columns = ("set", "inputs of the data", "robustness at orders 1, 4, 8", "seed", "MSE x 1e4, mean of orders 1..8",
               "without the truth's noise", "by order", "95 % bands cover", "fit, CPU s",
               "slowest query, CPU s")  # fmt: skip
    sets = "\n".join(f"- {name}: {', '.join(specs)}" for name, specs in EIGHT.items())
    said = (
        "1,679,616 tests; 20,000 inferences, `spread`, `auto`. Truth: 1,200 tests, stratified by order, on 400 inputs "
        "(of 10,000: a sample, so it has noise itself)."
    )
    return f"{sets}\n\n{said}\n\n{table(columns, rows)}\n\n{_others()}"


def _of_set(name: str, inputs: int, runs: int) -> Iterator[Cells]:
    subject = TASKS["digits"].subject(specs=EIGHT[name], inputs=inputs)
    tests, rates = _sampled(subject, name)
    noise = rates * (1 - rates) / 399 * (1 - 400 / inputs)
    orders = subject.space.orders(tests)
    levels = ", ".join(f"{rates[orders == order].mean():.2f}" for order in (1, 4, 8))
    for seed in range(runs):
        run = _run_of_eight(subject, name, seed)
        yield levels, seed, *_eight(run, tests, rates, noise)


def _sampled(subject: Subject, name: str) -> tuple[IntArray, FloatArray]:
    """Tests of all orders and their robustness on 400 inputs; measured once."""
    path = kept(f"eight_{name}_{subject.inputs}.npz")
    if not path.exists():
        tests = stratified(subject.space, 1_200)
        seen = np.sort(np.random.default_rng(1).permutation(subject.inputs)[:400])
        np.savez(path, tests=tests, rates=measured(subject, tests, seen))
    with np.load(path) as file:
        return file["tests"], file["rates"]


def _run_of_eight(subject: Subject, name: str, seed: int) -> Run:
    folder = kept(f"eight_{name}_{subject.inputs}_{seed}")
    return measure(subject, plan=plans.build("spread"), budget=20_000, seed=seed, folder=folder, resume=True)


def _eight(run: Run, tests: IntArray, rates: FloatArray, noise: FloatArray) -> Cells:
    fitting = _seconds(lambda: run.fitted)
    means, deviations = run.fitted.predict(tests)
    errors = means - rates
    by_order = _by_order(run.space, tests, errors**2)
    pure = np.mean(_by_order(run.space, tests, errors**2 - noise))
    covered = np.abs(errors) <= BAND * np.sqrt(deviations**2 + noise)
    slowest = max(_seconds(lambda text=text: run.ask(text)) for text in _queries(run.space))  # type: ignore[misc]
    parts = " ".join(e4(one) for one in by_order)
    return e4(float(np.mean(by_order))), e4(float(pure)), parts, float(covered.mean()), fitting, slowest


def _by_order(space: Space, tests: IntArray, values: FloatArray) -> list[float]:
    """Means by order, from order one on."""
    orders = space.orders(tests)
    return [float(values[orders == order].mean()) for order in range(1, len(space.axes) + 1)]


def _others() -> str:
    """Other surrogates on the same rows."""
    subject = TASKS["digits"].subject(specs=EIGHT["first"], inputs=400)
    tests, rates = _sampled(subject, "first")
    evidence = _run_of_eight(subject, "first", 0).evidence
    found = []
    for name in ("logistic", "gp", "boosting", "mlp", "closure"):
        means, _ = surrogates.build(name).fit(evidence, seed=0).predict(tests)
        found.append((name, e4(float(np.mean(_by_order(subject.space, tests, (means - rates) ** 2))))))
    said = "Surrogates on the same rows (first set, 400 inputs, seed 0):"
    return f"{said}\n\n{table(('surrogate', 'MSE x 1e4'), found)}"


def _queries(space: Space) -> list[str]:
    first, second, third, *_ = (axis.name for axis in space.axes)
    return [
        "all", "order <= 2", f"{second} > 2 or ({first} = 5 and {third} = 1)", "order = 8",
        "robustness < 0.5 and severity_sum <= 12", f"not ({first} >= 3) and {third} in {{0, 1, 2}}",
    ]  # fmt: skip


def _seconds(work: Callable[[], Any]) -> float:
    """Of CPU: other programs run beside this one."""
    started = time.process_time()
    work()
    return time.process_time() - started


def use() -> str:
    """The model's share of the CPU time of a run."""
    rows = []
    for plan, axes, inputs, bar in (("full", 3, 400, 0.6), ("pairs", 4, 400, 0.6), ("spread", 4, 10_000, 0.4)):
        task = TASKS["digits"]
        subject = task.subject(specs=task.perturbations[:axes], inputs=inputs)
        subject.measure(np.arange(64), np.zeros(64, dtype=np.int64), None)  # imports and tables, once per process
        subject.clock.perturbing = subject.clock.inferring = 0.0  # type: ignore[union-attr]
        started = time.process_time()
        run = measure(subject, plan=plans.build(plan), budget=60_000)
        total = time.process_time() - started
        model, perturbing = subject.clock.inferring, subject.clock.perturbing  # type: ignore[union-attr]
        rows.append((plan, len(run.outcomes), model, perturbing, total, f"{model / total:.0%}", f"{bar:.0%}"))
    columns = ("plan", "inferences", "model, CPU s", "perturbing, CPU s", "run, CPU s", "share of the model", "bar")
    return f"LeNet-5 (ONNX) on MNIST, one thread; outcomes in memory.\n\n{table(columns, rows)}"


def kill() -> str:
    """Kill a run of the command line ten times; the result must be that of a run that was left alone."""
    recipe = TASKS["digits"].recipe()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "space.toml").write_text(_space_file(recipe.folder), encoding="utf-8")
        words = ["tomography", "run", "space.toml", "--plan", "full", "--inferences", "64800"]
        _fieldcheck(folder, *words, "--out", "whole")
        parts = [_killed(folder, [*words, "--out", "broken", "--resume"], wanted) for wanted in range(1, 11)]
        _fieldcheck(folder, *words, "--out", "broken", "--resume")
        same = _same(folder / "whole" / "outcomes", folder / "broken" / "outcomes")
        answers = [
            json.loads(_fieldcheck(folder, "tomography", "query", run, "order = 3", "--json"))
            for run in ("whole", "broken")
        ]
    said = "identical" if same and answers[0] == answers[1] else "DIFFERENT"
    return (
        "Three perturbations, `--plan full --inferences 64800`, LeNet-5 as ONNX. SIGKILL ten times, with "
        f"{', '.join(map(str, parts))} parts of outcomes on disk; then `--resume` to the end. Every part and the "
        f"answer to `order = 3` ({answers[0]['robustness']:.4f}): **{said}** to the run that was left alone."
    )


def _space_file(folder: Path) -> str:
    axes = "".join(f'[[perturbation]]\nname = "{name}"\nlevels = 5\n' for name in TASKS["digits"].perturbations[:3])
    return (
        f'[model]\nfile = "{folder / "lenet5.onnx"}"\n[data]\nfile = "{folder / "lenet5.npz"}"\nlimit = 300\n'
        f'[plan]\nkind = "full"\n{axes}'
    )


def _fieldcheck(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "fieldcheck", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def _killed(folder: Path, words: list[str], wanted: int) -> int:
    """Start, wait for so many parts, kill; how many parts there are."""
    outcomes = folder / "broken" / "outcomes"
    command = [sys.executable, "-m", "fieldcheck", *words]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(list(outcomes.glob("[0-9]*.npz"))) < wanted:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return len(list(outcomes.glob("[0-9]*.npz")))


def _same(first: Path, second: Path) -> bool:
    """Whether two folders hold the same parts, array by array."""
    names = sorted(path.name for path in first.glob("[0-9]*.npz"))
    if names != sorted(path.name for path in second.glob("[0-9]*.npz")):
        return False
    return all(_arrays(first / name) == _arrays(second / name) for name in names)


def _arrays(path: Path) -> dict[str, bytes]:
    with np.load(path) as file:
        return {name: file[name].tobytes() for name in file.files}


def as_published() -> str:
    """Forest on orders up to two, beside the paper's numbers."""
    rows = []
    for task in TASKS.values():
        known, whole = first_three(task), truth(task)
        errors, by_query = _forest_errors(known)
        four, _ = _forest_errors(whole)
        high = known.space.orders(all_tests(known.space)) == 3
        rows.append(
            (task.title, float((np.abs(errors) <= 0.1).mean()), float((np.abs(errors[high]) <= 0.1).mean()),
             float(errors[high].mean()), float(np.abs(by_query).max()), float(by_query[7]),
             e4(float((errors**2).mean())), e4(float((four**2).mean())))
        )  # fmt: skip
    paper = ("paper, five tasks", "over .9; two with all within .05", "-", "near 0 on three tasks", "under .07, but",
             "at most .109", "-", "comparable to 3-D")  # fmt: skip
    columns = ("model, data", "of 216 tests within .1", "of order 3 within .1", "mean error, order 3",
               "largest of Q1..Q12", "Q8", "MSE x 1e4, 3-D", "4-D")  # fmt: skip
    return table(columns, [*rows, paper])


def _forest_errors(known: RecordedTruth) -> tuple[FloatArray, FloatArray]:
    """Predicted less true: by test, and by query."""
    forest = fit(known, "pairs", "forest").surrogate
    return forest.predict(all_tests(known.space))[0] - known.robustness, query_errors(known, forest)


def query_errors(known: RecordedTruth, fitted: FittedSurrogate) -> FloatArray:
    """Predicted less true, one per query of the paper."""
    found = [
        fitted.region(tests, np.full(len(tests), 1 / len(tests)))[0] - known.robustness[tests].mean()
        for tests in queries(known.space)
    ]
    return np.array(found)


SHARES = tuple(share / 10 for share in range(1, 10))


@dataclass(frozen=True)
class Choice:
    """MSE over the tests that were not chosen, by share of the space: mean and deviation over repetitions."""

    plan: str
    mean: tuple[float, ...]
    deviation: tuple[float, ...]


def choices(known: RecordedTruth, *, repetitions: int = 10) -> Iterator[Choice]:
    """Ordered against random choice of whole tests, with the published forest (figures 7 and 8)."""
    for plan in ("ordered", "random"):
        found = np.array(
            [[_rest(known, plan, share, seed) for share in SHARES] for seed in range(repetitions)], dtype=np.float64
        )
        yield Choice(plan, tuple(found.mean(axis=0).tolist()), tuple(found.std(axis=0).tolist()))


def _rest(known: RecordedTruth, plan: str, share: float, seed: int) -> float:
    """All trees of the forest are equal, so one is grown."""
    count = round(share * known.space.size)
    rows = plans.build(plan).rows(known.space, known.inputs, budget=count * known.inputs, seed=seed)
    chosen = np.unique(rows.tests)
    learn = surrogates.build("forest", trees=1)
    evidence = Evidence(known.space, known.measure(rows.tests, rows.inputs), known.labels, known.guess)
    left = np.setdiff1d(all_tests(known.space), chosen)
    predicted = learn.fit(evidence, seed=seed).predict(left)[0]
    return float(((predicted - known.robustness[left]) ** 2).mean())


def choice() -> str:
    """Ordered against random choice of tests."""
    rows = []
    for task in TASKS.values():
        for known, words in ((first_three(task), "3-D"), (truth(task), "4-D")):
            ordered, random = choices(known, repetitions=10 if words == "3-D" else 3)
            rows.append(
                (task.title, words, *(f"{e4(a)} / {e4(b)}" for a, b in zip(ordered.mean, random.mean, strict=True)))
            )
    columns = ("model, data", "space", *(f"{share:.0%}" for share in SHARES))
    said = "MSE x 1e4 on the tests that were not chosen, ordered / random, by share of the space that was."
    return f"{said}\n\n{table(columns, rows)}"


RULES = {
    "published": ("published", {}),
    "half-width .02": ("half-width", {"width": 0.02}),
    "half-width .01": ("half-width", {"width": 0.01}),
    "sequence .02": ("sequence", {"width": 0.02}),
}
"""By what they are called in the table; the names and parameters of stopping rules."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Orders up to two on a pool of inputs.

    held
        One row per test, one column per input.
    known
        The truth of the whole space on the same inputs, where there is one.
    """

    title: str
    tests: IntArray
    held: FloatArray
    known: RecordedTruth | None = None

    @classmethod
    def of(cls, title: str, known: RecordedTruth) -> Pool:
        tests = low_orders(known.space, 2)
        return cls(title, tests, known.held[tests].astype(np.float64), known)

    def stopped(self, rule: str) -> Outcomes:
        """The outcomes that a rule waits for; inputs come in random order, another one in every test."""
        name, given = RULES[rule]
        built = stopping_rules.build(name, **given)
        orders = np.random.default_rng(2026).permuted(
            np.tile(np.arange(self.held.shape[1]), (len(self.held), 1)), axis=1
        )
        seen = [order[: inputs_used(built, row[order])] for row, order in zip(self.held, orders, strict=True)]
        rows = np.repeat(np.arange(len(self.tests)), [len(one) for one in seen])
        inputs = np.concatenate(seen)
        return Outcomes(self.tests[rows], inputs, self.held[rows, inputs])


def pools() -> Iterator[Pool]:
    """Pools of several sizes; the larger, the more there is to save."""
    task = TASKS["digits"]
    subject = task.subject(specs=task.perturbations[:3], inputs=5_000)
    outcomes = measure(subject, plan=plans.build("pairs"), folder=kept("digits_low"), resume=True).outcomes
    tests, at = np.unique(outcomes.tests, return_inverse=True)
    held = np.zeros((len(tests), subject.inputs))
    held[at, outcomes.inputs] = outcomes.held
    yield Pool(f"{task.title}, 5,000 inputs", tests, held)
    recorded = read_truth(data_folder() / "tomography" / "lenet_mnist.npz")
    yield Pool.of("recorded LeNet, 1,000 inputs", recorded.along(recorded.space.names[:3]))
    for other in TASKS.values():
        yield Pool.of(f"{other.title}, 400 inputs", first_three(other))


def stopping() -> str:
    """What early stopping saves in orders up to two, and what it costs."""
    rows = [_saved(pool, rule) for pool in pools() for rule in RULES]
    columns = ("model, data", "rule", "saved of orders <= 2", "saved of the full space", "largest error of a test",
               "forest, MSE x 1e4")  # fmt: skip
    return f"Orders <= 2 alone save .579 of the full space.\n\n{table(columns, rows)}"


def _saved(pool: Pool, rule: str) -> Cells:
    outcomes = pool.stopped(rule)
    tests, counts, held = outcomes.counts()
    errors = held / counts - pool.held.mean(axis=1)[np.argsort(pool.tests)]
    spent = len(outcomes) / pool.held.shape[1]
    return (
        pool.title, rule, 1 - spent / len(tests), 1 - spent / 216, float(np.abs(errors).max()),
        "-" if pool.known is None else e4(_forest_error(pool.known, outcomes)),
    )  # fmt: skip


def _forest_error(known: RecordedTruth, outcomes: Outcomes) -> float:
    predicted = fit_to(known, outcomes, "forest").predict(all_tests(known.space))[0]
    return float(((predicted - known.robustness) ** 2).mean())


def independence() -> str:
    """For which pairs of perturbations both tests reject."""
    rows = []
    for task in TASKS.values():
        known = truth(task)
        tests = low_orders(known.space, 2)
        outcomes = known.measure(np.repeat(tests, known.inputs), np.tile(np.arange(known.inputs), len(tests)))
        for first, second in combinations(known.space.names, 2):
            old = published(known.space, outcomes, first=first, second=second)
            new = resampled(known.space, outcomes, first=first, second=second)
            rows.append(
                (task.title, f"{first}, {second}", f"{old.p_value:.3g}", "yes" if old.applicable else "no",
                 f"{new.p_value:.3f}", _verdict(old.p_value, new.p_value))
            )  # fmt: skip
    columns = ("model, data", "pair", "p, published", "its condition holds", "p, resampled", "at 5 %")
    return f"{known.inputs} inputs, 25 tests a pair.\n\n{table(columns, rows)}"


def _verdict(old: float, new: float) -> str:
    words = {(True, True): "both reject", (False, False): "neither", (True, False): "only published",
             (False, True): "only resampled"}  # fmt: skip
    return words[old < 0.05, new < 0.05]


PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "runs": ("Three perturbations: the default and the published way", runs),
    "eight": ("Eight perturbations", eight),
    "use": ("What the CPU is used for", use),
    "kill": ("Killed and resumed", kill),
    "published": ("The published way, reproduced", as_published),
    "choice": ("Ordered against random choice of tests (figures 7 and 8)", choice),
    "stopping": ("Early stopping (figure 4)", stopping),
    "independence": ("Independence of pairs", independence),
}


def record(part: str, text: str) -> None:
    """Put a section into the file, in place of the one that was there; what stands above the sections stays."""
    before = RECORD.read_text(encoding="utf-8") if RECORD.exists() else "# Tomography on real models\n"
    head, *pieces = re.split(r"^(?=## )", before, flags=re.MULTILINE)
    sections = {piece.partition("\n")[0].removeprefix("## "): piece for piece in pieces}
    title = PARTS[part][0]
    sections[title] = f"## {title}\n\n    python benchmarks/tomography_runs.py {part}\n\n{text}\n"
    wanted = [title for title, _ in PARTS.values()]
    ordered = sorted(sections, key=lambda title: wanted.index(title) if title in wanted else -1)
    RECORD.write_text(
        "\n".join([head.strip() + "\n", *(sections[one].strip() + "\n" for one in ordered)]), encoding="utf-8"
    )


def main() -> None:
    for part in sys.argv[1:] or PARTS:
        started = time.process_time()
        text = PARTS[part][1]()
        record(part, text)
        print(f"{part}: {time.process_time() - started:.0f} s of CPU\n{text}\n", flush=True)


if __name__ == "__main__":
    main()
