"""The page of one estimate: the number, its interval in words, what was drawn, and how to do it again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fieldcheck.core import words
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import IntervalChart, IntervalRow, Table
from fieldcheck.report.blocks import Block, Headline, Section, sections_of
from fieldcheck.report.page import page


def estimate_page(
    estimate: Estimate,
    *,
    exhibits: Sequence[Block] = (),
    title: str = "Operational accuracy",
    lead: Sequence[str] = (),
) -> str:
    """The report of one estimate; exhibits by the part of their name before "/", figures before tables."""
    return page(
        title,
        answer=answer_of(estimate),
        lead=lead,
        warnings=warnings_of(estimate),
        sections=[_figures_first(section) for section in sections_of(exhibits)],
        facts=facts_of(estimate),
        version=estimate.versions.get("fieldcheck", ""),
    )


def answer_of(estimate: Estimate) -> Headline:
    """The estimate as the answer at the top of a page."""
    interval = estimate.interval
    chips = [
        ("labels used", words.count(estimate.labels)),
        ("failures found", words.count(estimate.failures)),
        ("items in the pool", words.count(estimate.population)),
    ]
    if estimate.truth is not None:
        chips.append(("truth", estimate.scale.shown(estimate.truth)))
    return Headline(
        what=f"estimated {estimate.metric}",
        number=estimate.scale.shown(estimate.value),
        bounds=_bounds(estimate),
        sentence=estimate.sentence(),
        trusted=interval.trusted,
        chips=tuple(chips),
        chart=_chart(estimate),
    )


def facts_of(estimate: Estimate) -> dict[str, str]:
    """How the estimate was made, for people who want to check it or do it again."""
    versions = ", ".join(f"{name} {version}" for name, version in estimate.versions.items())
    facts = {**dict(estimate.facts()), "task": estimate.task, "versions": versions}
    return {name: text for name, text in facts.items() if text}


def warnings_of(estimate: Estimate) -> tuple[str, ...]:
    """The estimate's own, and first of all why its interval cannot be trusted, if so."""
    interval = estimate.interval
    reasons = () if interval.trusted or not interval.note else (f"the interval is not trusted: {interval.note}",)
    return (*reasons, *estimate.warnings, *estimate.notes)


def _bounds(estimate: Estimate) -> str:
    interval = estimate.interval
    if math.isnan(interval.low) or math.isnan(interval.high):
        return "no interval"
    low, high = map(estimate.scale.shown, (interval.low, interval.high))
    if not interval.trusted:
        return f"between {low} and {high} for orientation only: this interval is not to be trusted"
    return f"between {low} and {high}, with {100 * interval.level:g} % confidence"


def _chart(estimate: Estimate) -> IntervalChart:
    interval = estimate.interval
    row = IntervalRow("estimate", estimate.value, interval.low, interval.high, trusted=interval.trusted)
    title, share = f"Estimated {estimate.metric}", estimate.scale.share
    return IntervalChart("answer", title, estimate.metric, (row,), truth=estimate.truth, share=share)


def _figures_first(section: Section) -> Section:
    ordered = sorted(section.blocks, key=lambda block: isinstance(block, Table))
    return Section(section.title, tuple(ordered), section.text)
