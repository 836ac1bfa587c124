"""The language of queries: what it means, by comparison with plain Python over a small space; and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.core.errors import QueryError, SpaceError
from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.query import LONGEST, parse

WORDS = {"low": (1, 2), "medium": (3, 3), "high": (4, 5)}
SPACE = Space((Axis("zoom", 5, words=WORDS), Axis("motion-blur", 3), Axis("brightness", 4, words={"dark": (3, 4)})))
ROBUSTNESS = np.linspace(0, 1, SPACE.size)
QUALITY = np.linspace(-0.1, 0.2, SPACE.size)


def selected(text: str) -> set[tuple[int, ...]]:
    values = {"robustness": ROBUSTNESS, "quality": QUALITY}
    rows = SPACE.severities(parse(text, SPACE).tests(lambda name, tests: values[name][tests]))
    return {tuple(row) for row in rows.tolist()}


def by_hand(rule: Callable[[int, int, int], bool]) -> set[tuple[int, ...]]:
    return {(z, m, b) for z in range(6) for m in range(4) for b in range(5) if rule(z, m, b)}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("zoom > 2", lambda z, m, b: z > 2),
        ("2 < zoom", lambda z, m, b: z > 2),
        ("zoom=2", lambda z, m, b: z == 2),
        ("zoom == 2", lambda z, m, b: z == 2),
        ("zoom != 2", lambda z, m, b: z != 2),
        ("zoom <> 2", lambda z, m, b: z != 2),
        ("zoom ≤ 2 ∧ brightness ≥ 1", lambda z, m, b: z <= 2 and b >= 1),
        ("zoom > 2 or (brightness = 4 and motion_blur = 1)", lambda z, m, b: z > 2 or (b == 4 and m == 1)),
        ("zoom > 2 || brightness = 4 && motion-blur = 1", lambda z, m, b: z > 2 or (b == 4 and m == 1)),
        ("zoom > 2 | brightness = 4 & MOTION-BLUR = 1", lambda z, m, b: z > 2 or (b == 4 and m == 1)),
        ("(zoom > 2 ∨ brightness = 4) ∧ motion_blur = 1", lambda z, m, b: (z > 2 or b == 4) and m == 1),
        ("not zoom > 2 and brightness = 0", lambda z, m, b: z <= 2 and b == 0),
        ("not (zoom > 2 and brightness = 0)", lambda z, m, b: not (z > 2 and b == 0)),
        ("! zoom = 1", lambda z, m, b: z != 1),
        ("not not zoom = 1", lambda z, m, b: z == 1),
        ("1 <= zoom <= 3", lambda z, m, b: 1 <= z <= 3),
        ("3 > zoom >= 1", lambda z, m, b: 1 <= z < 3),
        ("0 < zoom < 4", lambda z, m, b: 0 < z < 4),
        ("zoom in {1, 3}", lambda z, m, b: z in {1, 3}),
        ("zoom ∈ {1, 3..5}", lambda z, m, b: z in {1, 3, 4, 5}),
        ("zoom not in {1, 3}", lambda z, m, b: z not in {1, 3}),
        ("zoom ∉ {1, 3}", lambda z, m, b: z not in {1, 3}),
        ("zoom in {low, 5}", lambda z, m, b: z in {1, 2, 5}),
        ("zoom = low", lambda z, m, b: z in {1, 2}),
        ("zoom != Low", lambda z, m, b: z not in {1, 2}),
        ("zoom > low", lambda z, m, b: z > 2),
        ("zoom >= low", lambda z, m, b: z >= 1),
        ("zoom < high", lambda z, m, b: z < 4),
        ("zoom <= high", lambda z, m, b: z <= 5),
        ("low <= zoom", lambda z, m, b: z >= 1),
        ("brightness = dark", lambda z, m, b: b in {3, 4}),
        ("zoom < brightness", lambda z, m, b: z < b),
        ("zoom <= motion_blur <= brightness", lambda z, m, b: z <= m <= b),
        ("order = 3", lambda z, m, b: (z > 0) + (m > 0) + (b > 0) == 3),
        ("order <= 1", lambda z, m, b: (z > 0) + (m > 0) + (b > 0) <= 1),
        ("severity_sum > 8", lambda z, m, b: z + m + b > 8),
        ("all", lambda z, m, b: True),
        ("all and not zoom = 0", lambda z, m, b: z != 0),
    ],
)
def test_a_query_means_what_it_says(text: str, rule: Callable[[int, int, int], bool]) -> None:
    assert selected(text) == by_hand(rule)


def test_measured_quantities_come_from_outside() -> None:
    assert parse("robustness < 50% and quality <= 0.06", SPACE).needs == {"robustness", "quality"}
    found = parse("robustness < 50% and quality <= -.01", SPACE).tests(
        lambda name, tests: {"robustness": ROBUSTNESS, "quality": QUALITY}[name][tests]
    )
    np.testing.assert_array_equal(found, np.flatnonzero((ROBUSTNESS < 0.5) & (QUALITY <= -0.01)))
    assert parse("zoom = 1", SPACE).needs == frozenset()
    with pytest.raises(QueryError):
        parse("robustness < 0.5", SPACE).tests()


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("zoom > 7", 7),
        ("zoom > -1", 7),
        ("zoom > 2.5", 7),
        ("zoom = 50%", 7),
        ("zom > 2", 0),
        ("zoom > 2 and", 12),
        ("zoom > 2 brightness = 1", 9),
        ("(zoom > 2", 9),
        ("zoom >", 6),
        ("zoom", 4),
        ("zoom = dark", 7),
        ("3 < 4", 0),
        ("zoom in 3", 8),
        ("zoom in {}", 9),
        ("zoom in {3", 10),
        ("zoom in {3..1}", 12),
        ("zoom $ 3", 5),
        ("robustness > 1e999", 13),
        ("order = 4", 8),
        ("zoom > 2; import os", 8),
        ("__import__('os')", 0),
        ("zoom > nan", 7),
        ("> 3", 0),
    ],
)
def test_an_error_points_at_the_place(text: str, mark: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text, SPACE)
    _, shown, below = caught.value.problem.splitlines()
    assert shown[4:].startswith(text[:20])
    assert below.index("^") - 4 == mark


def test_an_unknown_name_lists_what_exists_and_the_closest() -> None:
    with pytest.raises(QueryError) as caught:
        parse("brigthness > 2", SPACE)
    assert "motion-blur" in caught.value.rule
    assert "severity_sum" in caught.value.rule
    assert caught.value.hint == "brightness"


@pytest.mark.parametrize("text", ["", "   ", "a" * (LONGEST + 1), "(" * 5000 + "zoom = 1" + ")" * 5000, "not " * 2000])
def test_empty_long_and_deep_queries_are_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parse(text, SPACE)


def test_a_long_place_is_shown_in_part() -> None:
    with pytest.raises(QueryError) as caught:
        parse("zoom = 1 or " * 50 + "blub = 1", SPACE)
    _, shown, below = caught.value.problem.splitlines()
    assert shown[below.index("^") :].startswith("blub")
    assert len(shown) < 100


def test_a_space_may_not_take_words_of_the_language() -> None:
    for name in ("order", "robustness", "severity-sum", "And", "all"):
        with pytest.raises(SpaceError):
            Space((Axis(name, 3),))
    with pytest.raises(SpaceError):
        Space((Axis("motion_blur", 3), Axis("motion-blur", 3)))


TEXT = "zoom brightness motion-blur order quality low and or not in all ( ) { } < <= = != > ≥ .. , ∧ | 1 -3 .5 9% 1e3"
PIECES = st.sampled_from([*TEXT.split(" "), "'", "\\", "\x00"])


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=25).map(" ".join) | st.text(max_size=60))
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        query = parse(text, SPACE)
    except QueryError:
        return
    known = {"robustness": ROBUSTNESS, "quality": QUALITY}
    every = np.arange(SPACE.size)
    holds = query.holds(every, lambda name, tests: known[name][tests])
    np.testing.assert_array_equal(query.tests(lambda name, tests: known[name][tests]), every[holds])


NODES = st.recursive(
    st.builds(
        lambda name, sign, level: (f"{name} {sign} {level}", name, sign, level),
        st.sampled_from(["zoom", "motion_blur", "brightness"]),
        st.sampled_from(["<", "<=", "==", "!=", ">=", ">"]),
        st.integers(0, 3),
    ).map(lambda parts: (parts[0], parts[0])),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})", f"({t[0][1]} {t[1]} {t[2][1]})")
        )
        | inner.map(lambda part: (f"not ({part[0]})", f"not ({part[1]})"))
    ),
    max_leaves=8,
)


@settings(max_examples=100)
@given(NODES)
def test_the_same_text_means_the_same_as_in_python(pair: tuple[str, str]) -> None:
    text, python = pair
    code = compile(python, "query", "eval")
    expected = by_hand(
        lambda z, m, b: bool(eval(code, {"__builtins__": {}}, {"zoom": z, "motion_blur": m, "brightness": b}))  # noqa: S307 -- the test's own text
    )
    assert selected(text) == expected
    every = np.arange(SPACE.size)
    assert every[parse(text, SPACE).holds(every)].tolist() == parse(text, SPACE).tests().tolist()


def test_a_space_of_millions_is_broadcast() -> None:
    space = Space(tuple(Axis(f"p{i}", 5) for i in range(8)))
    query = parse("order <= 3 and (p0 > 2 or p7 in {1, 2}) and not severity_sum > 9", space)
    rows = space.severities(query.tests()[:500])
    assert np.all(np.count_nonzero(rows, axis=1) <= 3)
    assert np.all(rows.sum(axis=1) <= 9)
    assert np.all((rows[:, 0] > 2) | np.isin(rows[:, 7], [1, 2]))
