"""Do the intervals of slices cover, and those of recall and F1?

    python benchmarks/slices_study.py FOLDER [--repetitions 200] [--images FOLDER] [--subjects NAME,...]

FOLDER holds the published subjects, which are not part of this project; leaky auxiliary variables are left out. True
classes are published for none of them: with --images (mnist.npz) those of the two MNIST subjects are known, for the
others they are made up where the model fails. The tables are printed as Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from fieldcheck import Pool, load
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.metrics import metrics
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.assessment.slices import slices
from fieldcheck.core.types import IntArray

LEAKS = {"CN12_CIFAR10": "lsa"}
BUDGETS = (200, 800)
SPECS = ("waves", "waves:objective=estimate", "srs")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--images", type=Path)
    parser.add_argument("--subjects", default="", help="all but the regression one")
    parser.add_argument("--designs", default=",".join(SPECS), help="of the slices")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    given = parser.parse_args()
    paths = [path for path in sorted(given.folder.glob("*.csv")) if "dave" not in path.name]
    wanted, budgets = given.subjects.split(","), [int(one) for one in given.budgets.split(",")]
    subjects = [_subject(path) for path in paths if not given.subjects or path.stem in wanted]
    slice_table(subjects, given.designs.split(","), budgets, given.repetitions)
    metric_table(subjects, budgets, given.repetitions, given.images)


def _subject(path: Path) -> tuple[Pool, Field]:
    pool = load(path)
    names = [name for name in auxiliary_names(build_design("waves"), pool) if LEAKS.get(pool.name) != name]
    if pool.name in LEAKS:
        kept = {key: column for key, column in pool.columns.items() if key.lower() != LEAKS[pool.name]}
        pool = Pool(**{**vars(pool), "columns": kept})
    return pool, Field.of(pool, auxiliary=names)


def slice_table(
    subjects: Sequence[tuple[Pool, Field]], specs: Sequence[str], budgets: Sequence[int], repetitions: int
) -> None:
    print(f"## Slices by predicted class, 95 % intervals, {repetitions} repetitions\n")
    print(
        "| subject | technique | labels | slices shown | cover | worst class | mean half-width |\n" + "|---" * 7 + "|"
    )
    for pool, field in subjects:
        truth = _accuracies(pool, field)
        for spec in specs:
            for budget in budgets:
                seen = list(_slices(pool, field, spec, budget=budget, repetitions=repetitions))
                line = f"| {pool.name} | {spec} | {budget} | {len(seen)} of {len(truth) * repetitions} |"
                if not seen:
                    print(line + " | | |")
                    continue
                hits = {name: [low <= truth[name] <= high for one, low, high in seen if one == name] for name in truth}
                worst = min(
                    (float(np.mean(inside)) for inside in hits.values() if len(inside) >= repetitions / 4), default=1
                )
                cover = np.mean([hit for inside in hits.values() for hit in inside])
                half = np.mean([high - low for _, low, high in seen]) / 2
                print(f"{line} {cover:.3f} | {worst:.3f} | {half:.3f} |", flush=True)


def _accuracies(pool: Pool, field: Field) -> dict[str, float]:
    codes = np.asarray(pool.predictions)
    return {pool.classes[code]: 1 - float(field.losses[codes == code].mean()) for code in np.unique(codes).tolist()}


def _slices(
    pool: Pool, field: Field, spec: str, *, budget: int, repetitions: int
) -> Iterator[tuple[str, float, float]]:
    for seed in range(repetitions):
        for row in slices(play(field, build_design(spec), budget=budget, seed=seed), pool).rows:
            if row.interval is not None:
                yield row.name, row.interval.low, row.interval.high


def metric_table(
    subjects: Sequence[tuple[Pool, Field]], budgets: Sequence[int], repetitions: int, images: Path | None
) -> None:
    print(f"\n## Recall and F1 (waves), 95 % intervals, {repetitions} repetitions\n")
    print(
        "| subject | true classes | labels | recall: shown, cover | F1: shown, cover | bounds: shown, hold "
        "| macro recall | macro F1 |"
    )
    print("|---" * 8 + "|")
    for pool, field in subjects:
        if len(pool.classes) > 20:
            continue
        truth, known = _true_classes(pool, field, images)
        for budget in budgets:
            _metric_row(pool, field, truth, known=known, budget=budget, repetitions=repetitions)


def _metric_row(pool: Pool, field: Field, truth: IntArray, *, known: bool, budget: int, repetitions: int) -> None:
    right = _true_scores(np.asarray(pool.predictions), truth, pool.classes)
    seen: dict[str, list[bool]] = {}
    for seed in range(repetitions):
        labelled = play(field, build_design("waves"), budget=budget, seed=seed)
        classes = [pool.classes[code] for code in truth[labelled.sample.items].tolist()]
        for score in metrics(labelled, pool, classes, ("recall", "f1")).scores:
            if score.interval is not None:
                kind = "bound" if score.value is None else score.metric
                key = f"macro {score.metric}" if score.name == "macro" else kind
                seen.setdefault(key, []).append(right[score.metric, score.name] in score.interval)
    shown = [f"{len(seen.get(key, []))}, {np.mean(seen.get(key, [np.nan])):.3f}" for key in ("recall", "f1", "bound")]
    macro = [f"{np.mean(seen.get(f'macro {key}', [np.nan])):.3f}" for key in ("recall", "f1")]
    cells = (pool.name, "real" if known else "made up", str(budget), *shown, *macro)
    print("| " + " | ".join(cells) + " |", flush=True)


def _true_classes(pool: Pool, field: Field, images: Path | None) -> tuple[IntArray, bool]:
    predicted = np.asarray(pool.predictions).astype(np.int64)
    if images is not None and pool.name.endswith("MNIST"):
        digits = np.load(images / "mnist.npz")["y_test"]
        place = {name: code for code, name in enumerate(pool.classes)}
        found = np.array([place[str(digit)] for digit in digits.tolist()], dtype=np.int64)
        if np.array_equal(found != predicted, field.failed):
            return found, True
    rng = np.random.default_rng(3)
    other = (predicted + 1 + np.minimum(rng.geometric(0.4, len(predicted)), len(pool.classes) - 1) - 1) % len(
        pool.classes
    )
    return np.where(field.failed, other, predicted), False


def _true_scores(predicted: IntArray, truth: IntArray, names: Sequence[str]) -> dict[tuple[str, str], float]:
    matrix = np.zeros((len(names), len(names)))
    np.add.at(matrix, (predicted, truth), 1)
    hits, said, are = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    by = {"recall": hits / are, "f1": 2 * hits / (said + are)}
    each = {
        (metric, name): float(value) for metric, values in by.items() for name, value in zip(names, values, strict=True)
    }
    return each | {(metric, "macro"): float(values.mean()) for metric, values in by.items()}


if __name__ == "__main__":
    main()
