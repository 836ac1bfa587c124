"""Groups of subjects, and kinds of techniques."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.bench import Study, analyse, run
from fieldcheck.bench.exhibits.groups import breakdown_table, group_failures, group_growth, group_rmse, group_tables
from fieldcheck.bench.traits import partitioning, replacement
from fieldcheck.core.errors import BenchError

from .subjects import make_row, write_subject


def test_a_group_is_its_repetitions_thrown_together(tmp_path):
    """Mean and standard deviation of the pooled repetitions, from the rows of the subjects alone."""
    paths = [write_subject(tmp_path / f"{name}.csv", accuracy=a) for name, a in (("p", 0.6), ("q", 0.9))]
    groups = {"p": "both", "q": "both"}
    result = run(Study(paths, ("srs",), budgets=(30,), repetitions=9, groups=groups))
    assert [row["group"] for row in result.rows()] == ["both", "both"]
    whole = np.concatenate([one.failures for one in result.cells])
    (line,) = group_failures(result.rows(), 30).rows
    assert line[2:4] == pytest.approx((whole.mean(), np.std(whole, ddof=1)))
    assert any(one.name == "groups/failures-30" for one in analyse(result))


def rows_of_three():
    errors = {"a": (3, 2, 1), "b": (3, 1, 2), "c": (1, 2, 3)}
    found = []
    for subject, many in errors.items():
        for budget, rmse in zip((50, 200, 800), many, strict=True):
            place = {"subject": subject, "budget": budget, "group": "g"}
            found += [
                make_row("sups", rmse, budget / 10, **place),
                make_row("sups", 9 / budget, budget / 5, **place, auxiliary="dsa"),
            ]
    return found


def test_three_subjects_with_two_auxiliaries_make_pairs_of_counts():
    table = group_rmse(rows_of_three(), (50, 200, 800))
    assert table.rows == (("g", "sups", "confidence/dsa", "1/0", "1/0", "1/3", "2/3"),)
    growth = group_growth(rows_of_three(), (50, 200, 800))
    assert growth.rows == (("g", "sups", "confidence/dsa", "5.0/10.0", "16.0/16.0", "80.0/160.0"),)


def test_without_groups_there_are_no_group_tables():
    assert group_tables([make_row("sups", 1, 1)]) == []


@pytest.mark.parametrize(
    ("spec", "cuts", "twice"),
    [
        *(("srs", "no", "without"), ("srs:replace=yes", "no", "with"), ("sups", "no", "with")),
        *(("rhc", "no", "without"), ("ssrs", "yes", "without"), ("gbs", "yes", "without")),
        *(("gbs:replace=yes", "yes", "with"), ("2ups:k=5", "yes", "without"), ("css", "yes", "without")),
        *(("ces", "no", "without"), ("deepest", "no", "without"), ("theirs", "unknown", "unknown")),
    ],
)
def test_traits_are_those_of_the_paper_where_ours_draws_the_same_way(spec, cuts, twice):
    assert (partitioning(spec), replacement(spec)) == (cuts, twice)


def test_breakdown_by_hand():
    rows = [make_row("srs", 4, 2), make_row("sups", 2, 8), make_row("ssrs", 1, 4), make_row("rhc", 8, 2)]
    found = {row[:2]: row[2:] for row in breakdown_table(rows).rows}
    assert set(found) == {
        *(("partitioning", "no"), ("partitioning", "yes"), ("replacement", "with"), ("replacement", "without")),
        *(("accuracy", "low"), ("group", "s")),
    }
    (
        cells,
        rmse,
        _,
        draws,
        *_,
    ) = found["partitioning", "yes"]
    assert (cells, rmse, draws) == (1, 0.25, 2)
    assert found["replacement", "with"][:2] == (1, 0.5)
    top_rmse = found["partitioning", "no"][5]
    assert top_rmse == pytest.approx(100 * 2 / 3)  # srs and sups of srs, sups and rhc


def test_a_group_of_strangers_is_refused(tmp_path):
    with pytest.raises(BenchError, match="stranger"):
        Study([write_subject(tmp_path / "p.csv")], ("srs",), groups={"stranger": "g"})
