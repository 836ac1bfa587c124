"""``fieldcheck check``: a requirement, for build servers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.campaign import stores
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.exit_codes import Check, leave
from fieldcheck.cli.show import say, say_lines, show_json, tell
from fieldcheck.core import requirement
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.requirement import Decision, Requirement

COMMAND = Check


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
    undecided_exit: options.UndecidedExit = 2,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML.")] = None,
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Hold a campaign against a requirement. Exit code 0: passed, 1: failed, 2: undecided, 3: cannot be checked.

    Passed: even the lower bound of the protected interval meets it.

    Failed: not even the upper bound does.

    Undecided: neither; it is said about how many more labels would decide. Preliminary: the budget is not spent yet.

    Cannot be checked: a file is missing or damaged, or an option is wrong; nothing is decided.

    It is decided when the budget is spent, at 4 % error; after an extension of the budget at .8 %, then .16 %: together
    at most 5 % of campaigns ever make a false claim.
    """
    requirements = requirements_of(accuracy=min_accuracy, rmse=max_rmse, mse=max_mse, mae=max_mae)
    options.check_outputs(junit)
    try:
        with campaigns.open_campaign(storage, pool) as campaign:
            margin = campaign.settings.not_worse is not None and not requirements
            if best is None and not requirements and not margin:
                raise FieldcheckError("nothing to check", rule="at least one requirement", hint="--min-accuracy 0.95")
            if best is not None or margin:
                _check_best(campaign, best, level=level, undecided_exit=undecided_exit, as_json=as_json)
            decisions = [campaign.view.check(one, level=level) for one in requirements]
            further = _further(decisions, storage) if campaign.view.question.extendable else ""
    except FieldcheckError as error:
        if junit is not None:
            names = [str(one) for one in requirements]
            report.write_text(junit, report.junit_error(_suite(storage), names, error))
        raise
    _show(decisions, storage, junit=junit, as_json=as_json)
    if further and not as_json:
        say(f"next: {further}")
    leave(requirement.worst(decisions), undecided_exit)


def _further(decisions: Sequence[Decision], storage: str) -> str:
    """The command for the labels that would decide what a look has left undecided."""
    undecided = [one for one in decisions if one.word == "undecided" and not one.preliminary]
    wanted = [one for one in undecided if one.more and (one.over_budget or one.look is not None)]
    if not wanted or requirement.worst(decisions) == "failed":
        return ""
    more = max(requirement.rounded(one.more) for one in wanted)
    found = wanted[0].estimate
    if found is None or found.labels + more >= found.population:
        return ""
    return shlex.join(["fieldcheck", "extend", storage, "--budget", f"+{more}"])


def _check_best(campaign: Campaign, name: str | None, *, level: float, undecided_exit: int, as_json: bool) -> None:
    """Leave with the decision of a comparison."""
    word, sentence, look = campaign.view.check_best(name, level=level)
    if as_json:
        show_json({"decision": word, "sentence": sentence, "look": look.to_dict()})
    else:
        say_lines(f"{word.upper() if look.spent else 'PRELIMINARY'}: {sentence}")
        say(f"  {look.words()}")
    leave(word, undecided_exit)


def requirements_of(**wanted: float | None) -> list[Requirement]:
    """The requirements that were given, by metric."""
    return [Requirement(metric, bound) for metric, bound in wanted.items() if bound is not None]


def _show(decisions: Sequence[Decision], storage: str, *, junit: Path | None, as_json: bool) -> None:
    if as_json:
        show_json({"decision": requirement.worst(decisions), "checks": [one.to_dict() for one in decisions]})
    else:
        for one in decisions:
            say_lines(one.sentence())
    if junit is not None:
        report.write_text(junit, report.junit_xml(_suite(storage), decisions))
        tell(f"JUnit: {junit}")


def _suite(file: str) -> str:
    """What was checked, without the password of an address."""
    return f"fieldcheck {file.rpartition('@')[2]}" if stores.is_address(file) else f"fieldcheck {file}"
