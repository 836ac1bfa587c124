"""DeepEST against its paper (Guerriero et al., ICSE 2021), on the four of its five subjects whose data are here.

    python benchmarks/papers/icse21.py DATA                every part, about two CPU minutes
    python benchmarks/papers/icse21.py DATA table-2 --short

DeepEST runs with the thresholds of the published runs where nothing else is said, SRS with replacement. The paper's CES
needs activations, which were not published for these networks.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
from pages import Floats, Part, Run, main, table

from fieldcheck import bench
from fieldcheck.bench import CellResult
from fieldcheck.sources import load

SUBJECTS = {"CN5_MNIST": "S1", "LN5_MNIST": "S2", "CN12_CIFAR10": "S3", "VGG16_CIFAR10": "S4"}
VARIANTS = {"CS": "confidence", "DSA": "dsa", "LSA": "lsa", "C": "combined"}
REPETITIONS = 1000
BUDGETS = (50, 100, 200, 400, 800)
PUBLISHED_ROUNDS = 30

PRECISION = {
    "CN5_MNIST": (0.6180, 0.3244, 0.1034, 0.8127, 0.5249, 0.1673, 1.3150, 0.3187, 2.5054, 7.8624),
    "LN5_MNIST": (0.7489, 0.3720, 0.0377, 0.6344, 0.4967, 0.0504, 0.8470, 0.1014, 1.7053, 16.8140),
    "CN12_CIFAR10": (2.9833, 0.6579, 0.2244, 0.6312, 0.2205, 0.0752, 0.2116, 0.3411, 0.9594, 2.8126),
    "VGG16_CIFAR10": (0.6294, 0.1330, 0.2716, 0.1381, 0.2114, 0.4315, 0.2194, 2.0417, 1.0380, 0.5084),
}
"""Table III a - d: relative precision of CS, DSA, LSA, C and SRS, in the order of ``combinations``."""


@cache
def thresholds(run: Run) -> dict[tuple[str, str], str]:
    with (run.data / "published" / "deepest_icse21_thresholds.csv").open(encoding="utf-8-sig", newline="") as file:
        return {(row["file"], row["auxiliary"]): row["threshold"] for row in csv.DictReader(file)}


@cache
def published(run: Run) -> dict[tuple[str, str], float]:
    """Table II: mean failing examples by subject and technique."""
    with (run.data / "published" / "deepest_icse21_table2.csv").open(encoding="utf-8-sig", newline="") as file:
        return {(row["file"], row["technique"]): float(row["failures_mean"]) for row in csv.DictReader(file)}


def subjects(run: Run) -> list[str]:
    return ["CN5_MNIST"] if run.short else list(SUBJECTS)


@cache
def variant(run: Run, subject: str, name: str, budget: int, default: bool = False) -> CellResult:
    """All repetitions of DeepEST with one auxiliary variable, or of SRS."""
    path = run.data / "subjects" / f"{subject}.csv"
    spec, auxiliaries = ("srs:replace=yes", ()) if name == "SRS" else ("deepest", (VARIANTS[name],))
    if name != "SRS" and not default:
        spec = f"deepest:threshold={thresholds(run)[subject, VARIANTS[name]]}"
    study = bench.Study([path], (spec,), auxiliaries, (budget,), repetitions=run.times(REPETITIONS))
    return bench.run(study).cells[0]


def table_1(run: Run) -> str:
    """Subjects and their accuracy."""
    true = {"CN5_MNIST": 0.9905, "LN5_MNIST": 0.9868, "CN12_CIFAR10": 0.8066, "VGG16_CIFAR10": 0.9359}
    rows = []
    for name in subjects(run):
        losses = load(run.data / "subjects" / f"{name}.csv").losses("squared")
        rows.append([SUBJECTS[name], name, f"{len(losses):,}", true[name], f"{1 - losses.mean():.4f}"])
    return table(["", "subject", "items", "published accuracy", "here"], rows)


def table_2(run: Run) -> str:
    """Failing examples among 200 labels: published / here with the published threshold / here by default."""
    rows = []
    for name in subjects(run):
        cells = []
        for technique in ("SRS", *VARIANTS):
            theirs = published(run)[name, technique if technique == "SRS" else f"DeepEST_{technique}"]
            ours = variant(run, name, technique, 200)
            off = (ours.failures.mean() - theirs) / _error(ours)
            default = "" if technique == "SRS" else f" / {variant(run, name, technique, 200, True).failures.mean():.1f}"
            cells.append(f"{theirs:.1f} / {ours.failures.mean():.1f}{default} ({off:+.1f})")
        rows.append([SUBJECTS[name], *cells, f"{variant(run, name, 'CS', 200).failing:,}"])
    return table(["", "SRS", *(f"DeepEST {v}" for v in VARIANTS), "failing items"], rows)


def _error(one: CellResult) -> float:
    """Standard error of the difference to a mean of 30 repetitions, from our own scatter."""
    return float(np.std(one.failures, ddof=1) * np.sqrt(1 / PUBLISHED_ROUNDS + 1 / len(one.failures))) or 1.0


def table_3(run: Run) -> str:
    """Relative precision of every pair: published, here, and what 30 repetitions scatter by."""
    rows, inside = [], 0
    names = [*VARIANTS, "SRS"]
    for subject in subjects(run):
        found = {name: variant(run, subject, name, 200) for name in names}
        for (first, second), theirs in zip(combinations(names, 2), PRECISION[subject], strict=True):
            low, ours, high = _precision(found[first].errors, found[second].errors)
            held = low <= theirs <= high
            inside += held
            failures = found[first].failures.mean() / found[second].failures.mean()
            shown = f"{ours:.2f} ({low:.2f} - {high:.2f})"
            rows.append(
                [SUBJECTS[subject], f"{first} : {second}", theirs, shown, "yes" if held else "no", f"{failures:.2f}"]
            )
    heads = ["", "pair", "published precision", "here (95 % of rounds of 30)", "inside", "failures, here"]
    return f"{inside} of {len(rows)} published ratios are inside.\n\n" + table(heads, rows)


def _precision(first: Floats, second: Floats) -> tuple[float, float, float]:
    """MSE of the second over MSE of the first, and the 95 % range of that ratio in rounds of 30 repetitions."""
    rng = np.random.default_rng(0)
    ratios = [
        np.mean(rng.choice(second, PUBLISHED_ROUNDS) ** 2) / np.mean(rng.choice(first, PUBLISHED_ROUNDS) ** 2)
        for _ in range(2000)
    ]
    low, high = np.quantile(ratios, (0.025, 0.975)).tolist()
    return low, float(np.mean(second**2) / np.mean(first**2)), high


def table_3f(run: Run) -> str:
    """Wins and losses: more precise and more failures."""
    names = [*VARIANTS, "SRS"]
    won = dict.fromkeys(((a, b) for a in names for b in names), 0)
    for subject in subjects(run):
        found = {name: variant(run, subject, name, 200) for name in names}
        for a, b in won:
            better = np.mean(found[a].errors ** 2) < np.mean(found[b].errors ** 2)
            won[a, b] += int(better and found[a].failures.mean() > found[b].failures.mean())
    return table(
        ["wins of row over column", *names], [[a, *("" if a == b else won[a, b] for b in names)] for a in names]
    )


def figure_1(run: Run) -> str:
    """Mean squared error of the estimate, in units of 1e-4, with 200 labels."""
    names = [*VARIANTS, "SRS"]
    rows = [
        [SUBJECTS[s], *(f"{1e4 * np.mean(variant(run, s, name, 200).errors ** 2):.2f}" for name in names)]
        for s in subjects(run)
    ]
    return table(["", *names], rows)


def figures_2_to_4(run: Run) -> str:
    """The most accurate subject by budget: mean estimate, MSE (1e-4), failing examples."""
    rows: list[Sequence[object]] = []
    for name in (*VARIANTS, "SRS"):
        found = [variant(run, "CN5_MNIST", name, n) for n in BUDGETS[: 2 if run.short else None]]
        rows.append([name, "estimate", *(f"{one.values.mean():.4f}" for one in found)])
        rows.append([name, "MSE", *(f"{1e4 * np.mean(one.errors**2):.2f}" for one in found)])
        rows.append([name, "failures", *(f"{one.failures.mean():.1f}" for one in found)])
    return table(["variant", "", *(f"n = {n}" for n in BUDGETS[: 2 if run.short else None])], rows)


def figures_5_to_7(run: Run) -> str:
    """Share that fails, in tenths of the pool from the least to the most suspicious, in percent."""
    rows = []
    for subject in ["CN5_MNIST"] if run.short else ["CN5_MNIST", "VGG16_CIFAR10"]:
        path = run.data / "subjects" / f"{subject}.csv"
        study = bench.Study([path], ("sups",), ("confidence", "dsa", "lsa"), (50,), repetitions=1)
        for curve in bench.run(study).curves:
            rows.append([subject, curve.auxiliary, *(f"{100 * share:.1f}" for share in curve.share)])
    return table(["subject", "by", *(f"{10 * i} %" for i in range(1, 11))], rows)


PARTS: dict[str, Part] = {
    "table-1": table_1,
    "table-2": table_2,
    "table-3": table_3,
    "table-3f": table_3f,
    "figure-1": figure_1,
    "figures-2-4": figures_2_to_4,
    "figures-5-7": figures_5_to_7,
}

if __name__ == "__main__":
    main("icse21", PARTS, __doc__)
