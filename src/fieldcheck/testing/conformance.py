"""What every design and every estimator must do, whoever wrote it.

from fieldcheck.testing import check_design

def test_mine():
    check_design(MyDesign)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from fieldcheck.accuracy import auxiliary, designs, estimators
from fieldcheck.accuracy.designs import base as bases
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.accuracy.estimators import base
from fieldcheck.core.draws import Draws
from fieldcheck.core.errors import FieldcheckError, SampleError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import Registry
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.testing.cases import Case, cases
from fieldcheck.testing.require import require

STRANGER = "stranger"
"""An auxiliary variable that no design has heard of."""


def check_design(design: Design | type[Design]) -> None:
    """Raise AssertionError unless the design keeps its contract on every pool of ``cases``.

    Same seed, same sample; a pure function of the frame, the labels of drawn items and the seed; blind to auxiliary
    variables that it does not name; exactly as many draws as labels were asked for; an estimator that accepts the
    sample; records and command lines that give it back.
    """
    made = design() if isinstance(design, type) else design
    _check_description(made)
    _check_seeds_matter(made)
    for case in cases():
        for budget in case.budgets:
            where = f"{bases.spec(made)}, {case.name}, budget {budget}"
            sample = _check_repeats(made, case, budget=budget, where=where)
            _check_form(sample, budget=budget, size=len(case.values), where=where)
            _check_labels(made, case, sample, where=where)
            _check_estimate(made, case, sample, where=where)
            _check_strangers(made, case, sample, where=where)


def check_estimator(estimator: base.Estimator | type[base.Estimator], labelled: Iterable[Labelled] = ()) -> None:
    """Raise AssertionError unless the estimator keeps its contract.

    labelled
        Samples to try it on; left out, those of every registered design that the estimator accepts.
    """
    made = estimator() if isinstance(estimator, type) else estimator
    require(isinstance(made, base.Estimator), f"{made!r} lacks a part of the protocol Estimator")
    tried = [one for one in (labelled or _labelled_samples()) if isinstance(one.sample.draws, made.accepts)]
    require(bool(tried), f"{made.name}: no sample is drawn as {[kind.__name__ for kind in made.accepts]}")
    for one in tried:
        found = made.estimate(one, level=0.95)
        _check_mean_loss(found, where=made.name)
        if one.sample.frame is None:  # an estimator that predicts the rest of the pool may know better than the labels
            _check_scales(made, one, found)
        _check_levels(made, one)
    _check_refusal(made, tried[0])


def _auxiliary(design: Design) -> str:
    return str(getattr(design, "auxiliary", "confidence"))


def _check_description(design: Design) -> None:
    """Its words are there, and its command line gives it back."""
    require(isinstance(design, Design), f"{design!r} lacks a part of the protocol Design")
    for word in ("name", "title", "paper", "needs", "estimator"):
        require(bool(getattr(design, word)), f"{design!r} has no {word}")
    require(design.needs in ("nothing", "auxiliary", "activations"), f"{design.name}: needs '{design.needs}'")
    require(design.estimator in estimators.registry, f"{design.name}: no estimator '{design.estimator}'")
    own: Registry[Design] = Registry("design", "fieldcheck.none", type(design))
    again = own.build(bases.spec(design), auxiliary=getattr(design, "auxiliary", None))
    require(again == design, f"'{bases.spec(design)}' gives {again!r} instead of {design!r}")


def _check_seeds_matter(design: Design) -> None:
    case = cases()[0]
    seen = {tuple(_draw(design, case, case.losses, budget=10, seed=seed).items.tolist()) for seed in range(20)}
    require(len(seen) > 1, f"{design.name}: twenty seeds give one and the same sample")


def _draw(design: Design, case: Case, losses: FloatArray | None, *, budget: int, seed: int = 1) -> Sample:
    """A draw from a frame that has not been used before."""
    return design.draw(case.frame(_auxiliary(design)), losses, budget=budget, seed=seed)


def _check_repeats(design: Design, case: Case, *, budget: int, where: str) -> Sample:
    """Same seed, same sample: from a new frame, from a used one, and after another seed was asked for."""
    frame: Frame = case.frame(_auxiliary(design))
    values = case.values.copy()
    first = design.draw(frame, case.losses, budget=budget, seed=1)
    design.draw(frame, case.losses, budget=budget, seed=2)
    again = design.draw(frame, case.losses, budget=budget, seed=1)
    fresh = _draw(design, case, case.losses, budget=budget)
    require(_same(first, again) and _same(first, fresh), f"{where}: the same seed gives another sample")
    require(bool(np.array_equal(values, case.values)), f"{where}: the frame was changed")
    return first


def _check_strangers(design: Design, case: Case, sample: Sample, *, where: str) -> None:
    """Auxiliary variables that it does not name change nothing, not even where another of its kind used them before."""
    own = _auxiliary(design)
    strangers = [name for name in (*auxiliary.registry, STRANGER) if own != "auto" and name not in own.split("+")] or [
        STRANGER
    ]
    frame = case.frame(own, strangers)
    if hasattr(design, "auxiliary"):
        replace(design, auxiliary=STRANGER).draw(frame, case.losses, budget=len(sample), seed=1)  # type: ignore[type-var]
    among = design.draw(frame, case.losses, budget=len(sample), seed=1)
    require(_same(sample, among), f"{where}: looks at an auxiliary variable that it does not name")
    estimates = {repr(estimators.estimate(_label(one, case))) for one in (sample, among)}
    require(len(estimates) == 1, f"{where}: is estimated with an auxiliary variable that it does not name")


def _check_form(sample: Sample, *, budget: int, size: int, where: str) -> None:
    require(sample.complete, f"{where}: incomplete although all labels are known")
    require(len(sample) == budget, f"{where}: {len(sample)} draws")
    require(sample.population == size, f"{where}: population {sample.population}")
    require(sample.items.dtype == np.int64, f"{where}: items are {sample.items.dtype}")
    require(bool(np.all((sample.items >= 0) & (sample.items < size))), f"{where}: an item outside the pool")
    for name in sample.draws.columns:
        require(bool(np.all(np.isfinite(getattr(sample.draws, name)))), f"{where}: '{name}' is not finite")


def _check_labels(design: Design, case: Case, sample: Sample, *, where: str) -> None:
    """Labels matter only for items that were drawn, and only when they are there."""
    budget, missing = len(sample), np.full(len(case.values), np.nan)
    blind = _draw(design, case, None, budget=budget)
    require(_same(blind, _draw(design, case, missing, budget=budget)), f"{where}: reads a missing label")
    require(_begins(sample, blind), f"{where}: starts differently without labels")
    others = np.ones(len(case.values), dtype=bool)
    others[sample.items] = False
    changed = np.where(others, 1.0 - case.losses, case.losses)
    require(_same(sample, _draw(design, case, changed, budget=budget)), f"{where}: looks at items it did not draw")
    for step in (1, 3, budget):
        arrived = _as_labels_arrive(design, case, budget=budget, step=step, where=where)
        require(_same(sample, arrived), f"{where}: labels that arrive {step} at a time lead elsewhere")


def _as_labels_arrive(design: Design, case: Case, *, budget: int, step: int, where: str) -> Sample:
    """The sample when at most ``step`` labels are given between two draws."""
    known = np.full(len(case.values), np.nan)
    sample = _draw(design, case, known, budget=budget)
    while not sample.complete:
        waiting = [item for item in sample.to_label().tolist() if math.isnan(known[item])]
        require(bool(waiting), f"{where}: waits for labels without naming an item")
        known[waiting[:step]] = case.losses[waiting[:step]]
        longer = _draw(design, case, known, budget=budget)
        require(_begins(longer, sample), f"{where}: further labels change what was drawn")
        sample = longer
    return sample


def _check_estimate(design: Design, case: Case, sample: Sample, *, where: str) -> None:
    """Its own estimator accepts the sample, and gives the same for its record."""
    require(sample.estimator == design.estimator, f"{where}: made for the estimator '{sample.estimator}'")
    found = estimators.estimate(_label(sample, case))
    _check_mean_loss(found, where=where)
    restored = replace(Sample.from_record(json.loads(json.dumps(sample.as_record()))), frame=sample.frame)
    require(_same(sample, restored), f"{where}: its record gives another sample")
    again = estimators.estimate(_label(restored, case))
    require(repr(again) == repr(found), f"{where}: its record gives another estimate")


def _label(sample: Sample, case: Case) -> Labelled:
    losses = case.losses[sample.items]
    return Labelled(sample, losses, losses > 0, case.task)


def _check_mean_loss(found: base.MeanLoss, *, where: str) -> None:
    require(math.isfinite(found.value), f"{where}: estimate {found.value}")
    require(found.variance >= -1e-12, f"{where}: variance {found.variance}")
    require(found.interval.low <= found.interval.high, f"{where}: interval {found.interval}")


def _same(one: Sample, other: Sample) -> bool:
    """To the last bit; the shortest text of a float is its own, and nan is written like nan."""
    return repr(one.as_record()) == repr(other.as_record())


def _begins(longer: Sample, shorter: Sample) -> bool:
    start = longer.prefix(len(shorter))
    columns = shorter.draws.columns
    alike = all(np.array_equal(getattr(start.draws, name), getattr(shorter.draws, name)) for name in columns)
    return alike and bool(np.array_equal(start.items, shorter.items))


def _labelled_samples() -> Iterable[Labelled]:
    for name in designs.registry:
        design = designs.registry.build(name)
        for case in cases():
            for budget in case.budgets:
                yield _label(_draw(design, case, case.losses, budget=budget), case)


def _check_scales(estimator: base.Estimator, labelled: Labelled, found: base.MeanLoss) -> None:
    """Losses in another unit give the estimate in that unit, and no losses give zero."""
    twice = Labelled(labelled.sample, labelled.losses * 2, labelled.failed, "regression")
    none = Labelled(labelled.sample, labelled.losses * 0, labelled.failed & False, labelled.task)
    doubled = estimator.estimate(twice, level=0.95)
    require(math.isclose(doubled.value, 2 * found.value, abs_tol=1e-12), f"{estimator.name}: depends on the unit")
    require(estimator.estimate(none, level=0.95).value == 0, f"{estimator.name}: finds losses where there are none")


def _check_levels(estimator: base.Estimator, labelled: Labelled) -> None:
    """An interval that promises more is not narrower."""
    narrow, wide = (estimator.estimate(labelled, level=level).interval for level in (0.5, 0.99))
    fits = wide.low <= narrow.low + 1e-9 and narrow.high <= wide.high + 1e-9
    require(fits, f"{estimator.name}: 50 % interval {narrow} is not inside the 99 % one {wide}")


def _check_refusal(estimator: base.Estimator, labelled: Labelled) -> None:
    """A sample that was drawn in another way is refused, with an error that users understand."""
    bare = replace(labelled.sample, draws=Draws())
    own: Registry[base.Estimator] = estimators.registry
    if Draws in estimator.accepts or estimator.name not in own:
        return
    try:
        estimators.estimate(Labelled(bare, labelled.losses, labelled.failed), estimator=estimator.name)
    except SampleError:
        return
    except FieldcheckError as error:
        raise AssertionError(f"{estimator.name}: refuses a bare sample with {type(error).__name__}") from error
    raise AssertionError(f"{estimator.name}: accepts a sample of which nothing is known")
