"""``fieldcheck check``: a requirement, for build servers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.accuracy.assessment.requirement import Ruling, Target, rule, rule_of, too_early
from fieldcheck.accuracy.assessment.stopping import Certify, judge
from fieldcheck.campaign.stores import is_address
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.campaigns import Labels, labels_of
from fieldcheck.cli.exit_codes import FAILED, PASSED, UNDECIDED
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core.errors import FieldcheckError, LabelError


def check(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A campaign (its file or postgresql:// address), or a filled-in sheet."),
    ],
    min_accuracy: Annotated[float | None, typer.Option(help="The accuracy must be at least this: 0.95.")] = None,
    max_rmse: Annotated[float | None, typer.Option(help="Regression: the error must be at most this.")] = None,
    max_mse: Annotated[float | None, typer.Option(help="Regression: the error must be at most this.")] = None,
    max_mae: Annotated[
        float | None, typer.Option(help="The same, for a campaign or sample with --loss absolute.")
    ] = None,
    level: options.Level = 0.95,
    guarded: Annotated[
        bool, typer.Option("--guarded", help="Go by the wider interval, which does not trust items that look safe.")
    ] = False,
    sequential: Annotated[
        bool,
        typer.Option("--sequential", help="Allow for having checked after every wave until it passed. waves or srs."),
    ] = False,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML.")] = None,
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Hold the estimate against a requirement. Exit code 0: passed, 1: failed, 2: undecided, 3: cannot be checked.

    Passed: even the lower bound of the interval meets it.

    Failed: not even the upper bound does.

    Undecided: neither; it is said about how many more labels would decide.

    Cannot be checked: a file is missing or damaged, or an option is wrong; there is no verdict.

    Whoever checks again and again until it passes takes --sequential.
    """
    targets = targets_of(accuracy=min_accuracy, rmse=max_rmse, mse=max_mse, mae=max_mae)
    _check_options(targets, guarded=guarded, sequential=sequential)
    options.check_outputs(junit)
    try:
        with labels_of(file, pool) as labels:
            rulings = [_rule(labels, one, level=level, guarded=guarded, sequential=sequential) for one in targets]
    except FieldcheckError as error:
        if junit is not None:
            report.write_text(junit, report.junit_error(_suite(file), [str(target) for target in targets], error))
        raise
    _show(rulings, file, junit=junit, as_json=as_json)
    raise typer.Exit(_code(rulings))


def targets_of(**wanted: float | None) -> list[Target]:
    """The requirements that were given, by metric."""
    return [Target(metric, bound) for metric, bound in wanted.items() if bound is not None]


def _check_options(targets: Sequence[Target], *, guarded: bool, sequential: bool) -> None:
    if not targets:
        raise FieldcheckError("nothing to check", rule="at least one requirement", hint="--min-accuracy 0.95")
    if sequential and (guarded or any(target.metric != "accuracy" for target in targets)):
        raise FieldcheckError(
            "--sequential together with --guarded, or for an error",
            rule="it has an interval of its own, for accuracy; its lower bound is guarded already",
            hint="--sequential --min-accuracy 0.95",
        )


def _rule(labels: Labels, target: Target, *, level: float, guarded: bool, sequential: bool) -> Ruling:
    try:
        if not sequential:
            return rule(labels.estimate(level), target, guarded=guarded)
        wanted = Certify(target.bound)
        verdict = judge(labels.labelled(), labels.design, wanted, budget=labels.budget, seed=labels.seed, level=level)
        return rule_of(verdict, target)
    except LabelError as error:
        return too_early(target, error.problem)


def _show(rulings: Sequence[Ruling], file: str, *, junit: Path | None, as_json: bool) -> None:
    if as_json:
        show_json({"outcome": _worst(rulings), "checks": [ruling.to_dict() for ruling in rulings]})
    else:
        for ruling in rulings:
            say(ruling.sentence())
    if junit is not None:
        report.write_text(junit, report.junit_xml(_suite(file), rulings))
        tell(f"JUnit: {junit}")


def _suite(file: str) -> str:
    """What was checked, without the password of an address."""
    return f"fieldcheck {file.rpartition('@')[2]}" if is_address(file) else f"fieldcheck {file}"


def _worst(rulings: Sequence[Ruling]) -> str:
    outcomes = {ruling.outcome for ruling in rulings}
    return next(outcome for outcome in ("fail", "undecided", "pass") if outcome in outcomes)


def _code(rulings: Sequence[Ruling]) -> int:
    return {"pass": PASSED, "fail": FAILED, "undecided": UNDECIDED}[_worst(rulings)]
