"""Steps over large pools say how far they are, to who asked for it and nobody else."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.pool import pool as pools
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.pool.watching import counted, watched


class Heard(list[tuple[int, int]]):
    def __call__(self, done: int, total: int) -> None:
        self.append((done, total))


def test_each_part_is_counted_and_the_end_is_said() -> None:
    heard = Heard()
    with watched(heard):
        assert list(counted(iter("abc"), 3)) == ["a", "b", "c"]
        assert heard == [(0, 3), (1, 3), (2, 3), (3, 3), (3, 3)]
        with watched(None):
            list(counted(iter("abc"), 3))
    list(counted(iter("abc"), 3))
    assert len(heard) == 5


def test_a_step_that_fails_has_an_end() -> None:
    heard = Heard()
    with watched(heard), pytest.raises(ZeroDivisionError):
        list(counted((1 / at for at in (1, 0)), 2))
    assert heard == [(0, 2), (1, 2), (2, 2)]


def test_only_large_pools_are_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool("p", "classification", np.arange(100), np.zeros(100, dtype=np.int64), ("a",))
    heard = Heard()
    with watched(heard):
        assert [*pool.map(lambda rows, _: len(rows), None)] == [100]
        assert not heard
        monkeypatch.setattr(pools, "FEW", 99)
        monkeypatch.setattr(pools, "BLOCK", 40)
        assert [*pool.map(lambda rows, _: len(rows), None)] == [40, 40, 20]
    assert heard[0] == (0, 3)
    assert heard[-1] == (3, 3)
