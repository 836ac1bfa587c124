"""CES and CSS against their paper (Li et al., ESEC/FSE 2019), on the authors' own networks.

    python benchmarks/papers/fse19.py DATA                 every part, about 20 CPU minutes
    python benchmarks/papers/fse19.py DATA table-3 --short

E is the mean squared error over the variance of simple random sampling with replacement, averaged over the sizes 35,
40, ..., 180; 1 is no gain. One walk of CES to 180 labels gives all sizes, as each sample begins with the one before it;
standard errors are over walks, so the dependence of the sizes is in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import authors_ces
import numpy as np
import numpy.typing as npt
from pages import Part, Run, main, table

from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.estimators import estimate
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled

Floats = npt.NDArray[np.float64]

NETWORKS = ("LeNet-1", "LeNet-4", "LeNet-5", "mutant1", "mutant2", "mutant3")
SIZES = np.arange(35, 181, 5)
REPETITIONS = 600
"""For standard errors up to .06."""
CSS_REPETITIONS = 40
"""Enough: its samples of different sizes are independent, so that each repetition is worth thirty."""
PUBLISHED = dict(zip(NETWORKS, (0.588, 0.655, 0.708, 0.499, 0.380, 0.478), strict=True))
PUBLISHED_CSS = dict(zip(NETWORKS, (0.379, 0.372, 0.198, 3.263, 3.836, 2.919), strict=True))
SECTIONS = {"LeNet-1": 4, "LeNet-4": 9, "LeNet-5": 29, "mutant1": 19, "mutant2": 19, "mutant3": 19}
"""Of the authors' code. That it has 29, 9, 4 and 19 is known; which network has which is our reading."""
PSEUDO_COUNTS = (0.5, 0.1, 0.01, 0.001)


@dataclass(frozen=True)
class Efficiency:
    """``value`` ± ``error``, and its parts: bias in standard deviations of SRS (positive: too many failures), variance
    over the variance of SRS."""

    value: float
    error: float
    bias: float
    variance: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.2f}"

    @property
    def apart(self) -> str:
        return f"{self.bias:+.2f}, {self.variance:.2f}"


def networks(run: Run) -> tuple[str, ...]:
    return ("LeNet-5", "mutant1") if run.short else NETWORKS


@cache
def network(folder: Path, name: str) -> tuple[Frame, Floats]:
    """Activations and confidence; 1.0 where the network fails."""
    with np.load(folder / "ces_fse19" / f"{name}.npz") as file:
        doubt = 1.0 - file["confidence"].astype(np.float64)
        frame = Frame(len(doubt), "classification", {"confidence": doubt}, file["activations"], traits=derived.traits())
        return frame, file["failed"].astype(np.float64)


def efficiency(errors: Floats, sizes: npt.NDArray[np.int64], variance: float) -> Efficiency:
    """From errors, one row per repetition and one column per size."""
    standard = errors * np.sqrt(sizes / variance)
    each = (standard**2).mean(axis=1)
    spread = float(each.std(ddof=1)) / math.sqrt(len(each))
    return Efficiency(float(each.mean()), spread, float(standard.mean()), float(standard.var(axis=0).mean()))


def of_walks(losses: Floats, walk: Callable[[int], npt.NDArray[np.int64]], repetitions: int) -> Floats:
    """Errors of a technique whose estimate is the plain mean, and whose larger samples begin with the smaller ones."""
    means = [np.cumsum(losses[walk(r)])[SIZES - 1] / SIZES for r in range(repetitions)]
    return np.asarray(np.array(means) - losses.mean())


def ces_errors(run: Run, name: str, spec: str = "ces") -> Floats:
    """One row per walk, one column per size."""
    frame, losses = network(run.data, name)
    design = build_design(spec)

    def walk(seed: int) -> npt.NDArray[np.int64]:
        return design.draw(frame, None, budget=int(SIZES[-1]), seed=seed).items

    times = run.times(REPETITIONS)
    return run.kept(f"{name} {design} {times}", lambda: of_walks(losses, walk, times))


def ces(run: Run, name: str, spec: str = "ces") -> Efficiency:
    return efficiency(ces_errors(run, name, spec), SIZES, float(network(run.data, name)[1].var()))


def authors(run: Run, name: str) -> Efficiency:
    frame, losses = network(run.data, name)
    assert frame.activations is not None
    settings = authors_ces.Settings(SECTIONS[name])
    whole = authors_ces.population(frame.activations, settings.sections)
    times = run.times(REPETITIONS)

    def walk(seed: int) -> npt.NDArray[np.int64]:
        return authors_ces.walk(whole, settings, int(SIZES[-1]), np.random.default_rng(seed))

    errors = run.kept(f"{name} {settings} {times}", lambda: of_walks(losses, walk, times))
    return efficiency(errors, SIZES, float(losses.var()))


def css(run: Run, name: str, spec: str = "css") -> Efficiency:
    frame, losses = network(run.data, name)
    errors = errors_of(frame, losses, spec, SIZES, run.times(CSS_REPETITIONS))
    return efficiency(errors, SIZES, float(losses.var()))


