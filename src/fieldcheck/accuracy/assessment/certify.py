"""Bets: certify that an accuracy is at least a threshold, or below it, one label at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.designs.base import auxiliaries_of
from fieldcheck.core.draws import BetDraws
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import betting, wealth
from fieldcheck.numerics.regression import priors
from fieldcheck.numerics.sampling import schedule


@dataclass(frozen=True)
class CertifyingBets:
    """Bet on every label that the accuracy is at least a threshold, and that it is below: proof, at any label.

    Items are drawn one at a time, risky ones more often; before each a stake is put on its label. If the claim is false
    the wealth does not grow on average, whatever the auxiliary variables are worth, so that it reaches 20 in at most 5
    % of campaigns. It may be looked at after every single label.

    threshold
        The accuracy to certify.
    auxiliary
        Variables for the risk model, joined by ``+``; ``auto``: all that are known to help and that the pool has.
    first
        Labels before the risk is learnt anew for the first time; then after every quarter more.
    """

    name: ClassVar[str] = "bets"
    title: ClassVar[str] = "Certifying bets"
    paper: ClassVar[str] = "Waudby-Smith and Ramdas 2024; Stark 2023; Ville 1939"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "bets"
    endless: ClassVar[bool] = True

    threshold: float = 0.95
    auxiliary: str = "auto"
    first: int = 20

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise DesignError(
                f"bets: threshold {self.threshold:g}", rule="an accuracy between 0 and 1", hint="0.95 for 95 %"
            )

    def open_ended(self, *, careful: bool) -> CertifyingBets:
        """It always is."""
        return self

    def extended(self, earlier: tuple[int, ...]) -> CertifyingBets:
        """What was drawn does not depend on the budget."""
        return self

    def ends(self, most: int) -> list[int]:
        """The ends of its waves."""
        ends: list[int] = np.cumsum(schedule.open_schedule(self.first, most)).tolist()
        return ends

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        if frame.task != "classification":
            raise DesignError(
                "bets for a regression",
                rule="they certify an accuracy",
                hint="leave out --certify, and hold the labels against `check --max-rmse`",
            )
        frame = frame.only(auxiliaries_of(self, frame.helpful()))
        model = priors.model_of(frame)
        bets = betting.Bets.start(model.expected(model.prior()), self.threshold)
        waves: list[wealth.Kinds] = []
        items: list[int] = []
        kind: list[int] = []
        # As many waves as an unlimited budget has: the last one may end early, and goes on when the budget grows.
        planned = schedule.open_schedule(self.first, frame.size)
        for number, count in enumerate(planned):
            known = np.zeros(0) if not items else np.full(1, np.nan) if losses is None else losses[items]
            if np.isnan(known).any() or len(items) >= budget:
                break
            usable = np.isfinite(known)
            for loss in known[len(bets.taken) :].tolist():
                bets = bets.take(loss if np.isfinite(loss) else None)
            if items:
                at = np.array(items, dtype=np.int64)
                bets = bets.wave(model.expected(model.fit(at[usable], known[usable])))
            waves.append(bets.now)
            rng = stream(seed, "bets", number)
            for _ in range(min(count, budget - len(items))):
                bets, item = bets.draw(rng)
                items.append(item)
                kind.append(int(waves[-1].of_item[item]))
        sizes = np.diff([0, *np.minimum(np.cumsum(planned[: len(waves)]), len(items))])
        return Sample(
            frame.size,
            np.array(items, dtype=np.int64),
            self.estimator,
            BetDraws(
                of_kind=np.array(kind, dtype=np.int64),
                wave=np.repeat(np.arange(len(waves), dtype=np.int64), sizes),
                risk=tuple(one.risk for one in waves),
                size=tuple(one.size for one in waves),
                count=tuple(one.count for one in waves),
                sizes=tuple(int(one) for one in sizes),
                threshold=self.threshold,
            ),
            complete=len(items) >= budget,
            frame=frame,
        )
