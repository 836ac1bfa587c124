"""Every interval that claims to hold does, on every published subject: the long tests of `python3 run.py sweep`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldcheck import bench
from fieldcheck.engines import Processes
from fieldcheck.testing import assert_covers

REPETITIONS = 400


@pytest.mark.sweep
@pytest.mark.parametrize("budget", [50, 200, 800])
def test_intervals_hold(published_data: Path, budget: int) -> None:
    """Fails a cell whose true coverage is below about .87 (alarm 1e-6 per cell); its message names the cell."""
    plan = bench.Study(
        subjects=sorted((published_data / "subjects").glob("*.csv")),
        designs=("srs", "css", "ssrs", "gbs", "waves"),
        auxiliaries=("confidence", "dsa", "lsa"),
        budgets=(budget,),
        repetitions=REPETITIONS,
        threshold=0.5,
        seed=7,
    )
    rows = bench.run(plan, engine=Processes(2)).fair_rows()
    assert len(rows) > 100
    for row in rows:
        print(row["subject"], row["design"], row["auxiliary"], row["coverage"])
        assert_covers(round(row["coverage"] * REPETITIONS), REPETITIONS, least=0.93)


@pytest.mark.sweep
def test_mean_coverage_is_not_below_the_promise(published_data: Path) -> None:
    """Over all subjects together the mean must reach .94 (its own Monte-Carlo error is below .002)."""
    plan = bench.Study(
        subjects=sorted((published_data / "subjects").glob("*.csv")),
        designs=("waves", "ssrs"),
        auxiliaries=("confidence", "lsa"),
        budgets=(100,),
        repetitions=REPETITIONS,
        threshold=0.5,
        seed=8,
    )
    rows = bench.run(plan, engine=Processes(2)).fair_rows()
    assert sum(row["coverage"] for row in rows) / len(rows) > 0.94
