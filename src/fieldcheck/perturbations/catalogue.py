"""A registry that users may add to while the program runs."""

from __future__ import annotations

from typing import TypeVar

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.registry import Registry

T = TypeVar("T")


class Catalogue(Registry[T]):
    """Classes by their ``name``; those that were there from the start cannot be replaced."""

    def __init__(self, noun: str, group: str, *entries: type[T]) -> None:
        super().__init__(noun, group, *entries, error=SpaceError, hint="fieldcheck tomography list perturbations")
        self._own = frozenset(self._entries)

    def add(self, name: str, entry: type[T]) -> None:
        """Know ``entry`` by ``name``; adding another one of the same name replaces it, as in a notebook."""
        if name in self._own:
            raise SpaceError(f"there is a {self.noun} '{name}' already", rule="a name of its own")
        self._entries[name] = entry
