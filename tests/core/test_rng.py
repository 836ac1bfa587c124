"""Named streams: the same for ever, different for every purpose."""

from __future__ import annotations

import pytest

from fieldcheck.core.rng import stream


@pytest.mark.parametrize(("seed", "purpose"), [(0, ("srs",)), (1, ("gbs", "stratum", 3)), (2**63, ("x", "y"))])
def test_same_purpose_same_stream(seed: int, purpose) -> None:
    raw = [stream(seed, *purpose).bit_generator.random_raw(5).tolist() for _ in range(2)]
    assert raw[0] == raw[1]


def test_every_seed_and_purpose_has_its_own() -> None:
    names = [("a",), ("b",), ("a", 1), ("a", 2), ("a", "b"), ()]
    firsts = {stream(seed, *name).bit_generator.random_raw() for seed in range(50) for name in names}
    assert len(firsts) == 300


def test_pinned() -> None:
    """numpy promises SeedSequence and PCG64; this is what they give."""
    assert stream(0, "srs").bit_generator.random_raw(3).tolist() == SRS
    assert stream(2024, "gbs", "stratum", 3).bit_generator.random_raw(3).tolist() == GBS


SRS = [13221640184816755179, 5408064277432956061, 15452577877862959956]
GBS = [8369816579776655516, 6937709606739520753, 2131892222125158363]
