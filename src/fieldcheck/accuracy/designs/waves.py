"""Adaptive waves: the default technique."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import ClassVar, get_args

import numpy as np

from fieldcheck.accuracy.designs.base import auxiliaries_of
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray, IntArray, Task
from fieldcheck.numerics.regression.risk import Belief, RiskModel, frame_model
from fieldcheck.numerics.sampling.inclusion import Objective
from fieldcheck.numerics.sampling.schedule import OPEN_FIRST, open_schedule, schedule
from fieldcheck.numerics.sampling.wave import WaveRule


@dataclass(frozen=True)
class Waves:
    """Label in waves; after each, learn which items are likely to fail, and look where the next labels tell most.

    A risk model starts from the model's own confidence and is refitted to all labels before each wave. Items are
    drawn with unequal chances that never fall under a floor, spread along the risk, and the estimate corrects the
    model's prediction for the whole pool by what the labels say: a wrong risk model costs precision, not honesty.
    On eight published subjects its error is .58 of that of simple random sampling on average (.20 to .84), so that it
    needs a third of the labels; with useless auxiliary variables 1.07 (up to 1.30).

    auxiliary
        Variables for the risk model, joined by ``+``; ``auto``: all that are known to help and that the pool has.
    objective
        ``estimate``: smallest error. ``expose``: most failures. ``balanced``: both.
    floor
        Share of the chances that is the same for all items. Left out: 0.25 for failures, which hide where a model is
        sure of itself; 0.1 for errors of regression, which do not.
    certain
        ``expose`` only: share of each wave that goes to the riskiest items outright.
    first
        Size of the first wave of a campaign whose budget is not known: it then goes on by a quarter of its labels at
        a time, and may stop after any wave. Left out, the waves are laid out for the budget.
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

    auxiliary: str = "auto"
    objective: Objective = "estimate"
    floor: float | None = None
    certain: float = 0.75
    first: int | None = None

    def __post_init__(self) -> None:
        check_between(self.name, low=0.01, high=1, floor=0.25 if self.floor is None else self.floor)
        check_between(self.name, low=0, high=1, certain=self.certain)
        check_between(self.name, low=2, high=1_000_000, first=20 if self.first is None else self.first)
        if self.objective not in (known := get_args(Objective)):
            raise DesignError(
                f"waves: objective '{self.objective}'", rule=", ".join(known), hint="waves:objective=balanced"
            )

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        frame = frame.only(auxiliaries_of(self, frame.helpful()))
        model: RiskModel = frame.memo(
            "risk", lambda: frame_model(frame.auxiliary, frame.predictions, frame.size, frame.task)
        )
        drawn = np.zeros(frame.size, dtype=bool)
        waves: list[IntArray] = []
        beliefs: list[Belief] = []
        planned = schedule(budget) if self.first is None else open_schedule(self.first, budget)
        for number, count in enumerate(planned):
            before = np.concatenate(waves) if waves else np.zeros(0, dtype=np.int64)
            known = _known(before, losses)
            if known is None:
                break
            usable = np.isfinite(known)
            beliefs.append(model.fit(before[usable], known[usable]))
            waves.append(
                self.rule(frame.task).draw(
                    model.prospect(beliefs[-1]),
                    drawn,
                    count,
                    choice=stream(seed, "waves", number),
                    order=stream(seed, "waves", "order", number),
                )
            )
            drawn[waves[-1]] = True
        return self._sample(frame, waves, beliefs, complete=len(waves) == len(planned))

    def open_ended(self, *, careful: bool) -> Waves:
        """Waves that do not depend on the budget; a ``floor`` or ``first`` that is named is kept.

        Where a stop is careful, half of the chances are the same for all items: the guarded variance is then smaller,
        by up to a third of the labels for accurate models, and blind spots are found sooner.
        """
        floor = self.careful_floor if self.floor is None and careful else self.floor
        return replace(self, first=self.first or OPEN_FIRST, floor=floor)

    def ends(self, most: int) -> list[int]:
        """The ends of its waves."""
        ends: list[int] = np.cumsum(open_schedule(self.first or OPEN_FIRST, most)).tolist()
        return ends

    def rule(self, task: Task) -> WaveRule:
        """How beliefs become chances, for failures or for errors of regression."""
        floor = self.floor if self.floor is not None else 0.25 if task == "classification" else 0.1
        return WaveRule(self.objective, floor, self.certain)

    def _sample(self, frame: Frame, waves: list[IntArray], beliefs: list[Belief], *, complete: bool) -> Sample:
        items = np.concatenate(waves)
        sizes = [len(wave) for wave in waves]
        return Sample(
            frame.size,
            items,
            self.estimator,
            WaveDraws(
                wave=np.repeat(np.arange(len(waves), dtype=np.int64), sizes),
                sizes=tuple(sizes),
                beliefs=tuple(belief.as_row() for belief in beliefs),
                **asdict(self.rule(frame.task)),
            ),
            complete=complete,
            frame=frame,
        )


def _known(items: IntArray, losses: FloatArray | None) -> FloatArray | None:
    """Losses of these items; None when one is still to come. Infinite: it will never be known."""
    if not len(items):
        return np.zeros(0)
    if losses is None or np.isnan(losses[items]).any():
        return None
    return losses[items]
