"""``fieldcheck tomography query``: how robust a region is."""

from __future__ import annotations

import math

from fieldcheck.cli import options
from fieldcheck.cli.show import console_for_lines, show_facts, show_json
from fieldcheck.cli.tomography.options import ProfileFile, QueryText, RunFolder, SurrogateName, band, working
from fieldcheck.core import words
from fieldcheck.core.space import Answer
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run


def query(
    run: RunFolder,
    text: QueryText,
    profile: ProfileFile = None,
    surrogate: SurrogateName = None,
    level: options.Level = 0.95,
    as_json: options.AsJson = False,
) -> None:
    """The robustness of the tests that a query selects: mean, interval, what was measured, and the weakest of them."""
    chosen = None if profile is None else Profile.from_file(profile)
    opened = Run.open(run, surrogate=surrogate)
    with working(opened):
        answer = opened.ask(text, profile=chosen, level=level)
    if as_json:
        show_json(answer.to_dict())
    else:
        show_answer(answer)


def show_answer(answer: Answer) -> None:
    """The number first, then what it rests on."""
    console = console_for_lines()
    if not answer.tests:
        console.print("no robustness: the region is empty", style="bold", markup=False)
        show_facts(console, [("region", answer.query), *(("note", text) for text in answer.notes)])
        return
    span = f"[{words.percent(answer.low)}, {words.percent(answer.high)}]"
    console.print(
        f"robustness {words.percent(answer.robustness)}, {100 * answer.level:g} % interval {span}",
        style="bold",
        markup=False,
    )
    facts = [
        (
            "region",
            f"{answer.query}: {'about ' if answer.drawn else ''}{words.counted(answer.tests, 'test')}"
            + (f", weighed by {answer.profile}" if answer.profile else ""),
        ),
        (
            "measured",
            f"{words.counted(answer.measured, 'test')} in {answer.rows:,} inferences; "
            f"{answer.inferred:,} predicted only",
        ),
        (
            "unperturbed",
            f"{words.percent(answer.base)} on {words.counted(answer.base_inputs, 'input')}: "
            f"the region costs {100 * answer.drop:.1f} points",
        ),
    ]
    if answer.drawn:
        facts.append(("drawn", answer.of_drawn()))
    if answer.not_applicable or answer.left < 1:
        gone = f"; {words.counted(answer.not_applicable, 'test')} more not applicable" if answer.not_applicable else ""
        facts.append(("applies to", f"{words.percent(answer.left)} of the inputs, which have an object left{gone}"))
    if not math.isnan(answer.recall):
        shares = f"{words.percent(answer.recall)} found, average precision {words.percent(answer.precision)}"
        facts.append(("objects", f"{shares}, in the inferences of the region"))
    if not math.isnan(answer.audit):
        facts.append(
            (
                "audit",
                f"{words.percent(answer.audit)} ± {words.percent(1.96 * answer.audit_error)} from its inferences alone",
            )
        )
    facts += [("weakest" if not at else "", f"{one}: {band(one)}") for at, one in enumerate(answer.worst)]
    facts += [("note", text) for text in answer.notes]
    show_facts(console, facts)
