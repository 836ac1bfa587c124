"""``fieldcheck tomography check``: a requirement on a region, for build servers."""

from __future__ import annotations

from typing import Annotated

import typer

from fieldcheck.cli import options
from fieldcheck.cli.exit_codes import leave
from fieldcheck.cli.show import say, show_json
from fieldcheck.cli.tomography.options import ProfileFile, QueryText, RunFolder, SurrogateName, working
from fieldcheck.cli.tomography.query import show_answer
from fieldcheck.core.errors import QueryError
from fieldcheck.core.interval import Interval
from fieldcheck.core.requirement import Requirement
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run


def check(
    run: RunFolder,
    text: QueryText,
    min_robustness: Annotated[float, typer.Option(help="The region must be at least this robust: 0.9.")],
    profile: ProfileFile = None,
    surrogate: SurrogateName = None,
    level: options.Level = 0.95,
    undecided_exit: options.UndecidedExit = 2,
    as_json: options.AsJson = False,
) -> None:
    """Hold a region against a requirement. Exit code 0: passed, 1: failed, 2: undecided, 3: cannot be checked.

    Passed when even the lower bound meets it, failed when not even the upper bound does.
    """
    wanted = Requirement("robustness", min_robustness)
    chosen = None if profile is None else Profile.from_file(profile)
    opened = Run.open(run, surrogate=surrogate)
    with working(opened):
        answer = opened.ask(text, profile=chosen, level=level)
    if not answer.tests:
        raise QueryError(f"nothing to hold '{text}' against: {answer.notes[0]}", rule="one test or more in the region")
    decision = wanted.decide(Interval(answer.low, answer.high, answer.level))
    if as_json:
        show_json({**decision.to_dict(), **answer.to_dict()})
    else:
        say(decision.sentence())
        show_answer(answer)
    leave(decision.word, undecided_exit)
