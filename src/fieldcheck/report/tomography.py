"""The page of a run: how robust the model is, where it breaks, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fieldcheck.core import words
from fieldcheck.core.exhibit import Exhibit, IntervalChart, IntervalRow
from fieldcheck.core.space import Answer as Found
from fieldcheck.core.versions import versions
from fieldcheck.report.blocks import Headline, sections_of
from fieldcheck.report.page import page


def tomography_page(
    whole: Found,
    *,
    answers: Sequence[Found] = (),
    exhibits: Sequence[Exhibit] = (),
    lead: Sequence[str] = (),
    origin: Mapping[str, str] | None = None,
) -> str:
    """The report of a run.

    whole
        The answer over the whole space, or over what the reader cares about most.
    answers
        Further queries, shown beside each other.
    origin
        Where the outcomes are, and how the others were predicted, for whoever checks it.
    """
    rows = [IntervalRow(one.query, one.robustness, one.low, one.high) for one in (whole, *answers)]
    regions = IntervalChart(
        "regions/answers",
        "Mean robustness of each query",
        "robustness",
        tuple(rows),
        truth=whole.base,
        truth_label="unperturbed",
        share=True,
    )
    return page(
        "Where it breaks",
        answer=_answer(whole),
        lead=lead,
        warnings=(),
        sections=sections_of([regions, *exhibits] if answers else exhibits),
        facts={**(origin or {}), **_facts(whole)},
        version=versions().get("fieldcheck", ""),
    )


def _answer(found: Found) -> Headline:
    bounds = f"{words.percent(found.low)} to {words.percent(found.high)}"
    return Headline(
        what=f"robustness over {found.query}",
        number=words.percent(found.robustness),
        bounds=bounds,
        sentence=(
            f"Averaged over {words.count(found.tests)} combinations of perturbations the model is right on "
            f"{words.percent(found.robustness)} of the inputs ({100 * found.level:g} % interval {bounds}); "
            f"unperturbed, on {words.percent(found.base)}."
            + (f" {found.of_drawn().capitalize()}." if found.drawn else "")
        ),
        chips=(
            ("tests in the region", words.count(found.tests)),
            ("measured", words.count(found.measured)),
            ("inferences", words.count(found.rows)),
        ),
    )


def _facts(found: Found) -> dict[str, str]:
    notes = {f"note {number}": text for number, text in enumerate(found.notes, start=1)}
    what = ", ".join(f"{name} {number}" for name, number in versions().items())
    return {"query": found.query, "profile": found.profile or "all tests weigh the same", **notes, "versions": what}
