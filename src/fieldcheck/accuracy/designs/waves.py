"""Adaptive waves: the default technique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, get_args

import numpy as np

from fieldcheck.accuracy.designs.base import auxiliaries_of
from fieldcheck.accuracy.designs.forecast import Scenario
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics import exact
from fieldcheck.numerics.intervals import protected
from fieldcheck.numerics.regression import assisted, believed, priors, risk
from fieldcheck.numerics.sampling import floor as floors
from fieldcheck.numerics.sampling import schedule
from fieldcheck.numerics.sampling.inclusion import Objective
from fieldcheck.numerics.sampling.wave import Prospect, WaveRule, drawn_apart


@dataclass(frozen=True)
class Waves:
    """Label in waves; after each, learn which items are likely to fail, and look where the next labels tell most.

    A risk model starts from the model's own confidence and is refitted to all labels before each wave. WaveItems are
    drawn with unequal chances that never fall under a floor, spread along the risk, and the estimate shifts the
    model's prediction for the whole pool until it agrees with the labels: a wrong risk model costs precision, not
    honesty. Of its two intervals one is protected against confident items that fail, the other one is narrower. With
    50 and 200 labels on four pools its error is .75 of that of simple random sampling on average (up to .92), and with
    useless auxiliary variables 1.00 (up to 1.07); with ``objective=estimate`` .58 (up to .94) and 1.09 (up to 1.18).

    auxiliary
        Variables for the risk model, joined by ``+``; ``auto``: all that are known to help and that the pool has.
    objective
        ``protected``: the narrowest interval that also holds where confident items fail. ``estimate``: smallest
        error. ``expose``: most failures. ``balanced``: both.
    floor
        Share of the chances that is the same for all items. Left out, each wave of ``protected`` takes the one with
        which its interval is forecast to be narrowest, and of ``estimate`` one between 0.1 and 0.25, lower where
        failures are rare; otherwise 0.25 for failures, which hide where a model is sure of itself, and 0.1 for errors
        of regression, which do not.
    certain
        ``expose`` only: share of each wave that goes to the riskiest items outright.
    first
        Size of the first wave of a campaign whose budget is not known: it then goes on by a quarter of its labels at
        a time, and may stop after any wave. Left out, the waves are laid out for the budget.
    train
        Share of the labels to train the next version with; the others are kept to judge it.
    earlier
        Budgets that were extended, joined by ``+``: what was drawn for them stays.
    """

    name: ClassVar[str] = "waves"
    title: ClassVar[str] = "Adaptive waves"
    paper: ClassVar[str] = (
        "fieldcheck; pivotal sampling: Deville and Tillé 1998, Chauvet 2012; difference estimator: Särndal 1992"
    )
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "model_assisted"
    endless: ClassVar[bool] = True
    careful_floor: ClassVar[float] = 0.5
    margins: ClassVar[tuple[float, float, float]] = (0.85, 1.0, 1.4)
    own_risk: ClassVar[bool] = True

    auxiliary: str = "auto"
    objective: Objective = "protected"
    floor: float | None = None
    certain: float = 0.75
    first: int | None = None
    train: float = 0.0
    earlier: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_between(self.name, low=0.01, high=1, floor=0.25 if self.floor is None else self.floor)
        check_between(self.name, low=0, high=1, certain=self.certain, train=self.train)
        check_between(self.name, low=2, high=1_000_000, first=20 if self.first is None else self.first)
        if self.objective not in (known := get_args(Objective)):
            raise DesignError(
                f"waves: objective '{self.objective}'", rule=", ".join(known), hint="waves:objective=balanced"
            )

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        frame = frame.only(auxiliaries_of(self, frame.helpful()))
        model = priors.model_of(frame)
        planned = self._planned(budget)
        # What was drawn last is gone on from: at a million items, drawing all waves anew takes seconds for the tenth.
        last: dict[str, tuple[object, _SoFar]] = frame.memo("waves drawn last", dict)
        before, so_far = last.get("", (None, _SoFar()))
        done = len(so_far.waves)
        if before != self._asked(planned[:done], seed) or not so_far.still(losses):
            so_far, done = _SoFar(), 0
        for number, (count, total) in list(enumerate(planned))[done:]:
            known = _known(so_far.items, losses)
            if known is None:
                break
            so_far = self._next(so_far, model, known, count, total, (seed, number))
        last[""] = (self._asked(planned[: len(so_far.waves)], seed), so_far)
        complete = len(so_far.waves) == len(planned)
        sample = self._sample(frame, so_far.waves, so_far.past, complete=complete, facts=priors.facts_of(model))
        return replace(sample, train=np.concatenate(so_far.train)) if self.train else sample

    def recall(self, frame: Frame, sample: Sample, losses: FloatArray, *, budget: int, seed: int) -> None:
        frame = frame.only(auxiliaries_of(self, frame.helpful()))
        last: dict[str, tuple[object, _SoFar]] = frame.memo("waves drawn last", dict)
        draws, planned = sample.drawn_as(WaveDraws), self._planned(budget)
        ends = np.cumsum(draws.sizes)
        if last or not len(draws.scales) or tuple(size for size, _ in planned[: len(ends)]) != draws.sizes:
            return
        model = priors.model_of(frame, draws.facts)
        train = np.zeros(len(sample), dtype=bool) if sample.train is None else sample.train
        past = [
            believed.SettledWave.stored(model.belief(row), draws.objective, floor, scales)
            for row, floor, scales in zip(draws.beliefs, draws.floors, draws.scales, strict=True)
        ]
        waves, apart = (tuple(np.split(one, ends[:-1])) for one in (sample.items, train))
        known = losses[sample.items[: ends[-1] - draws.sizes[-1]]]
        last[""] = (self._asked(planned[: len(ends)], seed), _SoFar(waves, apart, tuple(past), known))

    def _planned(self, budget: int) -> list[tuple[int, int]]:
        """Of each wave: its size, and the labels that it is laid out for."""
        staged = schedule.staged([*(one for one in self.earlier if one < budget), budget], self.first)
        if self.first is None:
            return staged
        sizes = [size for size, _ in staged]
        return [(size, 2 * end) for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True)]

    def _asked(self, planned: Sequence[tuple[int, int]], seed: int) -> object:
        """All that these waves depend on beside the labels."""
        return replace(self, earlier=()), tuple(planned), seed

    def _next(
        self,
        so_far: _SoFar,
        model: risk.RiskModel,
        known: FloatArray,
        count: int,
        total: int,
        name: tuple[int, int],
    ) -> _SoFar:
        """One more wave of ``count``; ``total`` is what the labels are laid out for, ``name`` its randomness."""
        items, usable = so_far.items, np.isfinite(known)
        belief = model.fit(items[usable], known[usable])
        before = believed.Believed(
            model.population, believed.BeforeWave(model.rule, belief, np.sort(items), so_far.past)
        )
        look = exact.scan(before, believed.first_look, self.objective)
        floor = self._floor(before, look, left=total - len(items), budget=total)
        chances = self.rule(floor).settled(before, count, look.sums)
        seed, number = name
        streams = {"choice": stream(seed, "waves", number), "order": stream(seed, "waves", "order", number)}
        wave, train = drawn_apart(before, chances, count, train=self.train, along=look.along, **streams)
        return so_far.and_then(wave, train, believed.SettledWave(belief, chances), known)

    def floor_for(self, rate: float, task: str) -> float:
        """The floor before any label; ``rate`` is the mean expected loss."""
        if self.floor is not None or task == "regression":
            return 0.1 if self.floor is None else self.floor
        if self.objective == "protected":
            return self.careful_floor
        return floors.estimating_floor(rate) if self.objective == "estimate" else 0.25

    def _floor(self, before: believed.Believed, look: believed.First, *, left: int, budget: int) -> float:
        """The floor of a wave; ``protecting_floor`` has the words."""
        task, rate = before.population.task, float(look.total) / before.size
        if not self._seeks_floor(task):
            return self.floor_for(rate, task)
        return floors.narrowest(before, look.sums, rate, before.size, count=min(left, look.sums.count), budget=budget)

    def _seeks_floor(self, task: str) -> bool:
        return self.objective == "protected" and self.floor is None and task == "classification"

    def rule(self, floor: float) -> WaveRule:
        """How beliefs become chances."""
        return WaveRule(self.objective, floor, self.certain)

    def open_ended(self, *, careful: bool) -> Waves:
        """Waves that do not depend on the budget; a ``floor`` or ``first`` that is named is kept.

        Where a stop is careful, half of the chances are the same for all items: the protected interval is then
        narrower, by up to a third of the labels for accurate models, and blind spots are found sooner. ``protected``
        finds the floor of each wave itself.
        """
        named = self.floor is not None or self.objective == "protected"
        floor = self.careful_floor if careful and not named else self.floor
        return replace(self, first=self.first or schedule.OPEN_FIRST, floor=floor)

    def extended(self, earlier: tuple[int, ...]) -> Waves:
        """Further waves, after those of the earlier budgets."""
        return replace(self, earlier=earlier)

    def ends(self, most: int) -> list[int]:
        """The ends of its waves."""
        ends: list[int] = np.cumsum(schedule.open_schedule(self.first or schedule.OPEN_FIRST, most)).tolist()
        return ends

    def half_width(self, frame: Frame, scenario: Scenario, *, labels: int, level: float) -> float:
        """One wave with all labels: later waves know the risk about as well as the scenario does."""
        expected, none = scenario.expected, np.zeros(frame.size, dtype=bool)
        count, size = labels * scenario.share, scenario.population
        floor = self.floor_for(float(expected.mean()), scenario.task)
        if self._seeks_floor(scenario.task):
            missed = np.ones(frame.size)
            floor = floors.protecting_floor(expected, missed, none, count=count, budget=labels, population=size)
        chance = self.rule(floor).inclusion(Prospect(expected, scenario.spread, expected), none, count)
        variance = float((scenario.spread * (1 / chance - 1)).mean()) / size
        if variance <= 0:
            return 0.0
        if scenario.task == "regression":
            return scenario.half_width(variance, labels, level=level)
        bounds = protected.protected if self.objective == "protected" else protected.trusting
        low, high = bounds(_evidence(scenario, chance, variance, labels), level=level)
        return (high - low) / 2

    def _sample(
        self,
        frame: Frame,
        waves: Sequence[IntArray],
        past: Sequence[believed.SettledWave],
        *,
        complete: bool,
        facts: FloatArray = priors.UNKNOWN,
    ) -> Sample:
        sizes, chances = [len(wave) for wave in waves], [one.chances for one in past]
        return Sample(
            frame.size,
            np.concatenate(waves),
            self.estimator,
            WaveDraws(
                wave=np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),
                sizes=tuple(sizes),
                beliefs=tuple(one.belief.as_row() for one in past),
                floors=tuple(one.floor for one in chances),
                scales=tuple(np.array([one.level, one.factor, one.cut]) for one in chances),
                objective=self.objective,
                certain=self.certain,
                facts=facts,
            ),
            complete=complete,
            frame=frame,
        )


def _evidence(scenario: Scenario, chance: FloatArray, variance: float, labels: int) -> protected.MeanEvidence:
    """What a campaign may see: as many labels of a random sample as its variance is worth, and their failures."""
    worth = scenario.rate * (1 - scenario.rate) / variance
    value = min(scenario.found(worth * scenario.rate) / worth, 1 - 1e-9)
    spread = value * (1 - value) / worth
    hits = assisted.hit_rate(float(np.average(chance, weights=scenario.expected)))
    return protected.MeanEvidence(
        value,
        spread,
        spread,
        least=assisted.sparsest_rates(chance),
        typical=hits,
        unseen=assisted.unseen_rate(scenario.expected, chance),
        failures=float(value > 0),
        labels=labels,
        population=scenario.population,
    )


@dataclass(frozen=True, eq=False)
class _SoFar:
    """Waves that were drawn, and what the next one goes by.

    train
        One per draw of each wave: whether it is to train with.
    past
        By what they were drawn.
    known
        The losses that they were drawn with: of all waves but the last.
    """

    waves: tuple[IntArray, ...] = ()
    train: tuple[BoolArray, ...] = ()
    past: tuple[believed.SettledWave, ...] = ()
    known: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def items(self) -> IntArray:
        return np.concatenate(self.waves) if self.waves else np.zeros(0, dtype=np.int64)

    def still(self, losses: FloatArray | None) -> bool:
        """Whether it would be drawn again with these losses."""
        known = _known(self.items[: len(self.known)], losses)
        return known is not None and np.array_equal(known, self.known)

    def and_then(self, wave: IntArray, train: BoolArray, settled: believed.SettledWave, known: FloatArray) -> _SoFar:
        return _SoFar((*self.waves, wave), (*self.train, train), (*self.past, settled), known)


def _known(items: IntArray, losses: FloatArray | None) -> FloatArray | None:
    """Losses of these items; None when one is still to come. Infinite: it will never be known."""
    if not len(items):
        return np.zeros(0)
    if losses is None or np.isnan(losses[items]).any():
        return None
    return losses[items]
