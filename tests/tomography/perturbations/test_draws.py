"""Streams of random numbers, one per item."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.rng import ItemStreams


def test_words_are_those_of_splitmix64() -> None:
    """First numbers of the reference implementation (Vigna, splitmix64.c) with state 1234567."""
    words = ItemStreams(np.array([1234567], dtype=np.uint64)).words(5)
    assert words.tolist() == [
        [
            *(6457827717110365317, 3203168211198807973, 9817491932198370423),
            *(4593380528125082431, 16408922859458223821),
        ]
    ]


def test_keys_are_pinned() -> None:
    """A change of these changes every run that was ever recorded."""
    keys = ItemStreams.of(7, "fog", [0, 1, 2], [1, 1, 5]).keys
    assert keys.tolist() == [18378130758957401913, 16185564978080161926, 2238833167338957524]


def test_a_stream_does_not_depend_on_its_neighbours() -> None:
    together = ItemStreams.of(0, "fog", np.arange(10), np.full(10, 3))
    alone = ItemStreams.of(0, "fog", 7, 3)
    assert np.array_equal(together.uniforms(6)[7], alone.uniforms(6)[0])
    assert np.array_equal(together.select(np.array([7])).shorts(9), alone.shorts(9))
    assert np.array_equal(together.uniforms(3)[7], alone.uniforms(6)[0, :3])


@pytest.mark.parametrize("other", [(1, "fog", 7, 3), (0, "rain", 7, 3), (0, "fog", 8, 3), (0, "fog", 7, 2)])
def test_everything_in_the_name_matters(other: tuple[int, str, int, int]) -> None:
    assert ItemStreams.of(0, "fog", 7, 3).keys[0] != ItemStreams.of(*other).keys[0]


def test_lanes_differ() -> None:
    draws = ItemStreams.of(0, "fog", np.arange(5), np.ones(5))
    assert not np.any(draws.words(20) == draws.words(20, lane=1))


def test_uniforms_are_uniform_and_independent_across_items_and_places() -> None:
    """A million numbers: means of bits, rows and neighbours within six standard errors (false alarm 1e-7 together)."""
    words = ItemStreams.of(1, "x", np.arange(10_000), np.ones(10_000)).words(100)
    uniforms = (words >> np.uint64(11)).astype(float) * 2.0**-53
    size = uniforms.size
    assert abs(uniforms.mean() - 0.5) < 6 * np.sqrt(1 / 12 / size)
    centred = uniforms - 0.5
    for product in (centred[1:] * centred[:-1], centred[:, 1:] * centred[:, :-1]):
        assert abs(product.mean()) < 6 / 12 / np.sqrt(product.size)
    for bit in range(64):
        share = ((words >> np.uint64(bit)) & np.uint64(1)).mean()
        assert abs(share - 0.5) < 6 * 0.5 / np.sqrt(size)


def test_below_stays_below() -> None:
    drawn = ItemStreams.of(0, "x", np.arange(2_000), np.ones(2_000)).below(7)
    assert set(drawn.ravel().tolist()) == set(range(7))


def test_the_generator_of_an_item_is_that_of_its_name() -> None:
    draws = ItemStreams.of(3, "drift", [4, 5], [1, 2])
    alone = ItemStreams.of(3, "drift", 5, 2).generator(0)
    assert alone.bit_generator.random_raw() == draws.generator(1).bit_generator.random_raw()
