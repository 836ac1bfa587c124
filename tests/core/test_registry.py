"""Words on the command line to objects, and clear refusals."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import ClassVar, Literal

import pytest

from fieldcheck.accuracy import designs
from fieldcheck.accuracy.designs.base import spec
from fieldcheck.core import registry as module
from fieldcheck.core.errors import DesignError
from fieldcheck.core.registry import Registry


@dataclass(frozen=True)
class Toy:
    name: ClassVar[str] = "toy"
    auxiliary: str = "confidence"
    count: int = 3
    share: float = 0.5
    limit: float | None = None
    loud: bool = False
    kind: Literal["a", "b"] = "a"


@pytest.fixture
def toys() -> Registry[Toy]:
    return Registry("toy", "fieldcheck.toys", Toy)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("toy", Toy()),
        (" Toy ", Toy()),
        ("toy:", Toy()),
        ("toy:count=4", Toy(count=4)),
        ("toy: share = .25 , loud=yes", Toy(share=0.25, loud=True)),
        ("toy:loud=no,limit=2", Toy(limit=2.0)),
        ("toy:kind=b,limit=1e-3", Toy(kind="b", limit=0.001)),
    ],
)
def test_build(toys, text: str, expected: Toy) -> None:
    assert toys.build(text) == expected


@pytest.mark.parametrize(
    "text", ["tou", "", "toy:counts=3", "toy:count", "toy:count=3.5", "toy:share=x", "toy:loud=maybe", "toy:limit=None"]
)
def test_refusals(toys, text: str) -> None:
    with pytest.raises(DesignError) as caught:
        toys.build(text)
    assert caught.value.rule


def test_the_closest_name_is_suggested(toys) -> None:
    with pytest.raises(DesignError) as caught:
        toys["tory"]
    assert caught.value.hint.startswith("toy")
    assert toys.hint in caught.value.hint
    with pytest.raises(DesignError) as far:
        toys["zzzzz"]
    assert far.value.hint == toys.hint


def test_given_parameters_fill_in_and_give_way(toys) -> None:
    assert toys.build("toy", auxiliary="dsa", unknown=1, count=None) == Toy(auxiliary="dsa")
    assert toys.build("toy:count=9", count=1) == Toy(count=9)


def test_every_design_round_trips() -> None:
    for name in designs.registry:
        made = designs.registry.build(name)
        assert spec(made) == name
        assert designs.registry.build(spec(made)) == made


@pytest.mark.parametrize(
    "text",
    [
        "sups:floor=0.0",
        "deepest:r=0.6,threshold=0.757,weights=selected",
        "ssrs:k=8",
        "srs:replace=yes",
        "css:shares=50/50,allocation=20/80",
    ],
)
def test_spec_is_what_was_written(text: str) -> None:
    assert spec(designs.registry.build(text)) == text


def test_other_packages_can_add(toys, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("path", "pathlib:Path", "fieldcheck.toys")
    monkeypatch.setattr(module, "entry_points", lambda group: [point] if group == "fieldcheck.toys" else [])
    assert list(toys) == ["toy", "path"]


def test_names_from_outside_do_not_replace_ours(toys, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("toy", "pathlib:Path", "fieldcheck.toys")
    monkeypatch.setattr(module, "entry_points", lambda group: [point])
    assert list(toys) == ["toy"]
    assert toys["toy"] is Toy


def test_a_package_is_loaded_only_when_it_is_asked_for(toys, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("broken", "no_such_package:Thing", "fieldcheck.toys")
    monkeypatch.setattr(module, "entry_points", lambda group: [point])
    assert list(toys) == ["toy", "broken"]
    assert toys["toy"] is Toy
    with pytest.raises(DesignError) as caught:
        toys["broken"]
    assert "the toy 'broken' of the package no_such_package:Thing cannot be loaded" in caught.value.problem
    assert caught.value.hint


def test_adding_by_hand_replaces_what_was_added_but_not_ours(toys) -> None:
    first = type("Mine", (), {"name": "mine"})
    second = type("Mine", (), {"name": "mine"})
    assert toys.add(first) is first
    toys.add(second)
    assert toys["mine"] is second
    with pytest.raises(DesignError, match="already"):
        toys.add(type("Other", (), {"name": "toy"}))
