"""The report of a campaign: the answer, how it came about, where the model fails, and how to check all of it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fieldcheck.accuracy.assessment import slices
from fieldcheck.accuracy.assessment.development import Point
from fieldcheck.accuracy.comparison.changes import Change
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.progress import Nonresponse, Progress
from fieldcheck.campaign.settings import Settings
from fieldcheck.core import measures, words
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import IntervalChart, IntervalRow, Line, LineChart, Table
from fieldcheck.core.interval import KINDS, Interval
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.requirement import Decision, Requirement
from fieldcheck.report import comparison
from fieldcheck.report.blocks import Commands, Headline, Section
from fieldcheck.report.estimate import answer_of, facts_of, warnings_of
from fieldcheck.report.failures import failures
from fieldcheck.report.page import page

FEW_CLASSES = 20
"""Predicted classes up to which the report shows each, unless told otherwise."""


def campaign_page(
    campaign: Campaign,
    *,
    level: float = 0.95,
    by: Sequence[str] | None = None,
    requirement: Requirement | None = None,
    more: Sequence[Section] = (),
) -> str:
    """The report of a campaign, at any moment of it.

    by
        Columns to cut the pool by; None: by prediction, where there are few classes.
    requirement
        A requirement to hold the campaign against, as ``check`` does; None: what it was to prove, if anything.
    more
        Further sections, before the one that says how to check it.
    """
    progress = campaign.progress()
    try:
        estimate = campaign.estimate(level=level)
    except LabelError as error:
        return _page_without_estimate(campaign, progress, error)
    if isinstance(estimate, Comparison):
        return _comparison_page(campaign, estimate, progress)
    if requirement is None and campaign.settings.certify is not None:
        requirement = Requirement("accuracy", campaign.settings.certify)
    decision = None if requirement is None else campaign.view.check(requirement, level=level)
    shown = estimate.as_metric(_metric(campaign, requirement))
    change = _change(campaign, by, level)
    return page(
        campaign.settings.title,
        answer=_answer(shown, decision, progress),
        lead=[_where_it_stands(progress, decision), *(() if change is None else (change.sentence(),))],
        warnings=(*warnings_of(estimate), *_shown(campaign)),
        sections=[
            _promises(shown),
            *_development(campaign, shown.metric, requirement, level=level),
            *_changed(change),
            *failures(campaign),
            *_parts(campaign, by if change is None else None, level=level),
            *_unanswered(campaign, level=level),
            *_people(progress),
            *more,
            _again(campaign, estimate),
        ],
        facts=facts_of(shown) | _origin(campaign),
        version=estimate.versions.get("fieldcheck", ""),
    )


def _comparison_page(campaign: Campaign, found: Comparison, progress: Progress) -> str:
    return page(
        campaign.settings.title,
        answer=comparison.answer(found),
        lead=[_where_it_stands(progress, None)],
        warnings=(*found.warnings, *_shown(campaign)),
        sections=[comparison.pairs(found), *_people(progress), comparison.again(campaign)],
        facts=dict(found.facts()) | _origin(campaign),
        version=found.versions.get("fieldcheck", ""),
    )


def _change(campaign: Campaign, by: Sequence[str] | None, level: float) -> Change | None:
    wanted = _by_default(campaign) if by is None else by
    return campaign.view.change(level=level, by=wanted) if campaign.settings.task == "classification" else None


def _changed(change: Change | None) -> Iterator[Section]:
    """Old against new: by part, failures that are gone, and new ones."""
    if change is not None and (tables := [*(one.table() for one in change.cuts), *change.lists()]):
        yield Section(
            "What changed", tuple(tables), "Both versions on the same labels, of items that neither has seen."
        )


def _shown(campaign: Campaign) -> tuple[str, ...]:
    if not campaign.state.shown:
        return ()
    return ("people who labelled saw what the model said: who sees an answer tends to agree with it",)


def _metric(campaign: Campaign, requirement: Requirement | None) -> str:
    """The scale of the page: that of the requirement; of errors, else the one in the unit of the predictions."""
    if requirement is not None:
        return requirement.metric
    readable: dict[str, str] = {"squared": "rmse", "absolute": "mae"}
    return "accuracy" if campaign.settings.task == "classification" else readable[campaign.settings.loss]


def _page_without_estimate(campaign: Campaign, progress: Progress, error: LabelError) -> str:
    return page(
        campaign.settings.title,
        lead=[f"There is no estimate yet: {error.problem}.", _where_it_stands(progress, None)],
        warnings=_shown(campaign),
        sections=[*failures(campaign), *_people(progress)],
        facts=_origin(campaign),
        version=campaign.settings.versions.get("fieldcheck", ""),
    )


def _answer(estimate: Estimate, decision: Decision | None, progress: Progress) -> Headline:
    plain = answer_of(estimate)
    unsettled = (("items that could not be labelled", progress.skipped), ("items in dispute", progress.disputed))
    lost = tuple((name, words.count(number)) for name, number in unsettled if number)
    chart = _intervals_chart(estimate, None if decision is None else decision.requirement)
    whole = replace(plain, chips=(*plain.chips, *lost), chart=chart, sentence=_in_words(estimate))
    if decision is None:
        return whole
    word = "Preliminary" if decision.preliminary else decision.word.capitalize()
    how = "" if decision.look is None or decision.preliminary else f" ({decision.look.words()})"
    return replace(whole, decision=f"{word}: {decision.requirement}{how}", standing=decision.word)


def _intervals_chart(estimate: Estimate, requirement: Requirement | None) -> IntervalChart:
    rows = [IntervalRow(name, estimate.value, one.low, one.high, trusted=one.trusted) for name, one in _both(estimate)]
    title = f"Estimated {estimate.metric}"
    held = (estimate.truth, "truth") if requirement is None else (requirement.bound, "required")
    return IntervalChart(
        *("answer", title, estimate.metric, tuple(rows)),
        truth=held[0],
        truth_label=held[1],
        share=estimate.scale.share,
    )


def _both(estimate: Estimate) -> list[tuple[str, Interval]]:
    """The interval, and the one beside it where there is one that says something, by their names."""
    if estimate.beside is None or not estimate.beside.trusted:
        return [("interval", estimate.interval)]
    return [(_name(one, estimate), one) for one in (estimate.interval, estimate.beside)]


def _name(interval: Interval, estimate: Estimate) -> str:
    return "protected" if interval is estimate.protected else "narrower"


def _in_words(estimate: Estimate) -> str:
    """Accuracy as people picture it: so many wrong of a thousand, of ten thousand where they are rare, or of a
    smaller pool."""
    low, value, high = (1 - one for one in (estimate.interval.high, estimate.value, estimate.interval.low))
    if estimate.metric != "accuracy" or math.isnan(low + high) or not estimate.interval.trusted:
        return estimate.sentence()
    of = min(1_000 if value >= 0.01 else 10_000, estimate.population)
    which = f"the {words.count(of)}" if of == estimate.population else words.count(of)
    return (
        f"Of {which} items of this pool the model gets about {of * max(value, 0.0):.0f} wrong; anything from "
        f"{of * max(low, 0.0):.0f} to {of * high:.0f} fits what was seen. To know this, people looked at "
        f"{words.count(estimate.labels)} of {words.count(estimate.population)} items."
    )


def _where_it_stands(progress: Progress, decision: Decision | None) -> str:
    waiting = words.counted(progress.open + progress.disputed, "item is", "items are")
    state = f"The campaign is still running: {waiting} waiting for a label."
    if progress.closed or progress.complete:
        state = f"The campaign is {'closed' if progress.closed else 'complete'}."
    if decision is None or not (reason := decision.reason()):
        return state
    return f"{state} Not decided: {decision.requirement}; {reason}."


def _promises(estimate: Estimate) -> Section:
    rows = tuple(
        (name, *(_unbroken(estimate.scale.shown(bound)) for bound in (one.low, one.high)), _assumption(one))
        for name, one in _both(estimate)
    )
    share = f"{100 * estimate.interval.level:g} %"
    text = (
        f"If the whole campaign were repeated many times with other random items, about {share} of such intervals "
        f"would contain the {estimate.metric} of the whole pool. They speak about the "
        f"{words.count(estimate.population)} items of this pool, not about future data, and they take the labels "
        "to be right."
    )
    return Section(
        "The promise",
        (Table("intervals", f"{share} intervals", ("interval", "from", "to", "what it rests on"), rows),),
        text,
    )


def _unbroken(number: str) -> str:
    """A number that keeps its unit on its line."""
    return number.replace(" ", "\N{NO-BREAK SPACE}")


def _assumption(interval: Interval) -> str:
    text = "; ".join(filter(None, [KINDS[interval.kind], interval.note]))
    return text + (f" ({interval.method})" if interval.method else "")


def _development(
    campaign: Campaign, metric: str, requirement: Requirement | None, *, level: float
) -> Iterator[Section]:
    points = [on_scale(campaign, point, metric) for point in campaign.view.development(level=level)]
    if len(points) < 2:
        return
    line = Line(
        "estimate",
        x=tuple(float(point.labels) for point in points),
        y=tuple(point.value for point in points),
        low=tuple(point.low for point in points),
        high=tuple(point.high for point in points),
    )
    chart = LineChart(
        "development",
        f"{metric.capitalize()} after each label",
        "labels",
        metric,
        (line,),
        reference=None if requirement is None else requirement.bound,
        reference_label="" if requirement is None else "required",
        note=f"The band is the {100 * level:g} % interval. Labels are counted in the order of the draw.",
        share=SCALES[metric].share,
    )
    yield Section("How it developed", (chart,))


def on_scale(campaign: Campaign, point: Point, metric: str) -> Point:
    """The point in another metric."""
    first = measures.measure_of(campaign.settings.task, campaign.settings.loss).scales[0]
    losses = [value if first == "mae" else 1 - value for value in (point.low, point.value, point.high)]
    low, value, high = sorted(SCALES[metric].of(loss) for loss in losses)
    return replace(point, low=low, value=value, high=high)


def _parts(campaign: Campaign, by: Sequence[str] | None, *, level: float) -> Iterator[Section]:
    wanted = by if by is not None else _by_default(campaign)
    try:
        labelled, _ = campaign.view.labelled()
    except SampleError:
        if by is not None:
            raise
        return
    found = list[slices.Slices]()
    for column in wanted:
        try:
            found.append(slices.slices(labelled, campaign.pool, column, level=level, loss=campaign.settings.loss))
        except SampleError:
            if by is not None:
                raise
    blocks = [block for part in found for block in (part.chart(), part.table()) if block.rows]
    if blocks:
        yield Section("Parts of the pool", tuple(blocks))


def _by_default(campaign: Campaign) -> tuple[str, ...]:
    pool = campaign.pool
    few = pool.predictions is not None and len(pool.classes) <= FEW_CLASSES
    return ("prediction",) if few and pool.task == "classification" else ()


def _unanswered(campaign: Campaign, *, level: float) -> Iterator[Section]:
    found = campaign.view.nonresponse(level=level)
    if found is None:
        return
    reasons = tuple((reason or "(no reason given)", number) for reason, number in found.reasons.items())
    bounds = Table("nonresponse", "What they may do to the estimate", ("if", "estimate", "from", "to"), _cases(found))
    blocks = (bounds, Table("reasons", "Why", ("reason", "times"), reasons)) if reasons else (bounds,)
    text = (
        f"{_without_label(found)}. The estimate takes {'it' if found.count == 1 else 'them'} to be like the labelled "
        "ones; the other lines show how far that can be off."
    )
    yield Section("No answer", blocks, text)


def _without_label(found: Nonresponse) -> str:
    skipped = found.count - found.disputed
    texts = [
        f"{words.counted(skipped, 'item was', 'items were')} asked for, but could not be labelled",
        f"on {words.counted(found.disputed, 'item')} people disagree",
    ]
    chosen = [text for text, number in zip(texts, (skipped, found.disputed), strict=True) if number]
    return "; ".join(chosen).capitalize()


def _cases(found: Nonresponse) -> tuple[tuple[str, ...], ...]:
    regression = found.if_wrong is None
    cases = {
        "they are like the labelled ones": found.estimate,
        "the model makes no error on any of them"
        if regression
        else "the model is right on all of them": found.if_right,
        "the model is wrong on all of them": found.if_wrong,
    }
    return tuple(
        (case, *(_unbroken(one.scale.shown(value)) for value in (one.value, one.interval.low, one.interval.high)))
        for case, one in cases.items()
        if one is not None
    )


def _people(progress: Progress) -> Iterator[Section]:
    several = not math.isnan(progress.agreement)
    if len(progress.annotators) < 2 and not several:
        return
    rows = tuple((name or "(no name)", number) for name, number in sorted(progress.annotators.items()))
    text = (
        f"Where an item has several labels, all agree on {words.percent(progress.agreement, 0)} of them; "
        "the majority counts."
        if several
        else "Every item was labelled by one person."
    )
    if progress.disputed:
        waiting = words.counted(progress.disputed, "item waits", "items wait")
        text += f" {waiting} for the lead to settle, because people disagree."
    yield Section("Who labelled", (Table("people", "Labels by person", ("name", "labels"), rows),), text)


def _again(campaign: Campaign, estimate: Estimate) -> Section:
    place = shlex.quote(campaign.place)
    lines = (
        f"fieldcheck estimate {place} --json",
        start_command(campaign),
    )
    text = (
        f"The technique is {estimate.design_title} ({estimate.paper}). The campaign keeps everything that happened, in "
        "order; from it and the pool, every number of this page follows. With the same pool, settings and seed, a "
        "new campaign asks for the same first items."
    )
    return Section("How to check it", (Commands("commands", "The same numbers, and the same start", lines),), text)


def start_command(campaign: Campaign) -> str:
    """The command that starts such a campaign again."""
    settings = campaign.settings
    command = ["fieldcheck", "start", campaign.view.pool_place or "POOL", "--campaign", "again.db"]
    command += _drawn_by(settings) + _given("--budget", settings.budget) + _given("--seed", settings.seed)
    command += _given("--train-share", settings.train_share or None)
    command += _given("--items", campaign.view.items_folder or settings.items)
    command += _given("--labels-per-item", settings.labels_per_item if settings.labels_per_item > 1 else None)
    return shlex.join([*command, *_reading(settings.pool_options)])


def _drawn_by(settings: Settings) -> list[str]:
    """The technique, or the question that has its own."""
    if settings.certify is not None:
        return ["--certify", str(settings.certify)]
    if old := next((one for one in settings.others if one.campaign), None):
        unseen = [] if old.trained else ["--labels-unseen"]
        return ["--reuse", old.place.recorded or "CAMPAIGN", *unseen]
    named = settings.auxiliary if settings.auxiliary not in ("none", "auto") else None
    return _given("--design", settings.design) + _given("--auxiliary", named)


def _given(option: str, value: object) -> list[str]:
    return [] if value in (None, "") else [option, str(value)]


def _reading(pool_options: Mapping[str, Any]) -> list[str]:
    """How the pool is to be read, as options."""
    options = [
        word for role, name in (pool_options.get("columns") or {}).items() for word in ("--column", f"{role}={name}")
    ]
    options += [word for name in pool_options.get("shift") or () for word in ("--shift", name)]
    return [*options, *_given("--task", pool_options.get("task")), *_given("--encoding", pool_options.get("encoding"))]


def _origin(campaign: Campaign) -> dict[str, str]:
    """Where it all is, for whoever checks it."""
    settings = campaign.settings
    facts = {
        "campaign": f"{campaign.place}, {words.counted(campaign.state.number, 'event')}",
        "pool": campaign.view.pool_place,
        "digest of the pool": settings.pool_digest,
        "classes": words.count(len(campaign.state.classes)) if settings.classes else "",
        "labels per item": str(settings.labels_per_item),
        "started with": ", ".join(f"{name} {version}" for name, version in settings.versions.items()),
    }
    return {name: text for name, text in facts.items() if text}
