"""The report of a campaign that compares models."""

from __future__ import annotations

import shlex

from fieldcheck.accuracy.comparison import difference
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core import words
from fieldcheck.core.exhibit import IntervalChart, IntervalRow, Table
from fieldcheck.report.blocks import Commands, Headline, Section


def answer(found: Comparison) -> Headline:
    """Which is better, and by how much."""
    first, rows = found.differences[0], found.differences
    return Headline(
        what=f"{first.first} against {first.second}" if len(rows) == 1 else f"{words.count(len(rows))} pairs of models",
        number=found.headline(),
        bounds=_bounds(first) if len(rows) == 1 else "each pair with its interval below",
        sentence=" ".join(found.sentence().splitlines()),
        chips=(("labels", words.count(found.labels)), ("items on which they disagree", words.count(found.contested))),
        chart=differences_chart(found),
    )


def differences_chart(found: Comparison) -> IntervalChart:
    """Every pair, beside no difference."""
    in_points = found.differences[0].metric == "accuracy"
    unit, what = (100, "accuracy, points") if in_points else (1, "mean squared error")
    rows = tuple(
        IntervalRow(f"{one.first} − {one.second}", unit * one.value, unit * one.interval.low, unit * one.interval.high)
        for one in found.differences
    )
    return IntervalChart(
        "answer", "Differences", f"difference of {what}", rows, truth=0.0, truth_label="no difference:"
    )


def _bounds(one: difference.Difference) -> str:
    low, high = (one.shown(bound) for bound in (one.interval.low, one.interval.high))
    return f"between {low} and {high}, with {100 * one.interval.level:g} % confidence"


def pairs(found: Comparison) -> Section:
    """Every pair with its difference, here and on future data."""
    rows = tuple(
        (
            f"{one.first} − {one.second}",
            *(
                one.shown(number).removesuffix(difference.POINTS)
                for number in (one.value, one.interval.low, one.interval.high, one.future.low, one.future.high)
            ),
            "equal" if one.decided and one.winner is None else one.winner or "undecided",
        )
        for one in found.differences
    )
    unit = ", points" if found.differences[0].metric == "accuracy" else ""
    header = ("pair", f"difference{unit}", "from", "to", "future data, from", "to", "better")
    text = (
        f"Labels are of items on which the models disagree: they say nothing of {found.to_dict()['says_nothing_of']}."
    )
    return Section("Every pair", (Table("pairs", "Differences", header, rows),), text)


def again(campaign: Campaign) -> Section:
    """How to see the same numbers again."""
    line = f"fieldcheck estimate {shlex.quote(campaign.place)} --json"
    return Section("How to check it", (Commands("commands", "The same numbers", (line,)),))
