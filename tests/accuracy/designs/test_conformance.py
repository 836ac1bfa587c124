"""Every design in the registry keeps the contract of designs, with its defaults and with other parameters."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy import designs
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.testing import check_design

VARIANTS = (
    "srs:replace=yes",
    "css:allocation=proportional",
    "css:by=range,shares=5,allocation=proportional",
    "css:shares=50/30/20,allocation=20/30/50",
    "sups:floor=0",
    "sups:floor=1",
    "rhc:floor=0",
    "rhc:floor=1",
    "ssrs:k=1",
    "ssrs:k=40",
    "gbs:replace=yes",
    "gbs:batch=7",
    "gbs:k=40,batch=1000",
    "2ups:floor=0",
    "2ups:k=1",
    "ces:score=kl,start=5,groups=30",
    "ces:size=40,groups=20,start=1",
    "deepest:r=0",
    "deepest:weights=selected",
    "deepest:threshold=0,r=0.99",
    "deepest:threshold=2",
    "waves:auxiliary=dsa",
    "waves:auxiliary=lsa+confidence",
)


@pytest.mark.parametrize("name", list(designs.registry))
def test_every_design(name: str) -> None:
    check_design(designs.registry[name])


@pytest.mark.parametrize("spec", VARIANTS)
def test_other_parameters(spec: str) -> None:
    check_design(designs.registry.build(spec))


class Peeping(designs.Srs):
    """Moves on from items that did not fail, though it never asked for their labels."""

    def draw(self, frame, losses, *, budget, seed):
        sample = super().draw(frame, losses, budget=budget, seed=seed)
        if losses is None or np.isnan(losses).all():
            return sample
        worst = np.argsort(-losses, kind="stable")[:budget]
        return Sample(frame.size, worst, self.estimator, sample.draws)


class Forgetful(designs.Srs):
    """Hides state between calls."""

    calls = 0

    def draw(self, frame, losses, *, budget, seed):
        Forgetful.calls += 1
        return super().draw(frame, losses, budget=budget, seed=seed + Forgetful.calls)


class Short(designs.Srs):
    """Forgets the last draw."""

    def draw(self, frame, losses, *, budget, seed):
        return super().draw(frame, losses, budget=budget - 1, seed=seed)


class Stuck(designs.Srs):
    """Does not use its seed."""

    def draw(self, frame, losses, *, budget, seed):
        return super().draw(frame, losses, budget=budget, seed=0)


class Outside(designs.Srs):
    """Draws an item that does not exist."""

    def draw(self, frame, losses, *, budget, seed):
        sample = super().draw(frame, losses, budget=budget, seed=seed)
        return Sample(frame.size, sample.items + 1, self.estimator, sample.draws)


class Waiting(designs.Srs):
    """Waits for labels for ever."""

    def draw(self, frame, losses, *, budget, seed):
        items = stream(seed, "waiting").bit_generator.random_raw(1).astype(np.int64) % frame.size
        return Sample(frame.size, items, self.estimator, EqualDraws(replacement=False), complete=losses is None)


class Greedy(designs.Waves):
    """Learns from every auxiliary variable there is, whichever it was given."""

    def draw(self, frame, losses, *, budget, seed):
        everything = designs.Waves("+".join(frame.auxiliary))
        return everything.draw(frame, losses, budget=budget, seed=seed)


class Absentminded(designs.Sups):
    """Remembers sizes, but not of which auxiliary variable."""

    def draw(self, frame, losses, *, budget, seed):
        chi = frame.memo("chi", lambda: frame.values(self.auxiliary))
        mixed = Frame(frame.size, frame.task, {self.auxiliary: chi}, traits=derived.traits())
        return super().draw(mixed, losses, budget=budget, seed=seed)


@pytest.mark.parametrize("broken", [Greedy, Absentminded, Peeping, Forgetful, Short, Stuck, Outside, Waiting])
def test_broken_designs_are_noticed(broken: type) -> None:
    with pytest.raises(AssertionError):
        check_design(broken)
