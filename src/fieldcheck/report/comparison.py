"""The report of a campaign that compares models."""

from __future__ import annotations

import shlex

from fieldcheck.accuracy.comparison.difference import Comparison, Difference
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core import words
from fieldcheck.core.exhibit import IntervalChart, IntervalRow, Table
from fieldcheck.report.blocks import Commands, Headline, Section


def answer(found: Comparison) -> Headline:
    """Which is better, and by how much."""
    first = found.differences[0]
    rows = tuple(
        IntervalRow(f"{one.first} − {one.second}", one.value, one.interval.low, one.interval.high)
        for one in found.differences
    )
    return Headline(
        what=f"{first.first} against {first.second}" if len(rows) == 1 else f"{words.count(len(rows))} pairs of models",
        number=found.headline(),
        bounds=_bounds(first) if len(rows) == 1 else "each pair with its interval below",
        sentence=" ".join(found.sentence().splitlines()),
        chips=(("labels", words.count(found.labels)), ("items on which they disagree", words.count(found.contested))),
        chart=IntervalChart("answer", "Differences", _metric(first), rows, truth=0.0, truth_label="no difference"),
    )


def _metric(one: Difference) -> str:
    return "difference of accuracy" if one.metric == "accuracy" else "difference of mean squared error"


def _bounds(one: Difference) -> str:
    low, high = (_written(one, bound) for bound in (one.interval.low, one.interval.high))
    return f"between {low} and {high}, with {100 * one.interval.level:g} % confidence"


def _written(one: Difference, value: float) -> str:
    return words.percent(value) if one.metric == "accuracy" else words.short(value, 4)


def pairs(found: Comparison) -> Section:
    """Every pair with its difference, here and on future data."""
    rows = tuple(
        (
            f"{one.first} − {one.second}",
            _written(one, one.value),
            *(_written(one, bound) for bound in (one.interval.low, one.interval.high)),
            *(_written(one, bound) for bound in (one.future.low, one.future.high)),
            "equal" if one.decided and one.winner is None else one.winner or "undecided",
        )
        for one in found.differences
    )
    header = ("pair", "difference", "from", "to", "future data, from", "to", "better")
    text = (
        f"Labels are of items on which the models disagree: they say nothing of {found.to_dict()['says_nothing_of']}."
    )
    return Section("Every pair", (Table("pairs", "Differences", header, rows),), text)


def again(campaign: Campaign) -> Section:
    """How to see the same numbers again."""
    line = f"fieldcheck estimate {shlex.quote(campaign.place)} --json"
    return Section("How to check it", (Commands("commands", "The same numbers", (line,)),))
