"""What may be true of the items of a pool, as far as it is known.

Many worlds are drawn that what is known leaves possible: failure rates of all items, by a risk model that believes the
signals to a degree that is itself unknown, and in some worlds not at all. In each world, with a luck of its own, each
technique has a half-width for each budget. What is told is the middle of these, and a range; before any label it is
wide, since a model's confidence says little about how often it fails. How often it holds was measured
(``benchmarks/plan_study.py``).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from fieldcheck.accuracy import designs as techniques
from fieldcheck.accuracy.designs.base import Design, auxiliaries_of, auxiliary_of
from fieldcheck.accuracy.designs.forecast import Forecastable, Scenario
from fieldcheck.core import words
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import special
from fieldcheck.numerics.regression import risk
from fieldcheck.numerics.regression.binned import binned_risks
from fieldcheck.numerics.sampling.draws import permutation, uniforms

WORLDS, CHOICES = 64, 1500
"""Worlds that are looked at, and how many they are chosen from once there are labels."""


PART = 2_000
"""Items that stand for the pool, spread evenly over all risks."""


USELESS = 0.2
"""Chance before any label that signals are worth nothing."""


ENDS, ENDS_BEFORE = (0.07, 0.5, 0.93), (0.06, 0.5, 0.97)
"""Share of the worlds below the low end, the middle and the high end; and the same before any label, when models that
fail far more often than their confidence suggests must be inside."""


SPAN = 4.0
"""The high end is at most so many times the low one, once there are labels: a wider range helps nobody to decide. With
3 the range held in .93 of the looks after the first wave, in fewer than .9 on 4 of 22 pools and conditions; with 4 in
.96, on 2 of 22 (``benchmarks/results/plan_study.md``)."""


NOT_OVER = 1.1
"""Of the high end of a random sample: with useless signals waves is hardly worse."""


EVERYTHING, RANDOM = techniques.Waves(), techniques.Srs()
"""What looks at all auxiliary variables that are known to help, and what looks at none."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What may be true of the items.

    items
        Those that stand for the pool.
    population
        Items of the pool.
    worlds
        One array each, from few failures to many: expected losses of these items.
    useless
        Chance that the signals are worth nothing.
    labels
        How many it rests on.
    dispersion
        Of losses without a limit: their variance in units of the squared expectation.
    """

    frame: Frame
    model: risk.RiskModel
    items: IntArray
    population: int
    worlds: tuple[FloatArray, ...]
    useless: float
    labels: int = 0
    dispersion: float = 2.0
    memo: dict[Hashable, tuple[float, float, float]] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, frame: Frame, labelled: Labelled | None, population: int | None = None) -> Outlook:
        items = np.zeros(0, dtype=np.int64) if labelled is None else labelled.sample.items
        losses = np.zeros(0) if labelled is None else labelled.losses
        model, part, items = _standing(frame, items, losses)
        rows = np.arange(len(part))
        useless = model.useless(items, losses, model.evidence(items, losses), before=USELESS)
        blind = round(WORLDS * useless)
        worlds = [
            one.expected(belief, rows)
            for one, count in ((model, WORLDS - blind), (model.blind(), blind))
            if count
            for belief in one.possible(items, losses, count, _normal(one, count if labelled is None else CHOICES))
        ]
        at = model.expected(model.fit(items, losses), items)
        dispersion = float(((losses - at) ** 2).sum() / max(float((at**2).sum()), 1e-300)) if len(items) else 2.0
        worlds.sort(key=lambda one: float(one.mean()))
        return cls(frame, model, part, population or frame.size, tuple(worlds), useless, len(items), dispersion)

    def seen_by(self, design: Forecastable, frame: Frame, labelled: Labelled | None) -> Outlook:
        """The same failure rates, over the items as waves with variables of its own tells them apart."""
        if not design.own_risk or auxiliary_of(design) == EVERYTHING.auxiliary:
            return self
        own = Outlook.of(seen(frame, design), labelled, self.population)
        if self.model.family == "gamma":
            return own
        rates = (float(one.mean()) for one in self.worlds)
        return replace(own, worlds=tuple(map(_levelled, own.worlds, rates)))

    @property
    def rates(self) -> tuple[float, ...]:
        """Failure rates at the low end, in the middle and at the high end; none where the scale does not matter."""
        if self.model.family == "gamma":
            return ()
        return tuple(np.quantile([one.mean() for one in self.worlds], self._ends).tolist())

    @property
    def _ends(self) -> tuple[float, float, float]:
        return ENDS if self.labels else ENDS_BEFORE

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Each world, with a luck of its own."""
        luck = (permutation(stream(0, "plan", "luck"), len(self.worlds)) + 0.5) / len(self.worlds)
        return tuple(
            Scenario(world, self.model.spread(world, dispersion=self.dispersion), self.frame.task, self.population, own)
            for world, own in zip(self.worlds, luck.tolist(), strict=True)
        )

    def halves(self, design: Forecastable, frame: Frame, labels: int, *, level: float) -> tuple[float, float, float]:
        """Half-widths of a design, worked out once: low end, middle, high end.

        frame
            The items that stand for the pool, as the design sees them.
        """
        key = design, labels, level
        if key not in self.memo:
            self.memo[key] = self._halves(design, frame, labels, level=level)
        return self.memo[key]

    def _halves(self, design: Forecastable, frame: Frame, labels: int, *, level: float) -> tuple[float, float, float]:
        found = [design.half_width(frame, one, labels=labels, level=level) for one in self.scenarios]
        low, middle, high = (float(one) for one in np.quantile(found, self._ends) * design.margins)
        if design.own_risk and self.model.family == "bernoulli":
            high = max(min(high, NOT_OVER * self.halves(RANDOM, frame, labels, level=level)[2]), middle)
        if self.labels and high > SPAN * low:
            trim = high / (SPAN * low)
            low, high = low * trim**0.75, high / trim**0.25
        return low, min(max(middle, low), high), high

    def notes(self) -> tuple[str, ...]:
        """What the forecast rests on, and what would make it wrong."""
        basis = "before any label" if not self.labels else f"from {words.counted(self.labels, 'label')}"
        said = [f"a forecast of the interval for this pool, {basis}"]
        if self.rates:
            low, middle, high = (f"{100 * rate:.2g} %" for rate in self.rates)
            said.append(f"it believes that {middle} of the items fail, and that {low} to {high} are possible")
        if not self.labels:
            said.append(
                "how far the model's confidence can be trusted is not known before labels: the range includes that it "
                "is worth nothing; plan again after the first 50 labels"
            )
            return tuple(said)
        if self.model.family == "bernoulli" and len(self.model.mean) > 1:
            chance = f"{100 * self.useless:.0f} %" if self.useless >= 0.01 else "under 1 %"
            said.append(f"by these labels, the chance that the signals are worth nothing is {chance}")
        return (*said, "budgets count all labels, those that are there included")


