"""Stop rules on the published subjects: coverage at the stop, false claims, and labels needed.

    python benchmarks/stop_rules.py FOLDER [--repetitions 300] [--items 10000] [--journal FILE] [--only PASS]

FOLDER holds labelled pools (the published subjects, which are not part of this project). Every campaign is drawn once up
to the last look, and what each look would have shown is kept; all rules are then read from these. Pools are cut at
random to --items, which leaves fewer of them than the rules are made for but takes a third of the time. With a journal,
finished passes are not run again. The tables are printed as Markdown.
"""

from __future__ import annotations

import argparse
import math
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.campaign.choose import auxiliary_names
from fieldcheck.campaign.field import Field
from fieldcheck.campaign.simulate import play
from fieldcheck.campaign.stop import FIRST, RARE, group_sequential
from fieldcheck.core.sample import Labelled
from fieldcheck.designs import Waves
from fieldcheck.estimators import Fit
from fieldcheck.numerics.boundary import boundary
from fieldcheck.numerics.hypergeometric_sequence import sequence_bounds
from fieldcheck.numerics.risk import frame_model
from fieldcheck.numerics.waves import open_schedule
from fieldcheck.numerics.wilson import critical, effective_wilson

FloatArray = npt.NDArray[np.float64]

SUBJECTS = (
    *("CN5_MNIST", "LN5_MNIST", "CN12_CIFAR10", "VGG16_CIFAR10"),
    *("model_D", "model_E", "model_G", "model_H"),
)
INACCURATE = ("CN12_CIFAR10", "model_D", "model_E", "model_G", "model_H")
"""Those that need more than SHORT labels for two points."""

LEAKY = {"CN12_CIFAR10": "confidence+dsa"}
"""Subjects one of whose auxiliary variables gives away the outcome, and what is left."""

SHORT, LONG = 581, 2217
GAP, WIDE_GAP = 0.03, 0.08
"""Distance of the threshold from the truth: for subjects over and under 90 % accuracy."""

