"""``fieldcheck tomography check``: a requirement on a region, for build servers."""

from __future__ import annotations

from typing import Annotated

import typer

from fieldcheck.cli import options
from fieldcheck.cli.exit_codes import FAILED, PASSED, UNDECIDED
from fieldcheck.cli.show import say, show_json
from fieldcheck.cli.tomography.options import ProfileFile, QueryText, RunFolder, SurrogateName, working
from fieldcheck.cli.tomography.query import show_answer
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Answer
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run

WORDS = {PASSED: "passed", FAILED: "failed", UNDECIDED: "undecided"}


def check(
    run: RunFolder,
    text: QueryText,
    min_robustness: Annotated[float, typer.Option(help="The region must be at least this robust: 0.9.")],
    profile: ProfileFile = None,
    surrogate: SurrogateName = None,
    level: options.Level = 0.95,
    as_json: options.AsJson = False,
) -> None:
    """Hold a region against a requirement. Exit code 0: passed, 1: failed, 2: undecided, 3: cannot be checked.

    Passed when even the lower bound meets it, failed when not even the upper bound does.
    """
    if not 0 <= min_robustness <= 1:
        raise SpaceError(f"--min-robustness {min_robustness:g}", rule="a share, from 0 to 1", hint="0.9")
    chosen = None if profile is None else Profile.from_file(profile)
    opened = Run.open(run, surrogate=surrogate)
    with working(opened):
        answer = opened.ask(text, profile=chosen, level=level)
    code = decide(answer, min_robustness)
    if as_json:
        show_json({"verdict": WORDS[code], "min_robustness": min_robustness, **answer.to_dict()})
    else:
        bound = f"{answer.high:.1%} at most" if code == FAILED else f"{answer.low:.1%} at least"
        say(f"{WORDS[code]}: {bound}, wanted {min_robustness:.1%}")
        show_answer(answer)
    raise typer.Exit(code)


def decide(answer: Answer, wanted: float) -> int:
    """The exit code: what the interval allows to say."""
    if answer.low >= wanted:
        return PASSED
    return FAILED if answer.high < wanted else UNDECIDED
