"""``fieldcheck tomography run``: measure what the plan asks for."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from fieldcheck import engines, tomography
from fieldcheck.cli import options
from fieldcheck.cli.show import progress, say, show_json, show_table, tell
from fieldcheck.core import words
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.exhibit import Table
from fieldcheck.core.space import Outcomes
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.plans.base import Plan
from fieldcheck.tomography.quality import map as quality_map
from fieldcheck.tomography.query import selection
from fieldcheck.tomography.runs import stopping
from fieldcheck.tomography.runs.measure import Workers
from fieldcheck.tomography.runs.schedule import BASE
from fieldcheck.tomography.setup import space_file

FEATURES = ("auto", "model", "pixels", "letters")
"""Words for the features of a quality score; anything else is a path."""


FAR = 0.03
"""How far the share of right answers may be from what was expected, whatever chance does."""


LIKE_GUESSING = 9
"""Up to one ninth of the way from guessing to all right is told: 20 % of ten classes, 56 % of two."""


FEW, LOW = 8, 0.6
"""So many unperturbed inputs, and such a share of right answers, tell that something may be wrong."""


def run(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="The space file; `tomography init` makes one.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the outcomes.")],
    inferences: Annotated[int | None, typer.Option(min=1, help="How many times to ask the model.")] = None,
    half_width: Annotated[
        float | None, typer.Option(min=0.001, max=0.5, help="Instead: until intervals are this narrow: 0.02.")
    ] = None,
    plan: Annotated[str | None, typer.Option(help="As pairs:share=0.05; see `tomography list plans`.")] = None,
    stop: Annotated[str | None, typer.Option(help="Rule of --half-width; see `tomography list rules`.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was stopped, or extend a finished one.")
    ] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the model (onnx, torch).")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run code that the space file names (pickles, TorchScript, checks).")
    ] = False,
    engine: options.EngineName = "local",
    as_json: options.AsJson = False,
) -> None:
    """Run the tests of a plan, keeping every outcome; killed and resumed, the result is the same.

    A finished run is extended by --resume with more --inferences, or a narrower --half-width.
    """
    file = _with_options(space_file.read_space_file(space), inferences, half_width, plan, stop)
    if threads is not None:
        file = replace(file, model={**file.model, "threads": threads})
    chosen, budget, rule = _plan(file), _budget(file), _rule(file)
    runs = engines.engine_of(engine)
    subject = tomography.of_space_file(file, trust=trust)
    for note in subject.notes:
        tell(f"note: {note}")
    if file.quality:
        quality_map.checked(_measured(subject), **_quality(file))
    if subject.space.size > selection.LISTED:
        tell(
            f"note: {subject.space.size:.2g} tests are too many to list: queries that name neither levels nor orders "
            "are answered from a sample of their tests, with its error"
        )
    with progress("inferences") as report:
        result = measure(
            subject,
            plan=chosen,
            budget=budget,
            rule=rule,
            surrogate=file.surrogate,
            seed=file.seed,
            ordered=file.ordered,
            folder=out,
            resume=resume,
            progress=report,
            tell=tell,
            base=_base(file),
            look=partial(_look, file, subject),
            workers=None if engine == "local" else Workers(runs, partial(tomography.of_space_file, file, trust=trust)),
        )
    result.export()
    if file.quality:
        _add_quality(file, _measured(subject), out)
    summary = _summary(result, subject)
    if as_json:
        show_json({"folder": str(out), **summary})
    else:
        _show(result, summary, out)
        if chosen.adds != "rows" and (above := result.higher_orders) is not None and above.differs:
            say(f"Pairs do not suffice: {above}.")


def _with_options(
    file: space_file.SpaceFile, inferences: int | None, half_width: float | None, plan: str | None, stop: str | None
) -> space_file.SpaceFile:
    """The space file, its plan changed by what was said on the command line."""
    if inferences is not None and half_width is not None:
        raise SpaceError("--inferences and --half-width", rule="one of them says when to stop", hint="leave one out")
    changed: dict[str, Any] = dict(file.plan)
    if half_width is not None:
        changed.pop("inferences", None)
    if inferences is not None:
        changed.pop("half_width", None)
    given = {"inferences": inferences, "half_width": half_width, "kind": plan, "stop": stop}
    changed.update({name: value for name, value in given.items() if value is not None})
    return replace(file, plan=changed)


def _plan(file: space_file.SpaceFile) -> Plan:
    share = file.plan.get("share")
    if share is not None and type(share) not in (int, float):
        raise SpaceError(f"share = {share!r}", rule="a share of the tests of orders 3 and 4, as 0.05")
    return plans.build(str(file.plan.get("kind", "spread")), share=share)


def _budget(file: space_file.SpaceFile) -> int | None:
    found = file.plan.get("inferences")
    if found is not None and (type(found) is not int or found < 1):
        raise SpaceError(f"inferences = {found!r}", rule="a whole number, 1 or more")
    return found


def _base(file: space_file.SpaceFile) -> int:
    found = file.plan.get("base", BASE)
    if type(found) is not int or found < 0:
        raise SpaceError(f"base = {found!r}", rule="unperturbed inputs that are measured first, as 400")
    return found


def _look(file: space_file.SpaceFile, subject: tomography.Subject, outcomes: Outcomes) -> None:
    """Say how the unperturbed inputs went; stop where that is far from what was expected."""
    held = outcomes.applicable.held
    if not len(held):
        return  # what is wrong with the boxes is said after the run
    share, expected = float(held.mean()), file.check.get("expect")
    of = f"all {len(held):,}" if len(held) == subject.inputs else f"{len(held):,} of {subject.inputs:,}"
    tell(f"unperturbed: {words.percent(share)} right on {of} inputs")
    if expected is not None:
        reach = max(FAR, 3 * math.sqrt(expected * (1 - expected) / len(held)))
        if abs(share - expected) > reach:
            raise SpaceError(
                f"{words.percent(share)} of {len(held):,} unperturbed inputs are right, "
                f"expected were {words.percent(expected)}",
                rule="model and data as they were when that was measured; the rest was not spent",
                hint="look at scale, layout and outputs in [model]; or change expect in [check], then --resume",
            )
    elif subject.guess and share - subject.guess < (1 - subject.guess) / LIKE_GUESSING:
        tell(
            f"warning: guessing would have {words.percent(subject.guess)}: look at scale, layout and outputs in [model]"
        )


def _rule(file: space_file.SpaceFile) -> stopping.Stopping | None:
    width, kind = file.plan.get("half_width"), str(file.plan.get("stop", "half-width"))
    if width is None and "stop" not in file.plan:
        return None
    if width is not None and (type(width) not in (int, float) or width <= 0):
        raise SpaceError(f"half_width = {width!r}", rule="a share above 0, as 0.02")
    return stopping.registry.build(kind, width=width)


def _measured(subject: tomography.Subject) -> tomography.Executor:
    """The model and its data, where the quality of perturbed inputs is asked for."""
    if subject.executor is None:
        raise SpaceError("the quality of a recorded truth", rule="[quality] needs a model and its data")
    return subject.executor


def _quality(file: space_file.SpaceFile) -> dict[str, Any]:
    """What [quality] says; features that are a path are beside the space file."""
    given = dict(file.quality)
    if given.get("features", "auto") not in FEATURES:
        given["features"] = file.folder / str(given["features"])
    return given


def _add_quality(file: space_file.SpaceFile, executor: tomography.Executor, out: Path) -> None:
    """Measure what [quality] asks for, unless the folder has it already."""
    if (out / quality_map.FILE).exists():
        return
    quality = quality_map.measure_quality(executor, **_quality(file), seed=file.seed)
    quality.save(out)
    for note in quality.notes:
        tell(f"note: quality: {note}")


def _summary(run: Run, subject: tomography.Subject) -> dict[str, Any]:
    tests, _, held = run.outcomes.counts()
    orders = run.space.orders(run.outcomes.tests)
    every = np.arange(run.space.size if run.left is not None else 0)
    return {
        "inferences": len(run.outcomes),
        "tests": run.space.size,
        "tests_measured": len(tests),
        "held": float(held.sum() / len(run.outcomes)),
        "by_order": {
            int(order): float(run.outcomes.held[orders == order].mean()) for order in np.unique(orders).tolist()
        },
        "without_object": 0 if run.rows is None else len(run.rows) - len(run.outcomes),
        "objects": _objects(run),
        "left": _left(run),
        "not_applicable": int(len(every) - len(run.applicable(every))) if run.left is not None else 0,
        "model_share_of_cpu": subject.clock.share if subject.clock is not None else None,
        "ending": None if run.ending is None else asdict(run.ending),
    }


def _objects(run: Run) -> dict[int, dict[str, float]] | None:
    """Share of single objects that were found, and their average precision, by order."""
    if run.objects is None:
        return None
    every = np.unique(run.outcomes.tests)
    orders = run.space.orders(every)
    found = {int(order): run.objects_in(run.applicable(every[orders == order])) for order in np.unique(orders)}
    return {order: {"recall": one.recall, "ap": one.precision} for order, one in found.items() if one is not None}


def _left(run: Run) -> dict[str, list[float]] | None:
    """Of each perturbation that moves things, alone: the share of the inputs with an object left, by level."""
    if run.left is None:
        return None
    rows = np.eye(len(run.space.axes), dtype=np.int64)
    return {
        run.space.names[at]: run.left.of(np.arange(run.space.shape[at])[:, None] * rows[at]).tolist()
        for at in run.left.axes
    }


def _doubt(run: Run) -> None:
    """Unperturbed inputs that are hardly ever right are mostly inputs that the model was not meant to get."""
    held = run.outcomes.held[run.outcomes.tests == 0]
    if len(held) >= FEW and held.mean() < LOW:
        tell(
            f"warning: only {held.sum():.0f} of {len(held):,} unperturbed inputs are right. If the model does better "
            "elsewhere, look at the notes above, and at scale, layout and outputs in [model]"
        )


def _show_orders(summary: dict[str, Any]) -> None:
    objects = summary["objects"]
    if objects is None:
        rows = tuple(summary["by_order"].items())
        show_table(Table("run/orders", "Right answers", ("order", "measured"), rows))
        return
    found = tuple((order, share, *objects[order].values()) for order, share in summary["by_order"].items())
    columns = ("order", "images right", "objects found", "average precision")
    show_table(Table("run/orders", "Right answers", columns, found))


def _show_left(summary: dict[str, Any]) -> None:
    if not summary["left"]:
        return
    rows = tuple((name, *shares) for name, shares in summary["left"].items())
    widest = max(len(row) for row in rows)
    columns = ("perturbation", *(f"level {level}" for level in range(widest - 1)))
    filled = tuple((*row, *[math.nan] * (widest - len(row))) for row in rows)
    show_table(Table("run/left", "Share of the inputs with an object left", columns, filled))
    if summary["not_applicable"]:
        say(
            f"{summary['not_applicable']:,} of {summary['tests']:,} tests are not applicable: in less than a fifth of "
            "the inputs an object is left"
        )


def _show(run: Run, summary: dict[str, Any], out: Path) -> None:
    say(
        f"{summary['inferences']:,} inferences in {summary['tests_measured']:,} of {summary['tests']:,} tests, in {out}"
    )
    if summary["without_object"]:
        say(f"{summary['without_object']:,} more were planned where no object is left: the model was not asked")
    for sentence in run.ending.sentences() if run.ending is not None else ():
        say(sentence)
    _show_orders(summary)
    _show_left(summary)
    _doubt(run)
    share = summary["model_share_of_cpu"]
    if share is not None and not math.isnan(share):
        say(f"the model took {share:.0%} of the time, perturbing the rest")
    place = shlex.quote(str(out))
    say(f"next: fieldcheck tomography query {place} 'order <= 2'; fieldcheck tomography worst {place}")