HIDDEN = 0.02
KINDS = {
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
    journal = Journal(given.journal)

    def passes(kind: str, repetitions: int) -> Iterator[Pass]:
        for name in INACCURATE if kind == "long" else SUBJECTS:
            yield journal.get(
                (kind, name, repetitions, given.items),
                lambda name=name: measure(given.folder / f"{name}.csv", given.items, repetitions, **KINDS[kind]),  # type: ignore[misc]
            )

    if given.only:
        list(passes(given.only, given.repetitions))
        return
    wary = list(passes("wary", given.repetitions))
    print(f"{given.repetitions} campaigns a subject, looks up to {SHORT} labels, waves:floor=0.5.\n")
    false_claims(wary)
    gaps(wary)
    half_widths([one for one in wary if one.rare], given.folder, target=0.02)
    hidden = list(passes("hidden", given.repetitions // 3))
    blind_spots(hidden)
    long = list(passes("long", given.repetitions // 3))
    print(f"{given.repetitions // 3} campaigns a subject, looks up to {LONG} labels, waves.\n")
    half_widths(long, given.folder, target=0.02)
    sequences(given.folder, given.items)


@dataclass(frozen=True)
class Journal:
    """Results by key, in a file if there is one."""

    path: Path | None

    def get(self, key: tuple[object, ...], make: Callable[[], Pass]) -> Pass:
        known: dict[tuple[object, ...], Pass] = {}
        if self.path is not None and self.path.exists():
            known = pickle.loads(self.path.read_bytes())  # noqa: S301 -- its own
        if key not in known:
            known[key] = make()
            if self.path is not None:
                self.path.write_bytes(pickle.dumps(known))
        return known[key]


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
    model = frame.memo("risk", lambda: frame_model(frame.auxiliary, frame.predictions, frame.size, frame.task))
    believed = float(model.expected(model.linear(model.prior())).mean())
    ends = tuple(np.cumsum(open_schedule(FIRST, int(last))).tolist())
    limits = boundary(ends, frame.size)
    rows = [campaign(field, ends, limits, start=start, floor=floor, seed=seed) for seed in range(repetitions)]
    return Pass(path.stem, frame.size, field.truth, believed < RARE, np.array(rows))


def campaign(
    field: Field, ends: tuple[int, ...], limits: tuple[float, ...], *, start: float, floor: float, seed: int
) -> list[list[float]]:
    labelled = play(field, Waves(first=FIRST, floor=floor), budget=ends[-1], seed=seed)
    return [look(labelled, n, limit) for n, limit in zip(ends, limits, strict=True) if n >= start]


def look(labelled: Labelled, labels: int, limit: float) -> list[float]:
    fit = Fit.of(Labelled(labelled.sample.prefix(labels), labelled.losses[:labels], labelled.failed[:labels]))
    plain, guarded, claim = fit.interval(0.95), fit.guarded(0.95), group_sequential(fit, limit, level=0.95)
    _, unguarded = effective_wilson(fit.value, fit.variance, labels, z=limit * critical(labels, 0.95) / 1.96)
    bounds = (plain.high, plain.low, guarded.high, guarded.low, claim.high, claim.low, unguarded)
    low, high, guarded_low, guarded_high, claim_low, claim_high, plain_low = (1 - bound for bound in bounds)
    return [labels, 1 - fit.value, low, high, guarded_low, guarded_high, claim_low, claim_high, plain_low]


def first_true(crossed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Index of the first look that is True, one per campaign; -1 where there is none."""
    return np.where(crossed.any(axis=1), crossed.argmax(axis=1), -1)


def claims(one: Pass, threshold: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares of campaigns that claim "at least" and "below", and their labels at the end."""
    up, down = one.column("claim_low") >= threshold, one.column("claim_high") < threshold
    at = first_true(up | down)
    row = np.arange(len(at))
    labels = one.column("labels")[row, at]
    return (at >= 0) & up[row, at], (at >= 0) & down[row, at], labels


def false_claims(passes: list[Pass]) -> None:
    print("## Certify, the truth on the threshold: campaigns that ever make a claim\n")
    print(
        '| subject | accuracy | "at least" | "below" | together | 1.96 at every look instead |\n|---|---|---|---|---|---|'
    )
    for one in passes:
        up, down, _ = claims(one, one.truth)
        naive = ((one.column("low") > one.truth) | (one.column("high") < one.truth)).any(axis=1).mean()
        both = up.mean() + down.mean()
        print(f"| {one.subject} | {one.truth:.3f} | {up.mean():.3f} | {down.mean():.3f} | {both:.3f} | {naive:.3f} |")
    print(f"\nMonte-Carlo standard error {math.sqrt(0.05 * 0.95 / len(passes[0].looks)):.3f}.\n")


def gaps(passes: list[Pass]) -> None:
    print("## Certify, the truth 3 points from the threshold (8 points for those under 90 % accuracy)\n")
    print(
        "Labels relative to a fixed simple random sample with 90 % power that knows the gap (undecided ones count as 581).\n"
    )
    print(
        "| subject | SRS labels | truth above: decided, labels, ratio | wrong | truth below: decided, labels, ratio | wrong |"
    )
    print("|---|---|---|---|---|---|")
    for one in passes:
        cells, gap = [], GAP if one.truth > 0.9 else WIDE_GAP
        for side in (-1, 1):
            threshold = min(one.truth + side * gap, 0.9999)
            up, down, labels = claims(one, threshold)
            right, wrong = (up, down) if side < 0 else (down, up)
            fixed = fixed_srs(one, threshold)
            cells.append(
                (fixed, f"{right.mean():.2f}, {labels.mean():.0f}, {labels.mean() / fixed:.2f} | {wrong.mean():.3f}")
            )
        print(f"| {one.subject} | {cells[0][0]:.0f} / {cells[1][0]:.0f} | {cells[0][1]} | {cells[1][1]} |")
    print()


def fixed_srs(one: Pass, threshold: float) -> float:
    """Labels of a one-sided test at 2.5 % with 90 % power, normal approximation, finite pool."""
    null, true = threshold * (1 - threshold), one.truth * (1 - one.truth)
    n = ((1.96 * math.sqrt(null) + 1.2816 * math.sqrt(true)) / (threshold - one.truth)) ** 2
    return n / (1 + n / one.population)


def half_widths(passes: list[Pass], *, target: float) -> None:
    print(f"## Half-width {target:g}\n")
    print(
        "| subject | accuracy | interval | reached | mean labels | of an SRS that knew the rate | coverage at the stop | least coverage at a fixed look |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for one in passes:
        prefix = "guarded_" if one.rare else ""
        low, high = one.column(prefix + "low"), one.column(prefix + "high")
        at = first_true((high - low) / 2 <= target)
        row, done = np.arange(len(at)), at >= 0
        covers = (low <= one.truth) & (one.truth <= high)
        labels = one.column("labels")[row, at]
        known = one.truth * (1 - one.truth) * (1.96 / target) ** 2
        known /= 1 + known / one.population
        print(
            f"| {one.subject} | {one.truth:.3f} | {'guarded' if one.rare else 'standard'} | {done.mean():.2f} "
            f"| {labels.mean():.0f} | {labels.mean() / known:.2f} | {covers[row, at].mean():.3f} | {covers.mean(axis=0).min():.3f} |"
        )
    print()


def blind_spots(passes: list[Pass], title: str) -> None:
    print(f"## Blind spots, {title}: {100 * HIDDEN:g} % of the pool, its most confident items, made to fail\n")
    print(
        '| subject | accuracy | false "at least", guarded | plain variance | coverage at a half-width of .05, formal |\n|---|---|---|---|---|'
    )
    for one in passes:
        false = (one.column("claim_low") >= one.truth).any(axis=1).mean()
        plain = (one.column("plain_low") >= one.truth).any(axis=1).mean()
        low, high = one.column("guarded_low"), one.column("guarded_high")
        at = first_true((high - low) / 2 <= 0.05)
        row = np.arange(len(at))
        covered = ((low <= one.truth) & (one.truth <= high))[row, at].mean()
        print(f"| {one.subject} | {one.truth:.3f} | {false:.3f} | {plain:.3f} | {covered:.3f} |")
    print()


def sequences(folder: Path, items: int, *, repetitions: int = 2000, last: int = 2000) -> None:
    print(
        f"## Exact sequence of simple random sampling, looked at after each of {last:,} labels ({repetitions:,} campaigns)\n"
    )
    print(
        "| subject | false claims, truth on the threshold | 3 points above: decided, mean labels, of a fixed SRS |\n|---|---|---|"
    )
    for name in SUBJECTS:
        field = load(folder / f"{name}.csv", items)
        rng = np.random.default_rng(1)
        n = np.arange(1, last + 1)
        orders = np.array([rng.permutation(field.losses)[:last] for _ in range(repetitions)])
        failures = np.cumsum(orders, axis=1).astype(np.int64)
        false = crossings(failures, n, field, field.truth)
        at = crossings(failures, n, field, field.truth - GAP)
        one = Pass(name, field.frame.size, field.truth, False, np.zeros((0, 0, 0)))
        ratio = np.where(at >= 0, at + 1, last).mean() / fixed_srs(one, field.truth - GAP)
        print(
            f"| {name} | {(false >= 0).mean():.4f} | {(at >= 0).mean():.2f}, "
            f"{np.where(at >= 0, at + 1, last).mean():.0f}, {ratio:.2f} |"
        )
    print()


def crossings(
    failures: npt.NDArray[np.int64], n: npt.NDArray[np.int64], field: Field, threshold: float
) -> npt.NDArray[np.int64]:
    """First label that decides, one per campaign; bounds depend on (failures, labels) only and are looked up."""
    most = int(failures.max())
    grid = np.repeat(np.arange(most + 1)[:, None], len(n), axis=1)
    grid = np.minimum(grid, n)
    low, high = sequence_bounds(
        grid, np.broadcast_to(n, grid.shape), population=field.frame.size, expected=1 - threshold, level=0.95
    )
    rate = round((1 - threshold) * field.frame.size) / field.frame.size
    decided = (high < rate) | (low > rate) if threshold == field.truth else (high <= rate) | (low > rate)
    return first_true(decided[failures, np.arange(len(n))])


if __name__ == "__main__":
    main()
