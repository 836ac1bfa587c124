"""``fieldcheck check``: a requirement, for build servers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.accuracy.assessment import stopping
from fieldcheck.accuracy.assessment.requirement import decide, decision_of, too_early
from fieldcheck.campaign import stores
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say_lines, show_json, tell
from fieldcheck.core.errors import FieldcheckError, LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.requirement import EXIT_CODES, Decided, Decision, Requirement, worst


def check(
    storage: campaigns.Storage,
    min_accuracy: Annotated[float | None, typer.Option(help="The accuracy must be at least this: 0.95.")] = None,
    max_rmse: Annotated[float | None, typer.Option(help="Regression: the error must be at most this.")] = None,
    max_mse: Annotated[float | None, typer.Option(help="Regression: the error must be at most this.")] = None,
    max_mae: Annotated[
        float | None, typer.Option(help="The same, for a campaign or sample with --loss absolute.")
    ] = None,
    best: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A comparison: this model must be better than all others.")
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
    if best is None:
        _check_options(requirements, protected=protected, sequential=sequential)
    options.check_outputs(junit)
    try:
        with campaigns.open_campaign(storage, pool) as campaign:
            if best is not None:
                _check_best(campaign, best, level=level, as_json=as_json)
            decisions = [
                _decide(campaign, one, level=level, protected=protected, sequential=sequential) for one in requirements
            ]
    except FieldcheckError as error:
        if junit is not None:
            names = [str(one) for one in requirements]
            report.write_text(junit, report.junit_error(_suite(storage), names, error))
        raise
    _show(decisions, storage, junit=junit, as_json=as_json)
    raise typer.Exit(EXIT_CODES[worst(decisions)])


def _check_best(campaign: Campaign, name: str, *, level: float, as_json: bool) -> None:
    """Leave with the decision of a comparison."""
    try:
        found = campaign.estimate(level=level)
    except LabelError as error:
        _say("undecided", error.problem, as_json=as_json)
        raise typer.Exit(EXIT_CODES["undecided"]) from None
    names = (
        [] if isinstance(found, Estimate) else [one for pair in found.differences for one in (pair.first, pair.second)]
    )
    if isinstance(found, Estimate) or name not in names:
        raise FieldcheckError(
            f"--best {name}",
            rule=f"the models of this comparison: {', '.join(dict.fromkeys(names)) or 'there is only one'}",
            hint="fieldcheck start A.csv --against B.csv, for a comparison",
        )
    outcome: Decided = "passed" if found.best() == name else "failed" if found.beaten(name) else "undecided"
    _say(outcome, found.sentence(), as_json=as_json)
    raise typer.Exit(EXIT_CODES[outcome])


def _say(outcome: str, sentence: str, *, as_json: bool) -> None:
    if as_json:
        show_json({"decision": outcome, "sentence": sentence})
    else:
        say_lines(f"{outcome.upper()}: {sentence}")


def _estimate(campaign: Campaign, level: float) -> Estimate:
    found = campaign.estimate(level=level)
    if isinstance(found, Estimate):
        return found
    raise FieldcheckError(
        "a requirement of one model, for a comparison of several",
        rule="a comparison says which one is better",
        hint=f"--best {found.differences[0].first}",
    )


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


def _decide(campaign: Campaign, wanted: Requirement, *, level: float, protected: bool, sequential: bool) -> Decision:
    try:
        if not sequential:
            return decide(_estimate(campaign, level), wanted, protected=protected)
        certify = stopping.Certify(wanted.bound)
        settings, (labelled, _) = campaign.settings, campaign.view.labelled()
        stop = stopping.judge(
            labelled, campaign.view.design, certify, budget=settings.most, seed=settings.seed, level=level
        )
        return decision_of(stop, wanted)
    except LabelError as error:
        return too_early(wanted, error.problem)


def _show(decisions: Sequence[Decision], storage: str, *, junit: Path | None, as_json: bool) -> None:
    if as_json:
        show_json({"decision": worst(decisions), "checks": [one.to_dict() for one in decisions]})
    else:
        for one in decisions:
            say_lines(one.sentence())
    if junit is not None:
        report.write_text(junit, report.junit_xml(_suite(storage), decisions))
        tell(f"JUnit: {junit}")


def _suite(file: str) -> str:
    """What was checked, without the password of an address."""
    return f"fieldcheck {file.rpartition('@')[2]}" if stores.is_address(file) else f"fieldcheck {file}"
