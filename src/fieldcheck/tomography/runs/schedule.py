"""What to run next: a pure function of what was seen so far, so that a run that was killed goes on as if it was not."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, permutations
from zlib import crc32

import numpy as np

from fieldcheck.core.errors import BudgetError, SpaceError
from fieldcheck.core.rng import ItemStreams, stream
from fieldcheck.core.space import Outcomes, Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.tomography.plans.base import Plan, Rows, joined, random_order
from fieldcheck.tomography.runs.stopping import Stopping, width_of, with_width
from fieldcheck.tomography.surrogates.alike import Alike

FIRST = 4_000
"""Rows before the bands of a spread plan are looked at for the first time."""


BASE = 400
"""Unperturbed inputs that are measured first: every drop is measured from them."""


ROUNDS = 6
"""Times that a plan is asked again, because some of its rows are unperturbed and there already."""


MOST = 2_000_000
"""Rows after which a spread plan stops in any case."""


Bands = Callable[[Outcomes], FloatArray]
"""From outcomes to the half-widths of the bands of some tests of the space."""


@dataclass(frozen=True)
class Stage:
    """What a run asked for before it was extended: its inferences in all, and the width of its rule."""

    budget: int | None = None
    width: float | None = None


@dataclass(frozen=True, eq=False)
class Schedule:
    """The rows of a run, part by part.

    A run that was extended has the rows of its earlier stages first, then those of the larger plan that it lacks.
    ``spread``, where it draws tests or has a rule, thus becomes the run that was begun with the last settings, row by
    row. The others come to the same rows in another order. Only a ``spread`` that goes from fewer inferences than tests
    to more has other rows than one begun with more: it keeps those that it drew, with the chances that they had.

    inputs
        Number of inputs of the data.
    budget
        Inferences in all; None for as many as the plan can use, or as the rule asks for.
    rule
        When a test has seen enough inputs; None: the budget decides alone.
    bands
        How wide the bands are by now; only a spread plan with a rule asks for it.
    ordered
        Whether the order of the perturbations matters: every row then has an arrangement.
    chunk
        Rows in a part: what is lost when a run is killed.
    earlier
        Settings before the run was extended, in order.
    base
        Unperturbed inputs that come first, whatever the plan, as far as there are and as a quarter of the budget pays
        for: every drop is measured from them. Their chance is 0, because they are not drawn. A plan of whole tests has
        them as far as it has that test.
    alike
        Which tests make the same of an input, for a plan whose rows are drawn: the model is asked once. What is left
        of the drawn rows then has no known chance.
    """

    space: Space
    inputs: int
    plan: Plan
    budget: int | None = None
    rule: Stopping | None = None
    seed: int = 0
    bands: Bands | None = None
    ordered: bool = False
    chunk: int = 4_096
    earlier: tuple[Stage, ...] = ()
    base: int = 0
    alike: Alike | None = None
    _rounds: dict[int, Rows] = field(default_factory=dict, init=False, repr=False)
    _looks: dict[tuple[int, int, int], BoolArray] = field(default_factory=dict, init=False, repr=False)
    _ranked: dict[str, IntArray] = field(default_factory=dict, init=False, repr=False)

    def check(self) -> None:
        """Refuse what cannot be run, before anything is written."""
        self.next(_NONE_YET)

    def next(self, outcomes: Outcomes) -> tuple[Rows, IntArray | None]:
        """The rows to run after these; none when the run is done."""
        rows, begun = self._round(outcomes)
        done = len(outcomes) - begun
        _check_begun(rows.part(slice(done)), outcomes.select(np.arange(begun, len(outcomes))))
        first = len(self.unperturbed)
        found = rows.part(slice(done, first if len(outcomes) < first else done + self.chunk))
        if not self.ordered:
            return found, None
        return found, self._arrangements(rows, begun)[done : done + len(found)]

    def coming(self, outcomes: Outcomes, part: int) -> list[tuple[Rows, IntArray | None]]:
        """What is left of the round that is under way, so many rows a part; the unperturbed ones before all others."""
        first, arrangements = self.next(outcomes)
        if not len(first) or len(outcomes) < len(self.unperturbed):
            return [(first, arrangements)] if len(first) else []
        rows, begun = self._round(outcomes)
        ranks = self._arrangements(rows, begun) if self.ordered else None
        cuts = [slice(at, at + part) for at in range(len(outcomes) - begun, len(rows), part)]
        return [(rows.part(cut), None if ranks is None else ranks[cut]) for cut in cuts]

    def total(self, outcomes: Outcomes) -> int:
        """Rows of the run as far as they are known: with a rule, those of this round."""
        rows, begun = self._round(outcomes)
        return begun + len(rows)

    def half_widths(self, outcomes: Outcomes) -> FloatArray:
        """What the rule looks at by now: of the bands of a spread plan, else of the interval of each test that ran."""
        if self._drawn and self.bands is not None:
            return self.bands(outcomes)
        by_test = _by_test(np.unique(outcomes.tests), outcomes)
        return np.array([math.nan if self.rule is None else self.rule.reached(held, self.inputs) for held in by_test])

    @property
    def _drawn(self) -> bool:
        """Whether rows are drawn one by one, all over the space."""
        return self.plan.adds == "rows"

    def _round(self, outcomes: Outcomes) -> tuple[Rows, int]:
        """The rows of the round that is under way, and how many rows came before it."""
        if self.rule is None:
            return self._fixed, 0
        return self._widening(outcomes) if self._drawn else self._narrowing(outcomes, self.rule)

    @cached_property
    def _fixed(self) -> Rows:
        """All rows where no rule decides, those of earlier stages first."""
        rows, parts = _NOTHING, []
        for stage in self._stages:
            clean = self._unseen(self._clean(stage.budget), rows)
            rows = joined(rows, clean)
            parts.append(clean)
            further = self._unseen(self._beside(stage.budget), rows)
            if stage.budget is not None:
                further = further.part(slice(max(0, stage.budget - len(rows))))
            rows = joined(rows, further)
            parts.append(self._arranged(further))
        return joined(*parts)

    @cached_property
    def unperturbed(self) -> Rows:
        """Rows without perturbation, which come before all others."""
        return self._clean(self._stages[0].budget)

    def _clean(self, budget: int | None) -> Rows:
        """Unperturbed inputs for a budget: those that a plan on the same inputs in all tests takes first."""
        if not self.base:
            return _NOTHING
        count = min(self.base, self.inputs, self.base if budget is None else budget // 4)
        if self.rule is not None and not self._drawn:
            return self._by_batches(count, self.rule)
        if self.plan.adds == "tests":
            whole = self._planned(budget)
            return whole.part(np.flatnonzero(whole.tests == 0))
        inputs = np.sort(random_order(self.inputs, self.seed)[:count])
        return Rows(np.zeros(count, dtype=np.int64), inputs, np.zeros(count))

    def _by_batches(self, count: int, rule: Stopping) -> Rows:
        """Unperturbed inputs as a rule looks at them: batch by batch."""
        order, test = _shuffled(self.inputs, self.seed)[:count], np.zeros(1, dtype=np.int64)
        return joined(*(_next_inputs(test, test + seen, order, rule.batch) for seen in range(0, count, rule.batch)))

    def _beside(self, budget: int | None) -> Rows:
        """Rows of the plan that the budget pays for beside the unperturbed ones; those that are both count once."""
        clean = self._clean(budget)
        if budget is None or not len(clean) or self.plan.adds == "tests":
            return self._planned(budget)
        rows = self._planned(max(1, budget - len(clean)))
        if self.alike is not None:
            while len(self._unseen(rows, clean)) < budget - len(clean) and len(rows) < self.space.size * self.inputs:
                rows = self._planned(2 * len(rows))
            return rows
        for _ in range(ROUNDS):  # each adds less than the one before
            wanted = budget - len(clean) + len(rows) - len(self._unseen(rows, clean))
            more = self._planned(wanted)
            if len(more) == len(rows):
                break
            rows = more
        return rows

    def _planned(self, budget: int | None) -> Rows:
        """Rows of the plan that the budget pays for, those that run in several orders counted as often."""
        if budget is None or not self.ordered or self._drawn:
            return self._rows(budget)
        try:
            return self._rows(bisect_right(range(1, budget + 1), budget, key=self._runs))
        except BudgetError as error:
            raise BudgetError(
                f"{budget:,} inferences where the order of perturbations matters",
                rule="each test of the plan runs in every order, on one input or more",
                hint="more --inferences, or --plan spread",
            ) from error

    def _runs(self, asked: int) -> int:
        """Inferences that the rows of a plan take in all their orders; 0 where there are too few for any."""
        try:
            return int(self._variants(self._rows(asked)).sum())
        except BudgetError:
            return 0

    def _rows(self, budget: int | None) -> Rows:
        return self.plan.rows(self.space, self.inputs, budget=budget, seed=self.seed)

    def _arranged(self, rows: Rows) -> Rows:
        """In the order in which they are run; where the order of perturbations matters, once for each."""
        if self._drawn:
            return rows
        rows = _by_blocks(rows, self.chunk)
        return rows.repeated(self._variants(rows)) if self.ordered else rows

    def _variants(self, rows: Rows) -> IntArray:
        """Orders of the perturbations at work, one per row."""
        return np.array([math.factorial(order) for order in range(len(self.space.axes) + 1)])[
            self.space.orders(rows.tests)
        ]

    def _narrowing(self, outcomes: Outcomes, rule: Stopping) -> tuple[Rows, int]:
        """Each round gives the next batch of inputs to the tests whose rule is not content yet."""
        order, every = _shuffled(self.inputs, self.seed), self._tests[-1]
        begun, seen = len(self.unperturbed), np.zeros(len(every), dtype=np.int64)
        if len(outcomes) < begun:
            return self.unperturbed, 0
        mark, seen[every == 0] = crc32(outcomes.held[:begun].tobytes()), begun
        for number, (stage, tests) in enumerate(zip(self._stages, self._tests, strict=True)):
            current = with_width(rule, stage.width)
            while not _spent(begun, stage.budget):
                at = np.flatnonzero(np.isin(every, tests) & (seen < self.inputs))
                at = at[self._look((number, begun, mark), every[at], outcomes, current)]
                rows = _next_inputs(every[at], seen[at], order, rule.batch)
                rows = rows.repeated(self._variants(rows)) if self.ordered else rows
                if not len(rows):
                    break
                if begun + len(rows) > len(outcomes):
                    return self._affordable(rows, begun), begun
                mark = crc32(outcomes.held[begun : begun + len(rows)].tobytes(), mark)
                begun += len(rows)
                seen[at] = np.minimum(seen[at] + rule.batch, self.inputs)
        return _NOTHING, begun

    def _look(self, at: tuple[int, int, int], tests: IntArray, outcomes: Outcomes, rule: Stopping) -> BoolArray:
        """Which tests still want inputs; kept, because every part looks again at all the rounds before it.

        at
            Stage, rows before the round, and the checksum of their outcomes.
        """
        if at not in self._looks:
            self._looks[at] = _wanting(tests, outcomes.select(np.arange(at[1])), rule, self.inputs)
        return self._looks[at]

    @property
    def _stages(self) -> tuple[Stage, ...]:
        return (*self.earlier, Stage(self.budget, width_of(self.rule)))

    @cached_property
    def _tests(self) -> tuple[IntArray, ...]:
        """Tests of each stage where a rule decides, in ascending order; those of the last one include all."""
        found: list[IntArray] = []
        for stage in self._stages:
            found.append(np.unique(np.concatenate([self._rows(stage.budget).tests, *found[-1:]])))
        return tuple(found)

    def _widening(self, outcomes: Outcomes) -> tuple[Rows, int]:
        """Each round of a spread plan adds half of what was there, until the bands are narrow enough."""
        if self.rule is None or not self.rule.of_bands or self.rule.width is None or self.bands is None:
            raise SpaceError("a spread plan stops by the width of its bands", rule="--half-width, or --inferences")
        first = len(self.unperturbed)
        if len(outcomes) < first:
            return self.unperturbed, 0
        begun, number, wanted = first, 0, max(1, FIRST - first)
        while begun < self.most:
            rows = self._added(number, wanted, outcomes, begun)
            if not len(rows):
                break
            if begun + len(rows) > len(outcomes):
                return rows, begun
            begun, number = begun + len(rows), number + 1
            if float(np.mean(self.bands(outcomes.select(np.arange(begun))))) <= self.rule.width:
                break
            wanted = math.ceil(begun / 2)
        return _NOTHING, begun

    def _added(self, number: int, wanted: int, outcomes: Outcomes, begun: int) -> Rows:
        """The rows of a round of a spread plan; kept, because they follow from the rounds before, whatever was seen."""
        if number not in self._rounds:
            rows = self.plan.rows(self.space, self.inputs, budget=wanted, seed=self.seed + number)
            rows = self._unseen(rows, outcomes.select(np.arange(begun)))
            self._rounds[number] = rows.part(slice(self.most - begun))
        return self._rounds[number]

    @property
    def most(self) -> int:
        """Rows after which a spread plan with a rule stops in any case."""
        return min(self.budget or MOST, self.space.size * self.inputs)

    def _unseen(self, rows: Rows, before: Rows | Outcomes) -> Rows:
        """Those rows whose test has not run on their input yet: once more would say the same."""
        if self.alike is None:
            known = before.tests * self.inputs + before.inputs
            return rows.part(np.flatnonzero(~np.isin(rows.tests * self.inputs + rows.inputs, known)))
        cells = self.alike.cells(rows.tests, rows.inputs)
        first = np.sort(np.unique(cells, return_index=True)[1])
        new = rows.part(first[~np.isin(cells[first], self.alike.cells(before.tests, before.inputs))])
        return Rows(new.tests, new.inputs, np.where(new.chance == 0, 0.0, np.nan))

    def _affordable(self, rows: Rows, begun: int) -> Rows:
        return rows if self.budget is None else rows.part(slice(self.budget - begun))

    def _arrangements(self, rows: Rows, begun: int) -> IntArray:
        """The rank of each row's order of perturbations: a random one in a spread plan, else one after the other.

        rows, begun
            Those of a round, and how many came before it.
        """
        if not self._drawn:
            return self._enumerated(rows, begun)
        draws = ItemStreams.of(self.seed, "arrangement", np.arange(begun, begun + len(rows)), 0)
        keys = np.where(self.space.severities(rows.tests) > 0, draws.uniforms(len(self.space.axes)), 2.0)
        return ranks_of(np.argsort(keys, axis=1, kind="stable"))

    def _enumerated(self, rows: Rows, begun: int) -> IntArray:
        """Rows of one test and input follow each other: the n-th has the n-th order. Kept during a round."""
        if self._ranked.get("begun") is None or not np.array_equal(self._ranked["begun"], [begun, len(rows)]):
            same = np.concatenate([[False], (np.diff(rows.tests) == 0) & (np.diff(rows.inputs) == 0)])
            starts = np.maximum.accumulate(np.where(same, 0, np.arange(len(rows))))
            active = (self.space.severities(rows.tests) > 0) @ (1 << np.arange(len(self.space.axes)))
            keys = np.column_stack([active, np.arange(len(rows)) - starts])
            kinds, which = np.unique(keys, axis=0, return_inverse=True)
            ranks = [_arrangement(int(mask), int(number), len(self.space.axes)) for mask, number in kinds]
            self._ranked["ranks"] = np.array(ranks, dtype=np.int64)[which]
            self._ranked["begun"] = np.array([begun, len(rows)])
        return self._ranked["ranks"]


_NONE_YET = Outcomes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


_NOTHING = Rows(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


def _check_begun(planned: Rows, outcomes: Outcomes) -> None:
    """Refuse outcomes of other rows: another version may have drawn them, and two plans do not mix."""
    if not (np.array_equal(planned.tests, outcomes.tests) and np.array_equal(planned.inputs, outcomes.inputs)):
        raise SpaceError(
            "the outcomes that are there are not the first ones of this plan",
            rule="a run goes on with the version of fieldcheck that began it",
            hint="another --out; queries still read what is there",
        )


def _by_blocks(rows: Rows, chunk: int) -> Rows:
    """Rows in blocks of inputs, so that a part holds many tests of few inputs and shares their prefixes."""
    tests, inputs = len(np.unique(rows.tests)), np.unique(rows.inputs, return_inverse=True)[1]
    block = max(1, chunk // max(1, tests))
    order = np.lexsort((inputs, rows.tests, inputs // block))
    return rows.part(order)


def _crossed(tests: IntArray, inputs: IntArray) -> Rows:
    count = len(tests) * len(inputs)
    return Rows(np.tile(tests, len(inputs)), np.repeat(inputs, len(tests)), np.full(count, np.nan))


def _next_inputs(tests: IntArray, seen: IntArray, order: IntArray, batch: int) -> Rows:
    """For each test its next batch of inputs, all of which come in one order; ``seen`` is how many it had."""
    first = np.unique(seen).tolist()
    return joined(*(_crossed(tests[seen == at], np.sort(order[at : at + batch])) for at in first))


def _wanting(tests: IntArray, outcomes: Outcomes, rule: Stopping, inputs: int) -> BoolArray:
    """Which tests have outcomes that are not enough for the rule; none at all are never enough."""
    found = [not len(held) or not rule.enough(held, inputs) for held in _by_test(tests, outcomes)]
    return np.array(found, dtype=bool)


def _by_test(tests: IntArray, outcomes: Outcomes) -> Iterator[FloatArray]:
    """The outcomes of each test, one per input, in the order in which they came; of several orders, their mean."""
    outcomes = _one_per_input(outcomes)
    order = np.argsort(outcomes.tests, kind="stable")
    ends = np.searchsorted(outcomes.tests[order], tests, side="right")
    starts = np.searchsorted(outcomes.tests[order], tests, side="left")
    held = outcomes.held[order]
    return (_there(held[first:last]) for first, last in zip(starts.tolist(), ends.tolist(), strict=True))


def _one_per_input(outcomes: Outcomes) -> Outcomes:
    """Rows of one test and input, which differ in the order of perturbations, as one."""
    same = (np.diff(outcomes.tests) == 0) & (np.diff(outcomes.inputs) == 0)
    if not same.any():
        return outcomes
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    held = np.add.reduceat(outcomes.held, first) / np.diff([*first.tolist(), len(outcomes)])
    return Outcomes(outcomes.tests[first], outcomes.inputs[first], held)


def _there(held: FloatArray) -> FloatArray:
    """Without rows in which nothing was left that could be found."""
    return held[~np.isnan(held)]


def _spent(rows: int, budget: int | None) -> bool:
    return budget is not None and rows >= budget


def _shuffled(count: int, seed: int) -> IntArray:
    words = stream(seed, "schedule", "inputs").bit_generator.random_raw(count)
    order: IntArray = np.argsort(words, kind="stable").astype(np.int64)
    return order


def ranks_of(orders: IntArray) -> IntArray:
    """The rank of each order of axes among all of them, as dictionaries order them; one order per row."""
    axes = orders.shape[1]
    found = np.zeros(len(orders), dtype=np.int64)
    for place in range(axes):
        smaller = (orders[:, place + 1 :] < orders[:, place : place + 1]).sum(axis=1)
        found += smaller * math.factorial(axes - place - 1)
    return found


def _arrangement(mask: int, number: int, axes: int) -> int:
    """The rank of the ``number``-th order of the perturbations at work (bits); those at rest come last."""
    active = [axis for axis in range(axes) if mask >> axis & 1]
    rest = [axis for axis in range(axes) if not mask >> axis & 1]
    chosen = next(islice(permutations(active), number, None))
    return int(ranks_of(np.array([[*chosen, *rest]]))[0])
