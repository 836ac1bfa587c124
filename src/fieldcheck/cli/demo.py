"""``fieldcheck demo``: the whole of it on built-in data, in under a minute."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fieldcheck import bench as comparison
from fieldcheck import report, sources
from fieldcheck.accuracy import designs
from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.assessment.simulate import simulate
from fieldcheck.accuracy.comparison.simulate import compare
from fieldcheck.cli import options
from fieldcheck.cli.show import progress, say, say_lines, show_estimate, show_table, tell
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import Exhibit, IntervalChart, IntervalRow, Table
from fieldcheck.core.types import FloatArray
from fieldcheck.sources.digits import DigitsField, digits_field

BUDGET = 100


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report and the pool.")] = Path("demo"),
    seed: options.Seed = 0,
    repetitions: Annotated[int, typer.Option(min=2, help="Simulated campaigns per technique.")] = 30,
) -> None:
    """Train a small network on digits, assess it in a shifted field with 100 labels, and compare the techniques."""
    _make_folder(out)
    tell("training a small network on scikit-learn's digits ...")
    field = digits_field(seed)
    sources.save(field.pool, out / "pool.csv")
    sources.save(field.challenger, out / "challenger.csv")
    activations = out / "activations.npy"
    np.save(activations, field.activations)
    one_each = {design: _campaign(field, design, seed) for design in designs.registry}
    main = one_each["waves"]
    show_estimate(main)
    plan = comparison.Study(
        subjects=[field.pool],
        designs=tuple(one_each),
        auxiliaries=["confidence"],
        budgets=[50, BUDGET, 200],
        repetitions=repetitions,
        seed=seed,
        activations={field.pool.name: activations},
    )
    with progress("comparing techniques") as report_progress:
        result = comparison.run(plan, progress=lambda done, total, _: report_progress(done, total))
    analysis = comparison.analyse(result)
    table = _comparison(result)
    say()
    show_table(table)
    exhibits = [_beside_each_other(list(one_each.values())), _failures(field, main, seed), table, *analysis]
    page = report.estimate_page(main, exhibits=exhibits, title="Digits in the field", lead=_lead(field, main))
    report.write_text(out / "report.html", page)
    rates = map(words.percent, (field.laboratory_accuracy, main.value, main.truth or math.nan))
    say_lines("\nlaboratory {}; field estimate {}; truth {}".format(*rates))
    say_lines(compare(field.challenger, field.pool, budget=BUDGET, seed=seed).sentence())
    say(f"report: {out / 'report.html'}   (pools: {out / 'pool.csv'}, {out / 'challenger.csv'})")


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FieldcheckError(f"{out}: cannot be made ({error.strerror})", hint="--out with another folder") from None


def _campaign(field: DigitsField, design: str, seed: int) -> Estimate:
    return simulate(field.pool, design, budget=BUDGET, seed=seed, activations=field.activations)


def _comparison(result: comparison.Result) -> Table:
    """The techniques beside each other, best first."""
    rows = [row for row in result.rows() if row["budget"] == BUDGET]
    baseline = next(row["rmse"] for row in rows if row["design"] == designs.reference.name)
    cells = tuple(
        (
            row["design"],
            row["rmse"],
            row["rmse"] / baseline,
            row["exposed_mean"],
            row["coverage"],
            row["trusted_share"],
        )
        for row in sorted(rows, key=lambda row: row["rmse"])
    )
    return Table(
        "comparison/techniques",
        f"{rows[0]['repetitions']} campaigns with each technique, {BUDGET} labels each",
        ("design", "RMSE", "relative to srs", "failing items found", "coverage of 95 % intervals", "intervals trusted"),
        cells,
        "RMSE: typical distance of the estimate from the truth. All but srs and ces look at the confidence.",
    )


def _beside_each_other(estimates: list[Estimate]) -> Exhibit:
    rows = tuple(
        IntervalRow(e.design, e.value, e.interval.low, e.interval.high, trusted=e.interval.trusted) for e in estimates
    )
    return IntervalChart(
        "one campaign each/estimates",
        f"The same pool, {BUDGET} labels, one campaign with each technique",
        "accuracy",
        rows,
        truth=estimates[0].truth,
        note="One campaign proves little: the comparison below repeats each of them.",
    )


def _failures(field: DigitsField, estimate: Estimate, seed: int) -> report.ImageStrip:
    """Failures that the campaign exposed."""
    pool = field.pool
    losses = pool.losses()
    sample = sampling.choose(
        pool, estimate.design, auxiliary=estimate.auxiliary, budget=BUDGET, seed=seed, losses=losses
    )
    shown = [item for item in sample.to_label().tolist() if losses[item] > 0][:24]
    pictures = tuple(
        report.Picture(
            _png(field.images[item]),
            f"read as {_class(pool.predictions, item)}, is {_class(pool.target, item)}",
        )
        for item in shown
    )
    return report.ImageStrip("one campaign each/failures", "Failures that these labels exposed", pictures)


def _png(image: FloatArray) -> bytes:
    """A grey image, values from 0 (white) to 1 (black), enlarged."""
    from PIL import Image

    shades, out = np.rint((1.0 - np.clip(image, 0.0, 1.0)) * 255).astype(np.uint8), io.BytesIO()
    Image.fromarray(np.kron(shades, np.ones((8, 8), dtype=np.uint8))).save(out, "PNG")
    return out.getvalue()


def _class(codes: object, item: int) -> int:
    return int(codes[item])  # type: ignore[index]


def _lead(field: DigitsField, estimate: Estimate) -> list[str]:
    return [
        f"A small network reads {words.percent(field.laboratory_accuracy)} of digits correctly in the laboratory. "
        f"In the field, half of the {estimate.population:,} images are noisy, faded or moved, and none is labelled.",
    ]