def errors_of(
    frame: Frame, losses: Floats, spec: str, sizes: Sequence[int] | npt.NDArray[np.int64], times: int
) -> Floats:
    """Estimate minus truth, one row per repetition and one column per size; each size is drawn for itself."""
    design = build_design(spec)
    truth = losses.mean()

    def error(size: int, seed: int) -> float:
        sample = design.draw(frame, None, budget=size, seed=seed)
        seen = losses[sample.items]
        return estimate(Labelled(sample, seen, seen > 0, frame.task)).value - float(truth)

    return np.array([[error(int(n), 1_000 * int(n) + r) for n in sizes] for r in range(times)])


def table_1(run: Run) -> str:
    """E of CES: published, the authors' algorithm repeated, ours; bias and variance apart, and how far they differ."""
    rows = []
    for name in networks(run):
        losses = network(run.data, name)[1]
        theirs, ours = authors(run, name), ces(run, name)
        off = (ours.value - theirs.value) / math.hypot(ours.error, theirs.error)
        both = [theirs, theirs.apart, ours, ours.apart, f"{off:+.1f}"]
        rows.append([name, f"{1 - losses.mean():.3f}", PUBLISHED[name], *both])
    heads = ["network", "accuracy", "published", "authors' algorithm", "bias, variance", "ours", "bias, variance"]
    return table([*heads, "difference, standard errors"], rows)


def pseudo_count(run: Run) -> str:
    """E of our CES by pseudo-count, and the one that the other five networks choose by their geometric mean."""
    found = {name: {p: ces(run, name, f"ces:smoothing={p}") for p in PSEUDO_COUNTS} for name in networks(run)}
    by_others = {
        name: min(PSEUDO_COUNTS, key=partial(_mean, [found[one] for one in found if one != name])) for name in found
    }
    rows = [
        [name, *(f"{one} ({one.bias:+.2f})" for one in line.values()), by_others[name], line[by_others[name]]]
        for name, line in found.items()
    ]
    with_it = math.exp(np.mean([math.log(line[by_others[name]].value) for name, line in found.items()]))
    overall = [f"{_mean(list(found.values()), p):.3f}" for p in PSEUDO_COUNTS]
    heads = ["network", *map(str, PSEUDO_COUNTS), "chosen by the others", "E with it"]
    return table(heads, [*rows, ["geometric mean", *overall, "", f"{with_it:.3f}"]])


def _mean(lines: Sequence[Mapping[float, Efficiency]], count: float) -> float:
    """The geometric mean of E: shares of labels are ratios."""
    return math.exp(float(np.mean([math.log(line[count].value) for line in lines])))


def stratified(run: Run) -> str:
    """E of CSS: by shares of the pool, as in the experiments, and by sections of the confidence range."""
    forms = (
        "css",
        "css:allocation=proportional",
        "css:by=range,shares=5,allocation=proportional",
        "css:by=range,shares=3",
    )
    rows = [[name, PUBLISHED_CSS[name], *(css(run, name, form) for form in forms)] for name in networks(run)]
    return table(["network", "published", *(f"`{form}`" for form in forms)], rows)


def table_3(run: Run) -> str:
    """Small pools of the first mutant: 30 of 100 items, 50 of 300; 30 random pools."""
    frame, losses = network(run.data, "mutant1")
    rows = []
    for number, items, labels, published in ((17, 100, 30, "0.443, 0.154"), (18, 300, 50, "0.375, 0.115")):
        found = [_pool(frame, losses, items, labels, seed, run.times(50)) for seed in range(run.times(30))]
        shown = f"{np.mean(found):.3f}, {np.std(found):.3f}, {max(found):.3f}"
        rows.append([number, items, labels, published, shown])
    return table(["experiment", "pool", "labels", "published mean, sd", "ours: mean, sd, maximum"], rows)


def _pool(frame: Frame, losses: Floats, items: int, labels: int, seed: int, times: int) -> float:
    assert frame.activations is not None
    at = np.random.default_rng([seed, items]).choice(len(losses), items, replace=False)
    part = Frame(items, "classification", {}, frame.activations[at], traits=derived.traits())
    errors = errors_of(part, losses[at], "ces", [labels], times)
    return float((errors**2).mean() / (losses[at].var() / labels))


def figure_3(run: Run) -> str:
    """Standard deviation (root of the MSE) in percent against the sample size; SRS by its formula."""
    shown = [size for size in SIZES.tolist() if size in (35, 60, 90, 120, 150, 180)]
    rows = []
    for name in networks(run):
        frame, losses = network(run.data, name)
        rows.append([name, "srs", *(f"{100 * math.sqrt(losses.var() / n):.2f}" for n in shown)])
        found = {
            "css": errors_of(frame, losses, "css", shown, run.times(200)),
            "ces": ces_errors(run, name)[:, np.isin(SIZES, shown)],
        }
        for technique, errors in found.items():
            rows.append([name, technique, *(f"{100 * error:.2f}" for error in np.sqrt((errors**2).mean(axis=0)))])
    return table(["network", "technique", *(f"n = {n}" for n in shown)], rows)


PARTS: dict[str, Part] = {
    "table-1": table_1,
    "pseudo-count": pseudo_count,
    "css": stratified,
    "table-3": table_3,
    "figure-3": figure_3,
}

if __name__ == "__main__":
    main("fse19", PARTS, __doc__)
