"""A comparison that people label: a sheet of disagreements, filled in with true classes (or values)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fieldcheck.accuracy.assessment.labelled import Sheet, without_label
from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.accuracy.comparison.comparison import FIRST, comparison, spend
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.comparison.disagreements import RULE, Contest, Drawn, draw
from fieldcheck.accuracy.comparison.estimate import Rule, ends, judge
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.label import Label
from fieldcheck.core.measures import refuse_outcomes
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.core.words import counted

ESTIMATOR = "disagreement"
"""Not one of the estimators of an accuracy: a sample of disagreements says nothing about that, and is refused there."""


def compare_sheet(
    pools: Sequence[Pool],
    *,
    budget: int | None = None,
    certify: bool = False,
    seed: int = 0,
    files: str = "",
    losses: FloatArray | None = None,
) -> Sheet:
    """The disagreements to label first; models that learn more from the labels choose the next ones.

    losses
        What is known so far: one row per model, one column per contested item, nan elsewhere.
    """
    contest = Contest.of(pools)
    most = spend(contest, budget, certify=certify)
    drawn = draw(contest, losses, budget=most, seed=seed, first=FIRST if certify else None)
    items = contest.items[drawn.items]
    return Sheet(
        sample=_sample(contest, drawn),
        design=build_design(f"waves:first={FIRST}" if certify else "waves"),
        budget=most,
        seed=seed,
        task=contest.task,
        loss="squared",
        threshold=0.5,
        ids=tuple(pools[0].id_of(int(item)) for item in items),
        predictions=pools[0].predictions_at(items.tolist()),
        classes=_classes(pools),
        pool_file=files,
        pool_digest=contest.digest(),
    )


def continued(pools: Sequence[Pool], sheet: Sheet, answers: Mapping[str, Label]) -> Sheet:
    """The sheet with the next wave, once the last one is labelled."""
    contest = _checked(pools, sheet)
    losses = _losses(contest, sheet, answers)
    missing = [name for name in sheet.ids if name not in answers]
    if missing:
        raise LabelError(
            f"{without_label(len(missing), len(sheet.ids))}, first '{missing[0]}'",
            rule="the next items are chosen by what the labels of the last ones say",
            hint="label them first",
        )
    after = compare_sheet(
        pools,
        budget=sheet.budget,
        certify=_certify(sheet),
        seed=sheet.seed,
        files=sheet.pool_file,
        losses=losses,
    )
    if after.ids[: len(sheet.ids)] != sheet.ids:
        raise SampleError(
            "these labels lead to other items than those of the sheet",
            rule="later items were chosen by the labels of the earlier ones: correct a label before going on",
            hint="estimate from the labels that are there, or begin a new comparison",
        )
    return after


def judged(pools: Sequence[Pool], sheet: Sheet, answers: Mapping[str, Label], *, level: float = 0.95) -> Comparison:
    """What the labels say: those before the first gap, and with looks after every wave those of complete waves."""
    contest, rule = _checked(pools, sheet), Rule(level, _certify(sheet))
    losses = _losses(contest, sheet, answers)
    drawn = _drawn(contest, sheet)
    missing = np.flatnonzero(np.isnan(losses[:, drawn.items]).any(axis=0))
    labels = int(missing[0]) if len(missing) else len(drawn.items)
    if rule.certify:
        labels = max(ends(drawn, labels), default=0)
    if labels < 2:
        raise LabelError(
            f"{len(answers):,} of {counted(len(sheet.ids), 'item')} labelled",
            rule="a first look needs a complete wave" if rule.certify else "a first look needs the first two labels",
            hint="label the items in the order of the list",
        )
    found = judge(contest, drawn, losses, labels=labels, rule=rule)
    lost = int(np.isinf(losses[0, drawn.items[:labels]]).sum())
    notes = (*_lost(lost), *_unused(labels, len(answers)), *_unfinished(contest, drawn, labels, sheet))
    return comparison(contest, found, labels - lost, budget=sheet.budget, seed=sheet.seed, rule=rule, warnings=notes)


def _lost(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{counted(count, 'item')} could not be labelled: taken to be like the others that were drawn",)


def _unused(labels: int, answers: int) -> tuple[str, ...]:
    if answers <= labels:
        return ()
    unused = counted(answers - labels, "label is", "labels are")
    return (
        f"{unused} not used: after a gap, or in a wave that is not complete; which items are left out must not depend "
        "on what they are",
    )


def _unfinished(contest: Contest, drawn: Drawn, labels: int, sheet: Sheet) -> tuple[str, ...]:
    left = min(sheet.budget, len(contest.items)) - labels
    if not left or (_certify(sheet) and drawn.complete):
        return ()
    if _certify(sheet):
        return (f"up to {counted(left, 'further label')} may be asked for (--continue)",)
    waiting = counted(left, "label of the budget is", "labels of the budget are")
    return (f"{waiting} still to come: nothing is decided before (or --certify, to look earlier)",)


def _certify(sheet: Sheet) -> bool:
    return getattr(sheet.design, "first", None) is not None


def _sample(contest: Contest, drawn: Drawn) -> Sample:
    return Sample(
        contest.population,
        contest.items[drawn.items],
        ESTIMATOR,
        WaveDraws(
            wave=np.repeat(np.arange(len(drawn.sizes), dtype=np.int64), drawn.sizes),
            sizes=drawn.sizes,
            beliefs=drawn.beliefs,
            objective=RULE.objective,
            floors=(RULE.floor,) * len(drawn.sizes),
            certain=RULE.certain,
        ),
        complete=drawn.complete,
    )


def _drawn(contest: Contest, sheet: Sheet) -> Drawn:
    draws = sheet.sample.drawn_as(WaveDraws)
    return Drawn(_places(contest, sheet), draws.sizes, draws.beliefs, sheet.sample.complete)


def _places(contest: Contest, sheet: Sheet) -> IntArray:
    return np.searchsorted(contest.items, sheet.sample.items)


def _losses(contest: Contest, sheet: Sheet, answers: Mapping[str, Label]) -> FloatArray:
    refuse_outcomes(answers)
    losses = np.full((len(contest.pools), len(contest.items)), np.nan)
    for row, pool in zip(losses, contest.pools, strict=True):
        row[_places(contest, sheet)] = pool.losses_of(answers, sheet.ids)
    return losses


def _checked(pools: Sequence[Pool], sheet: Sheet) -> Contest:
    if sheet.sample.estimator != ESTIMATOR:
        raise SampleError(
            "this sheet was not drawn from disagreements",
            rule="models are compared with the sheet that `fieldcheck compare --out` wrote",
            hint="fieldcheck estimate, for the accuracy of one model",
        )
    contest = Contest.of(pools)
    if contest.digest() != sheet.pool_digest:
        raise SampleError(
            f"{' and '.join(contest.names)} are not what this sheet was drawn from",
            rule="same items, predictions and confidence, and the models in the same order",
            hint=f"the original pools, {sheet.pool_file or 'as they were'}",
        )
    return contest


def _classes(pools: Sequence[Pool]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for pool in pools for name in pool.classes))