def _standing(frame: Frame, items: IntArray, losses: FloatArray) -> tuple[risk.RiskModel, IntArray, IntArray]:
    """The risk model of the items that stand for the pool and of those with labels; which stand for it, spread evenly
    over all risks; and the rows of those with labels, which come after them."""
    risks = binned_risks(frame)
    belief = risks.model(items).fit(np.arange(len(items)), losses) if len(items) else None
    part = risks.spread(belief, min(PART, frame.size))
    return risks.model(np.concatenate([part, items])), part, np.arange(len(items)) + len(part)


def _normal(model: risk.RiskModel, count: int) -> FloatArray:
    width = len(model.mean) + model.group_count
    return np.asarray(special.ndtri(uniforms(stream(0, "plan"), count * width))).reshape(count, width)


def _levelled(expected: FloatArray, rate: float) -> FloatArray:
    """The odds multiplied by what gives this mean, by bisection."""
    linear = special.logit(np.clip(expected, 1e-12, 1 - 1e-12))
    low, high = -40.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if special.expit(linear + middle).mean() > rate else (middle, high)
    return np.asarray(special.expit(linear + low))


def seen(frame: Frame, design: Design) -> Frame:
    """What a design looks at."""
    return frame.only(auxiliaries_of(design, frame.helpful()))
