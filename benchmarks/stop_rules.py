"""Stop rules on the published subjects: coverage at the stop, false claims, and labels needed.

    python benchmarks/stop_rules.py FOLDER [--repetitions 300] [--items 10000] [--journal FOLDER] [--only PASS]

FOLDER holds labelled pools (the published subjects, which are not part of this project). Every campaign is drawn once
up to the last look, and what each look would have shown is kept; all rules are then read from that. Larger pools are
cut at random to --items, which saves two thirds of the time. With a journal, finished passes are not run again. The
tables are printed as Markdown.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.sampling import auxiliary_names
from fieldcheck.accuracy.assessment.simulate import play, run_until
from fieldcheck.accuracy.assessment.stopping import HalfWidth, group_sequential
from fieldcheck.accuracy.designs import Srs, Waves
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics.intervals.boundary import boundary
from fieldcheck.numerics.intervals.sequence import sequence_bounds
from fieldcheck.numerics.intervals.wilson import critical, effective_wilson
from fieldcheck.numerics.regression.risk import model_of
from fieldcheck.numerics.sampling.schedule import OPEN_FIRST, open_schedule

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

SUBJECTS = (
    *("CN5_MNIST", "LN5_MNIST", "CN12_CIFAR10", "VGG16_CIFAR10"),
    *("model_D", "model_E", "model_G", "model_H"),
)
INACCURATE = ("CN12_CIFAR10", "model_D", "model_E", "model_G", "model_H")
"""Those that need more than SHORT labels for two points."""

LEAKY = {"CN12_CIFAR10": "confidence+dsa"}
"""Subjects one of whose auxiliary variables gives away the outcome, and what is left."""

SHORT, LONG = 581, 2217
PLAIN = 300
"""Campaigns of simple random sampling, which are cheap."""

GAP, WIDE_GAP = 0.03, 0.08
"""Distance of the threshold from the truth: for subjects over and under 90 % accuracy."""

HIDDEN = 0.02
KINDS: dict[str, dict[str, float]] = {
    "wary": {"last": SHORT, "floor": 0.5},
    "hidden": {"last": SHORT, "floor": 0.5, "hidden": HIDDEN},
    "long": {"last": LONG, "start": 298},
}
"""The passes: what rules that go by the guarded variance draw, the same with blind spots, and long campaigns."""

COLUMNS = ("labels", "value", "low", "high", "guarded_low", "guarded_high", "claim_low", "claim_high", "plain_low")


@dataclass(frozen=True)
class Pass:
    """One subject, many campaigns. ``looks``: campaign × look × COLUMNS, on the scale of accuracy."""

    subject: str
    population: int
    truth: float
    rare: bool
    looks: FloatArray

    def column(self, name: str) -> FloatArray:
        return np.asarray(self.looks[:, :, COLUMNS.index(name)])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--only", choices=list(KINDS), help="run this pass and keep it in the journal")
    given = parser.parse_args()

    def passes(kind: str, repetitions: int) -> list[Pass]:
        return [
            kept(
                given.journal,
                f"{kind}_{name}_{repetitions}_{given.items}",
                partial(measure, given.folder / f"{name}.csv", given.items, repetitions, **KINDS[kind]),
            )
            for name in (INACCURATE if kind == "long" else SUBJECTS)
        ]

    if given.only:
        passes(given.only, given.repetitions)
        return
    wary = passes("wary", given.repetitions)
    print(f"{given.repetitions} campaigns a subject, looks up to {SHORT} labels, waves:floor=0.5.\n")
    false_claims(wary)
    gaps(wary)
    half_widths([one for one in wary if one.rare], given.folder, target=0.02)
    hidden = passes("hidden", given.repetitions // 3)
    blind_spots(hidden)
    long = passes("long", given.repetitions // 3)
    print(f"{given.repetitions // 3} campaigns a subject, looks up to {LONG} labels, waves.\n")
    half_widths(long, given.folder, target=0.02)
    sequences(given.folder, given.items)


def kept(journal: Path | None, stem: str, make: Callable[[], Pass]) -> Pass:
    """A finished pass from the journal, or a new one."""
    path = None if journal is None else journal / f"{stem}.npz"
    if path is not None and path.exists():
        with np.load(path) as old:
            return Pass(
                str(old["subject"]), int(old["population"]), float(old["truth"]), bool(old["rare"]), old["looks"]
            )
    new = make()
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        np.savez(path, **vars(new))
    return new


def load(path: Path, items: int, *, hidden: float = 0.0) -> Field:
    """The subject cut to ``items``; with ``hidden``, that share of its most confident items made to fail."""
    pool = sources.load(path)
    if len(pool) > items:
        pool = pool.select(np.sort(np.random.default_rng(0).permutation(len(pool))[:items]))
    names = auxiliary_names(Waves(LEAKY.get(path.stem, "auto")), pool)
    field = Field.of(pool, auxiliary=names)
    losses = field.losses.copy()
    if hidden:
        losses[np.argsort(field.frame.chi("confidence"), kind="stable")[: round(hidden * len(pool))]] = 1.0
    return Field(field.name, field.frame, losses, losses > 0, None, "accuracy", 1 - float(losses.mean()))


def measure(
    path: Path, items: int, repetitions: int, *, last: float, start: float = 0, hidden: float = 0, floor: float = 0.2
) -> Pass:
    field = load(path, items, hidden=hidden)
    frame = field.frame
    model = model_of(frame)
    believed = float(model.expected(model.prior()).mean())
    ends = tuple(np.cumsum(open_schedule(OPEN_FIRST, int(last))).tolist())
    limits = boundary(ends, frame.size)
    rows = [campaign(field, ends, limits, start=start, floor=floor, seed=seed) for seed in range(repetitions)]
    return Pass(path.stem, frame.size, field.truth, believed < 0.05, np.array(rows))


def campaign(
    field: Field, ends: tuple[int, ...], limits: tuple[float, ...], *, start: float, floor: float, seed: int
) -> list[list[float]]:
    labelled = play(field, Waves(first=OPEN_FIRST, floor=floor), budget=ends[-1], seed=seed)
    return [look(labelled, n, limit) for n, limit in zip(ends, limits, strict=True) if n >= start]


def look(labelled: Labelled, labels: int, limit: float) -> list[float]:
    first = Labelled(labelled.sample.prefix(labels), labelled.losses[:labels], labelled.failed[:labels])
    fit = Fit.of(first)
    plain, guarded, claim = fit.trusting(0.95), fit.protected(0.95), group_sequential(first, limit, level=0.95)
    _, unguarded = effective_wilson(fit.value, fit.variance, labels, z=limit * critical(labels, 0.95) / 1.96)
    bounds = (plain.high, plain.low, guarded.high, guarded.low, claim.high, claim.low, unguarded)
    low, high, guarded_low, guarded_high, claim_low, claim_high, plain_low = (1 - bound for bound in bounds)
    return [labels, 1 - fit.value, low, high, guarded_low, guarded_high, claim_low, claim_high, plain_low]


def first_true(crossed: BoolArray) -> IntArray:
    """Index of the first look that is True, one per campaign; -1 where there is none."""
    return np.where(crossed.any(axis=1), crossed.argmax(axis=1), -1)


def claims(one: Pass, threshold: float) -> tuple[BoolArray, BoolArray, FloatArray]:
    """Which campaigns claim "at least", and "below", and their labels at the end."""
    up, down = one.column("claim_low") >= threshold, one.column("claim_high") < threshold
    at = first_true(up | down)
    row = np.arange(len(at))
    labels = one.column("labels")[row, at]
    return (at >= 0) & up[row, at], (at >= 0) & down[row, at], labels


def head(title: str, *columns: str) -> None:
    print(f"## {title}\n")
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")


def row(*cells: object) -> None:
    print("| " + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |")


def false_claims(passes: list[Pass]) -> None:
    title = "Certify, the truth on the threshold: share of campaigns that ever make a claim"
    head(title, "subject", "accuracy", '"at least"', '"below"', "together", "with 1.96 at every look instead")
    for one in passes:
        up, down, _ = claims(one, one.truth)
        naive = ((one.column("low") > one.truth) | (one.column("high") < one.truth)).any(axis=1)
        row(one.subject, one.truth, *(float(share.mean()) for share in (up, down, up | down, naive)))
    print(f"\nMonte-Carlo standard error {math.sqrt(0.05 * 0.95 / len(passes[0].looks)):.3f}.\n")


def gaps(passes: list[Pass]) -> None:
    title = "Certify, the truth 3 points from the threshold (8 points for those under 90 % accuracy)"
    beside = ("decided", "wrong", "mean labels", "fixed SRS", "ratio")
    head(title, "subject", "truth is", *beside)
    for one in passes:
        gap = GAP if one.truth > 0.9 else WIDE_GAP
        for side, word in ((-1, "above"), (1, "below")):
            threshold = one.truth + side * gap
            if threshold >= 1:
                continue
            up, down, labels = claims(one, threshold)
            right, wrong = (up, down) if side < 0 else (down, up)
            fixed, mean = fixed_srs(one, threshold), float(labels.mean())
            shares = (float(right.mean()), float(wrong.mean()))
            row(one.subject, word, *shares, f"{mean:.0f}", f"{fixed:.0f}", f"{mean / fixed:.2f}")
    print(f"\nFixed SRS: knows the gap, 90 % power, one-sided 2.5 %. Undecided campaigns count as {SHORT} labels.\n")


def fixed_srs(one: Pass, threshold: float) -> float:
    """Labels of a one-sided test at 2.5 % with 90 % power, normal approximation, finite pool."""
    null, true = threshold * (1 - threshold), one.truth * (1 - one.truth)
    n = ((1.96 * math.sqrt(null) + 1.2816 * math.sqrt(true)) / (threshold - one.truth)) ** 2
    return n / (1 + n / one.population)


def half_widths(passes: list[Pass], folder: Path, *, target: float) -> None:
    columns = ("subject", "accuracy", "interval", "reached", "mean labels", "SRS, same rule", "SRS that knew the rate")
    head(f"Half-width {target:g}", *columns, "coverage at the stop", "least at a fixed look", "of SRS")
    for one in passes:
        prefix = "guarded_" if one.rare else ""
        low, high = one.column(prefix + "low"), one.column(prefix + "high")
        at = first_true((high - low) / 2 <= target)
        which = np.arange(len(at))
        covers = (low <= one.truth) & (one.truth <= high)
        labels, (plain, plain_covers) = one.column("labels")[which, at], plain_stops(one, folder, target)
        row(
            one.subject,
            one.truth,
            "guarded" if one.rare else "standard",
            float((at >= 0).mean()),
            *(f"{number:.0f}" for number in (labels.mean(), plain, known_rate(one, target))),
            float(covers[which, at].mean()),
            float(covers.mean(axis=0).min()),
            plain_covers,
        )
    print()


def known_rate(one: Pass, target: float) -> float:
    """Labels of a simple random sample whose size was set for this half-width with the true rate."""
    known = one.truth * (1 - one.truth) * (1.96 / target) ** 2
    return known / (1 + known / one.population)


def plain_stops(one: Pass, folder: Path, target: float) -> tuple[float, float]:
    """Mean labels and coverage at the stop of simple random sampling under the same rule."""
    field = load(folder / f"{one.subject}.csv", one.population)
    stops = [run_until(field, Srs(), HalfWidth(target), max_labels=one.population, seed=seed) for seed in range(PLAIN)]
    covers = [one.truth in stop.estimate.interval for stop in stops]
    return float(np.mean([stop.labels for stop in stops])), float(np.mean(covers))


def blind_spots(passes: list[Pass]) -> None:
    title = (
        f"Blind spots: the most confident {100 * HIDDEN:g} % of the pool made to fail, {len(passes[0].looks)} campaigns"
    )
    head(title, "subject", "accuracy", 'false "at least"', "with the plain variance", "coverage at ±.05, formal")
    for one in passes:
        false = (one.column("claim_low") >= one.truth).any(axis=1)
        plain = (one.column("plain_low") >= one.truth).any(axis=1)
        low, high = one.column("guarded_low"), one.column("guarded_high")
        at = first_true((high - low) / 2 <= 0.05)
        covered = ((low <= one.truth) & (one.truth <= high))[np.arange(len(at)), at]
        row(one.subject, one.truth, *(float(share.mean()) for share in (false, plain, covered)))
    print()


def sequences(folder: Path, items: int, *, repetitions: int = 1000, last: int = 2000) -> None:
    title = f"Exact sequence of SRS, a look after each of {last:,} labels, {repetitions:,} campaigns"
    columns = ("3 points above: decided", "mean labels", "of a fixed SRS")
    head(title, "subject", "false claims, truth on the threshold", *columns)
    for name in SUBJECTS:
        field = load(folder / f"{name}.csv", items)
        rng = np.random.default_rng(1)
        orders = np.array([rng.permutation(field.losses)[:last] for _ in range(repetitions)])
        failures = np.cumsum(orders, axis=1).astype(np.int64)
        false = crossings(failures, field, field.truth)
        at = crossings(failures, field, field.truth - GAP)
        labels = float(np.where(at >= 0, at + 1, last).mean())
        fixed = fixed_srs(Pass(name, field.frame.size, field.truth, False, orders), field.truth - GAP)
        row(name, float((false >= 0).mean()), float((at >= 0).mean()), f"{labels:.0f}", f"{labels / fixed:.2f}")
    print()


def crossings(failures: IntArray, field: Field, threshold: float) -> IntArray:
    """First label that decides, one per campaign; bounds depend on failures and labels only and are looked up."""
    n = np.arange(1, failures.shape[1] + 1)
    counts = np.minimum(np.arange(int(failures.max()) + 1)[:, None], n)
    low, high = sequence_bounds(
        counts, np.broadcast_to(n, counts.shape), population=field.frame.size, expected=1 - threshold, level=0.95
    )
    # Half an item to either side: on the threshold, a claim in either direction counts.
    on, half = 1 - threshold, 0.5 / field.frame.size
    decided = (high < on - half) | (low > on + half)
    return first_true(decided[failures, n - 1])


if __name__ == "__main__":
    main()
