"""How items were drawn: what follows from it, and that it is stored as it is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fieldcheck.core.draws import (
    BetDraws,
    Draws,
    EqualDraws,
    GroupDraws,
    PurposiveDraws,
    StepDraws,
    StratifiedDraws,
    WaveDraws,
    WeightedDraws,
    draws_from,
    joined,
)

WAVES = WaveDraws(
    wave=np.array([0, 0, 1]),
    sizes=(2, 3),
    beliefs=(np.array([0.1, 1 / 3]), np.array([0.5])),
    objective="expose",
    floors=(0.25,) * 2,
    certain=0.75,
)
EVERY = [
    EqualDraws(replacement=False),
    EqualDraws(replacement=True),
    PurposiveDraws(),
    WeightedDraws(np.array([0.1, 0.2, 1 / 3]), 0.01),
    WeightedDraws(np.array([0.1, 0.2, 1 / 3]), 0.0, 0.7),
    StratifiedDraws(np.array([0, 1, 0]), np.array([5, 4]), replacement=True, adaptive=True),
    GroupDraws(np.array([0.5, 1.0, 0.1]), np.array([0.2, 0.3, 0.5]), np.array([3, 3, 4]), 0.01),
    StepDraws(np.array([0.1, 0.2, 0.3]), 0.8),
    WAVES,
    BetDraws(
        of_kind=np.array([0, 1, 0]),
        wave=np.array([0, 0, 1]),
        risk=(np.array([0.1, 1 / 3]), np.array([0.2])),
        size=(np.array([1.0, 2.0]), np.array([1.5])),
        count=(np.array([5.0, 4.0]), np.array([7.0])),
        sizes=(2, 1),
        threshold=0.9,
        lost=np.array([2]),
    ),
]


def name_of(draws: Draws) -> str:
    return type(draws).__name__


def test_every_kind_is_here() -> None:
    assert {name_of(one) for one in EVERY} == set(Draws.kinds)


@pytest.mark.parametrize("draws", EVERY, ids=name_of)
def test_records_are_exact_and_typed(draws: Draws) -> None:
    again = draws_from(json.loads(json.dumps(draws.as_record())))
    assert type(again) is type(draws)
    assert again.as_record() == draws.as_record()
    for name, value in vars(draws).items():
        assert getattr(getattr(again, name), "dtype", None) == getattr(value, "dtype", None)


@pytest.mark.parametrize("draws", EVERY, ids=name_of)
def test_parts_joined_are_the_whole(draws: Draws) -> None:
    parts = [draws.part(slice(2)), draws.part(slice(2, None))]
    assert joined(parts).as_record() == draws.as_record()


def test_what_waves_lost_is_kept() -> None:
    less = WAVES.without(np.array([False, True, True]), np.array([7, 8, 9]))
    assert less.wave.tolist() == [0]
    assert (less.lost.tolist(), less.lost_wave.tolist(), less.sizes) == ([8, 9], [0, 1], (2, 3))


def test_claims_follow_from_how_items_were_drawn() -> None:
    kinds = [(name_of(one), one) for one in EVERY]
    assert [one for _, one in kinds if one.anytime] == [EVERY[0]]
    assert {name for name, one in kinds if one.reusable} == {"EqualDraws", "WaveDraws"}
    assert not EVERY[1].reusable  # with replacement
    assert {name for name, one in kinds if one.needs_all} == {"GroupDraws", "StepDraws"}
    assert {name for name, one in kinds if not one.prefix_valid} == {"GroupDraws"}
