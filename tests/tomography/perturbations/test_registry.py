"""Families, parameters, and perturbations that users add."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fieldcheck.core.errors import FieldcheckError, SpaceError
from fieldcheck.core.rng import ItemStreams
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.perturbations import families, family, register, registry

from .subjects import build, run

WHOLE = {"cifar-10-c": 15, "mnist-c": 15, "cure-tsd": 12}
"""Families that are a whole benchmark; the others are the four that the tomography paper tests together."""


@pytest.mark.parametrize("name", families())
def test_families_can_be_built(name: str) -> None:
    made = [build(spec) for spec in family(name)]
    assert len({one.name for one in made}) == len(made) == WHOLE.get(name, 4)
    assert {one.kind for one in made} == {"text" if name == "text" else "image"}


@pytest.mark.parametrize(
    ("written", "name"),
    [("gaussian_noise", "gaussian-noise"), ("lens_blur", "defocus-blur"), ("decolorization", "saturation")],
)
def test_names_as_the_benchmarks_write_them(written: str, name: str) -> None:
    assert build(written).name == name


def test_an_unknown_family_says_what_there_is() -> None:
    with pytest.raises(SpaceError) as error:
        family("cats")
    assert "digits" in error.value.rule


@pytest.mark.parametrize("spec", ["fogg", "brightness:scale=moon", "brightness:amount=3", "zoom:direction=up"])
def test_wrong_specs_are_refused(spec: str) -> None:
    with pytest.raises(FieldcheckError):
        registry.build(spec)


def drift(row: Any, severity: int, rng: np.random.Generator) -> Any:
    """Sensors that drift."""
    return row + 0.1 * severity * rng.standard_normal(len(row))


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))


@pytest.mark.usefixtures("own")
def test_one_function_and_one_line_make_a_perturbation() -> None:
    register("drift", kind="row", levels=3)(drift)
    made = build("drift")
    assert (made.name, made.title, made.kind, made.levels) == ("drift", "Sensors that drift.", "row", 3)
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    out = run("drift", rows, [0, 1, 2, 3], seed=4)
    assert out.dtype == np.float32
    assert np.array_equal(out[0], rows[0])
    expected = rows[2] + 0.2 * ItemStreams.of(4, "drift", 2, 2).generator(0).standard_normal(3)
    assert np.array_equal(out[2], expected.astype(np.float32))


@pytest.mark.usefixtures("own")
def test_time_series_and_texts_too() -> None:
    @register("cut", kind="row")
    def cut(series: Any, severity: int, rng: np.random.Generator) -> Any:
        return np.where(np.arange(len(series))[:, None] < severity, 0, series)

    @register("zero", kind="row")
    def zero(series: Any, severity: int, rng: np.random.Generator) -> Any:
        series[:] = 0
        return series

    @register("shout", kind="text", levels=2, title="Louder")
    def shout(text: str, severity: int, rng: np.random.Generator) -> str:
        return text + "!" * severity

    series = np.ones((2, 10, 3))
    assert run("cut", series, [0, 4]).sum() == 2 * 30 - 12
    assert run("zero", series, [0, 1]).sum() == 30
    assert series.sum() == 60, "the data stay as they are, also when a function writes into its item"
    assert run("shout", ["a", "b"], [0, 2]) == ["a", "b!!"]
    assert build("shout").title == "Louder"
    assert len(run("cut", series[:0], 1)) == 0
    assert cut.name == "cut"


@pytest.mark.usefixtures("own")
def test_names_are_their_own_and_can_be_given_again() -> None:
    with pytest.raises(SpaceError):
        register("fog", kind="image")(drift)
    for name in ("a b", "Drift", ""):
        with pytest.raises(SpaceError):
            register(name, kind="row")(drift)
    register("drift", kind="row")(drift)
    register("drift", kind="row", levels=9)(drift)
    assert build("drift").levels == 9


@pytest.mark.usefixtures("own")
def test_a_function_that_changes_the_shape_is_refused() -> None:
    register("half", kind="row")(lambda row, severity, rng: row[:1])
    with pytest.raises(SpaceError):
        run("half", np.ones((2, 4)), 1)


def test_entry_points_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "foreign"

        @staticmethod
        def load() -> Any:
            return perturbations.own.made_of(drift, "foreign", kind="row")

    from fieldcheck.core import registry as module
    from fieldcheck.core.registry import Registry

    monkeypatch.setattr(module, "entry_points", lambda group: [Point] if group == "fieldcheck.perturbations" else [])
    fresh: Registry[Any] = Registry("perturbation", "fieldcheck.perturbations")
    made = fresh.build("foreign:levels=2")
    out = made.apply(np.ones((1, 2)), np.array([1]), ItemStreams.of(0, "foreign", 0, 1))
    assert out.shape == (1, 2)
    assert list(fresh) == ["foreign"]
