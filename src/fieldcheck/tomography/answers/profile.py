"""The operational profile: how likely each severity of each perturbation is in the field."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray


@dataclass(frozen=True)
class Profile:
    """Weights by perturbation, one per severity from 0 on; perturbations are taken to occur independently.

    A perturbation that is not named has all its severities equally likely.
    """

    weights: Mapping[str, Sequence[float]] = field(default_factory=dict)
    name: str = ""

    @classmethod
    def from_file(cls, path: str | Path) -> Profile:
        """A TOML file with one line per perturbation: ``brightness = [0.7, 0.2, 0.1, 0, 0, 0]``."""
        place = Path(path)
        try:
            table = tomllib.loads(place.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SpaceError(f"{place}: {error}", rule="a profile is a TOML file", hint=_EXAMPLE) from error
        for name, values in table.items():
            if not isinstance(values, list) or not all(_is_weight(value) for value in values):
                raise SpaceError(
                    f"{place}: '{name}' is not a list of weights", rule="numbers, 0 or more", hint=_EXAMPLE
                )
        return cls({name: [float(value) for value in values] for name, values in table.items()}, place.stem)

    def of_tests(self, space: Space, tests: IntArray) -> FloatArray:
        """The weight of some tests; those of all tests of the space sum to 1."""
        self._check(space)
        tables = [self._of(name, levels) for name, levels in zip(space.names, space.shape, strict=True)]
        found, rest = np.ones(len(tests)), tests
        for table in reversed(tables):  # the last axis changes fastest
            rest, level = np.divmod(rest, len(table))
            found *= table[level]
        return found

    def notes(self, space: Space) -> tuple[str, ...]:
        """Which perturbations it leaves out, and what that means."""
        missing = [name for name in space.names if name not in self.weights]
        return (f"the profile leaves out {', '.join(missing)}: all severities equally likely",) if missing else ()

    def _of(self, name: str, levels: int) -> FloatArray:
        given = self.weights.get(name)
        table = np.ones(levels) if given is None else np.asarray(given, dtype=np.float64)
        return np.asarray(table / table.sum())

    def _check(self, space: Space) -> None:
        unknown = [name for name in self.weights if name not in space]
        if unknown:
            raise SpaceError(
                f"the profile names '{unknown[0]}'", rule="the space has: " + ", ".join(space.names), hint=_EXAMPLE
            )
        for axis in space.axes:
            given = self.weights.get(axis.name)
            if given is not None and (len(given) != axis.levels + 1 or sum(given) <= 0):
                raise SpaceError(
                    f"the profile has {len(given)} weights for {axis.name}, in sum {sum(given):g}",
                    rule=f"one per severity ({', '.join(map(str, axis.values))}), not all zero",
                    hint=_EXAMPLE,
                )


_EXAMPLE = "brightness = [0.7, 0.2, 0.1, 0, 0, 0]"


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
