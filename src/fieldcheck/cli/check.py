"""``fieldcheck check``: a requirement, for build servers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.accuracy.assessment.requirement import decide, decision_of, too_early
from fieldcheck.accuracy.assessment.stopping import Certify, judge
from fieldcheck.campaign.stores import is_address
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.campaigns import Labels, labels_of
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core.errors import FieldcheckError, LabelError
from fieldcheck.core.requirement import EXIT_CODES, Decision, Requirement, worst


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
    protected: Annotated[
        bool,
        typer.Option("--protected", help="Go by the protected interval, which does not trust items that look safe."),
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

    Cannot be checked: a file is missing or damaged, or an option is wrong; nothing is decided.

    Whoever checks again and again until it passes takes --sequential.
    """
    requirements = requirements_of(accuracy=min_accuracy, rmse=max_rmse, mse=max_mse, mae=max_mae)
    _check_options(requirements, protected=protected, sequential=sequential)
    options.check_outputs(junit)
    try:
        with labels_of(file, pool) as labels:
            decisions = [
                _decide(labels, wanted, level=level, protected=protected, sequential=sequential)
                for wanted in requirements
            ]
    except FieldcheckError as error:
        if junit is not None:
            report.write_text(junit, report.junit_error(_suite(file), [str(one) for one in requirements], error))
        raise
    _show(decisions, file, junit=junit, as_json=as_json)
    raise typer.Exit(EXIT_CODES[worst(decisions)])


def requirements_of(**wanted: float | None) -> list[Requirement]:
    """The requirements that were given, by metric."""
    return [Requirement(metric, bound) for metric, bound in wanted.items() if bound is not None]


def _check_options(requirements: Sequence[Requirement], *, protected: bool, sequential: bool) -> None:
    if not requirements:
        raise FieldcheckError("nothing to check", rule="at least one requirement", hint="--min-accuracy 0.95")
    if sequential and (protected or any(one.metric != "accuracy" for one in requirements)):
        raise FieldcheckError(
            "--sequential together with --protected, or for an error",
            rule="it has an interval of its own, for accuracy; its lower bound is protected already",
            hint="--sequential --min-accuracy 0.95",
        )


def _decide(labels: Labels, wanted: Requirement, *, level: float, protected: bool, sequential: bool) -> Decision:
    try:
        if not sequential:
            return decide(labels.estimate(level), wanted, protected=protected)
        certify = Certify(wanted.bound)
        stop = judge(labels.labelled(), labels.design, certify, budget=labels.budget, seed=labels.seed, level=level)
        return decision_of(stop, wanted)
    except LabelError as error:
        return too_early(wanted, error.problem)


def _show(decisions: Sequence[Decision], file: str, *, junit: Path | None, as_json: bool) -> None:
    if as_json:
        show_json({"decision": worst(decisions), "checks": [one.to_dict() for one in decisions]})
    else:
        for one in decisions:
            say(one.sentence())
    if junit is not None:
        report.write_text(junit, report.junit_xml(_suite(file), decisions))
        tell(f"JUnit: {junit}")


def _suite(file: str) -> str:
    """What was checked, without the password of an address."""
    return f"fieldcheck {file.rpartition('@')[2]}" if is_address(file) else f"fieldcheck {file}"
