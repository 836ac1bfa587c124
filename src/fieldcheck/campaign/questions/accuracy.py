"""How accurate is the model on this pool?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment import sampling, stopping
from fieldcheck.accuracy.assessment.labelled import PartlyLabelled
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.designs import base
from fieldcheck.accuracy.designs import base as designs
from fieldcheck.campaign.questions.base import LabelEvidence, PastLabels
from fieldcheck.campaign.settings import Settings
from fieldcheck.core import draws
from fieldcheck.core.errors import DesignError, LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.requirement import Decided, Look
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import betting
from fieldcheck.numerics.sampling import schedule
from fieldcheck.numerics.sampling.draws import uniforms


@dataclass(frozen=True, eq=False)
class AccuracyQuestion:
    """How accurate is the model on this pool?

    activations
        Of every item, for the technique that draws by them: only the first draw can have them.
    """

    name: ClassVar[str] = "accuracy"
    notes: ClassVar[tuple[str, ...]] = ()

    pool: Pool
    settings: Settings
    activations: npt.NDArray[Any] | None = None

    @cached_property
    def design(self) -> base.Design:
        """The technique."""
        return self.settings.build()

    @property
    def extendable(self) -> bool:
        return self.settings.certify is not None or isinstance(self.design, base.Extendable)

    @property
    def until(self) -> str:
        if self.settings.certify is not None:
            return f"until at least {100 * self.settings.certify:.6g} % is proven, or that it is below"
        if self.settings.half_width is None:
            return "until you stop"
        points = self.settings.task == "classification"
        return (
            f"until the interval is ±{100 * self.settings.half_width:.3g} points"
            if points
            else (f"until the interval is ±{self.settings.half_width:.4g}")
        )

    @property
    def pools(self) -> tuple[Pool, ...]:
        return (self.pool,)

    def extended(self, settings: Settings) -> AccuracyQuestion:
        self.pool.check_budget(settings.most)
        settings.build()  # refuses designs that are laid out for one budget
        return replace(self, settings=settings)

    def digest(self) -> str:
        """Of items, predictions and the auxiliary variables that the design looks at."""
        return derived.digest(self.pool, sampling.auxiliary_names(self.design, self.pool))

    @cached_property
    def _frame(self) -> Frame:
        return sampling.frame_for(self.pool, self.design, self.activations)

    def draw(self, evidence: LabelEvidence | None) -> Sample:
        """As the design draws, given the losses so far."""
        losses = None if evidence is None else self._labelling(evidence).losses()
        settings = self.settings
        design, budget = (self.design, settings.most) if self._rule is None else self._next_wave(self._rule, evidence)
        if evidence is not None and losses is not None and isinstance(design, base.Recalling):
            design.recall(self._frame, evidence.sample, losses, budget=budget, seed=settings.seed)
        sample = design.draw(self._frame, losses, budget=budget, seed=settings.seed)
        sample = replace(sample, complete=sample.complete and budget == settings.most)
        if not settings.train_share:
            return sample
        if not sample.draws.reusable and self._chances(len(sample)) is None:
            raise DesignError(
                f"labels of {self.design.name} to train with",
                rule="those that are kept judge the next version only where the chance of every item is known",
                hint="--design waves, srs or deepest",
            )
        if sample.train is not None:
            return sample
        coins = uniforms(stream(settings.seed, "train"), len(sample))
        return replace(sample, train=coins < settings.train_share)

    @property
    def _rule(self) -> stopping.HalfWidth | None:
        """What it waits for, beside a budget."""
        return None if self.settings.half_width is None else stopping.HalfWidth(self.settings.half_width)

    def _next_wave(self, rule: stopping.HalfWidth, evidence: LabelEvidence | None) -> tuple[base.Design, int]:
        """The technique and the labels up to the end of its next wave, which may be the last: then it is small."""
        if evidence is None:
            return self.design, min(schedule.OPEN_FIRST, self.settings.most)
        ends = tuple(np.cumsum(evidence.sample.drawn_as(draws.WaveDraws).sizes).tolist())
        narrow = self.settings.narrow
        size = schedule.next_open(ends[-1]) if narrow else rule.wave(self._last_look(rule, evidence))
        return designs.extended(self.design, ends), min(ends[-1] + size, self.settings.most)

    def _last_look(self, rule: stopping.HalfWidth, evidence: LabelEvidence) -> Look:
        """After the last wave, once it is labelled."""
        labelled, _ = self.labelled(evidence)
        return stopping.look_now(labelled, rule, loss=self.settings.loss)

    def _chances(self, draws: int) -> FloatArray | None:
        """Of every item to be among so many draws, where they do not follow from the draws but the design knows."""
        return self.design.chances(self._frame, draws) if isinstance(self.design, base.KnownChances) else None

    def past_labels(self, evidence: LabelEvidence) -> PastLabels:
        """What may be re-used for another version."""
        labelled, notes = self.labelled(evidence)
        chance = reuse.old_chances(labelled, by_design=self._chances(len(labelled.sample)))
        items, roles = labelled.sample.items, labelled.sample.train
        train = np.zeros(len(items), dtype=bool) if roles is None else roles
        history = reuse.History.first(items, train, chance, train_share=self.settings.train_share)
        return PastLabels(self.pool, history, evidence.labels, notes)

    def enough(self, evidence: LabelEvidence) -> bool:
        """The budget says so, or the people do; bets end when something is proven, a half-width when it is reached."""
        if self._rule is None:
            return self.bets(evidence) is not None and self.proven(evidence) != "undecided"
        if self.settings.narrow:
            return False
        if any(name not in evidence.labels for name in evidence.ids):
            return False  # looked at after whole waves only
        try:
            return self._rule.decision(self._last_look(self._rule, evidence)) != "undecided"
        except LabelError:
            return False

    def bets(self, evidence: LabelEvidence) -> betting.Bets | None:
        """Where the bets stand, in a campaign that certifies; None in others, and before the first labels."""
        if not isinstance(evidence.sample.draws, draws.BetDraws):
            return None
        try:
            return estimators.replayed(self.labelled(evidence)[0])
        except LabelError:
            return None

    def proven(self, evidence: LabelEvidence, *, level: float = 0.95) -> Decided:
        """Whether the accuracy is at least what is to be certified, at any label; "failed": it is below."""
        bets = self.bets(evidence)
        claim = None if bets is None else bets.claim(error=1 - level)
        return "undecided" if claim is None else "passed" if claim == "at least" else "failed"

    def statement(self, evidence: LabelEvidence, *, level: float) -> Estimate:
        """The estimate."""
        return self._labelling(evidence).estimate(level=level)

    def labelled(self, evidence: LabelEvidence) -> tuple[Labelled, tuple[str, ...]]:
        """The sample with the labels that can be used, and what to say about the others."""
        return self._labelling(evidence).labelled()

    def if_lost(self, evidence: LabelEvidence, loss: float, *, level: float) -> Estimate | None:
        """The estimate if every item without a label to be had had this loss."""
        return self._labelling(evidence).if_lost(loss, level=level)

    def _labelling(self, evidence: LabelEvidence) -> PartlyLabelled:
        settings = self.settings
        positions = evidence.sample.to_label().tolist()
        return PartlyLabelled(
            sample=evidence.sample,
            design=self.design,
            budget=settings.most,
            seed=settings.seed,
            task=settings.task,
            loss=settings.loss,
            threshold=settings.threshold,
            ids=evidence.ids,
            predictions=None if self.pool.predictions is None else self.pool.predictions_at(positions),
            labels=evidence.labels,
            in_work=evidence.in_work,
            frame=self._frame if self.design.needs == "auxiliary" else None,
        )
