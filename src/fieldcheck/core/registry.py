"""Named things that users choose by a word, and that other packages may add to."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from fieldcheck.core.errors import DesignError, FieldcheckError


def check_between(design: str, *, low: float, high: float, **values: float) -> None:
    """Refuse a parameter outside its range."""
    for name, value in values.items():
        if not low <= value <= high:
            raise DesignError(
                f"{design}: {name} is {value:g}",
                rule=f"{name} lies between {low:g} and {high:g}",
                hint=f"{design}:{name}=value",
            )


T = TypeVar("T")


class Registry(Generic[T]):
    """Classes by their ``name``; further ones come from the entry points of ``group``, loaded when they are asked for.

    error
        What a word that names nothing, or a wrong parameter, is.
    hint
        What shows all of them.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        *entries: type[T],
        error: type[FieldcheckError] = DesignError,
        hint: str = "fieldcheck designs",
    ) -> None:
        self.noun, self.group, self.error, self.hint = noun, group, error, hint
        self._entries: dict[str, type[T]] = {entry.name: entry for entry in entries}  # type: ignore[attr-defined]
        self._own = frozenset(self._entries)

    @cached_property
    def _outside(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group) if point.name not in self._own}

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._entries, *self._outside)))

    def items(self) -> Iterator[tuple[str, type[T]]]:
        """Names with what they name, in order."""
        return ((name, self[name]) for name in self)

    def __getitem__(self, name: str) -> type[T]:
        name = self._proper(name)
        if name not in self._entries and name in self._outside:
            self._entries[name] = self._loaded(self._outside[name])
        if name not in self._entries:
            close = difflib.get_close_matches(name, self, n=1)
            raise self.error(
                f"no {self.noun} '{name}'",
                rule="there are: " + ", ".join(self),
                hint="; what each is: ".join(filter(None, [*close, self.hint])) if close else self.hint,
            )
        return self._entries[name]

    def _proper(self, name: str) -> str:
        """The name itself, also where it is written with underscores or as an entry says that it is ``also`` called."""
        if name in self._entries or name in self._outside:
            return name
        also = {other: proper for proper, entry in self._entries.items() for other in getattr(entry, "also", ())}
        spelled = name.replace("_", "-")
        return spelled if spelled in self._entries else also.get(spelled, name)

    def _loaded(self, point: EntryPoint) -> type[T]:
        try:
            return point.load()  # type: ignore[no-any-return]
        except Exception as error:  # other people's code may raise whatever it likes
            package = point.dist.name if point.dist is not None else point.value
            raise self.error(
                f"the {self.noun} '{point.name}' of the package {package} cannot be loaded: {error}",
                rule=f"the entry point {point.value} can be imported",
                hint=f"pip install --upgrade {package}, or pip uninstall {package}",
            ) from error

    def add(self, entry: type[T]) -> type[T]:
        """Know a class by its name, as in a notebook: one more of that name replaces it, but never one of ours."""
        name: str = entry.name  # type: ignore[attr-defined]
        if name in self._own:
            raise self.error(f"there is a {self.noun} '{name}' already", rule="a name of its own")
        self._entries[name] = entry
        return entry

    def build(self, spec: str, **given: Any) -> T:
        """The object for ``name:parameter=value,...``; ``given`` are parameters set elsewhere, where they exist."""
        name, _, text = spec.strip().partition(":")
        entry = self[name.strip().lower()]
        known = {f.name for f in fields(entry)} if is_dataclass(entry) else set()
        values = {key: value for key, value in given.items() if key in known and value is not None}
        try:
            values.update(_parse(entry, spec, text, known))
        except DesignError as error:
            raise self.error(error.problem, rule=error.rule, hint=error.hint) from None
        return entry(**values)


def _parse(entry: type[Any], spec: str, text: str, known: set[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    hints = get_type_hints(entry)
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            raise DesignError(
                f"'{part}' in '{spec}' is not a parameter of {entry.name}",
                rule="parameters: " + (", ".join(sorted(known)) or "none"),
                hint=f"{entry.name}:{min(known)}=..." if known else entry.name,
            )
        values[key] = _convert(value, hints[key], where=f"'{part}' in '{spec}'", example=f"{entry.name}:{key}=2")
    return values


def _convert(text: str, hint: Any, *, where: str, example: str) -> Any:
    if get_origin(hint) is tuple:
        return tuple(_convert(one, get_args(hint)[0], where=where, example=example) for one in text.split("+"))
    kinds = getattr(hint, "__args__", (hint,))
    if bool in kinds:
        words = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if text.lower() not in words:
            raise DesignError(f"{where}: '{text}' is neither yes nor no", rule="yes or no")
        return words[text.lower()]
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    if str in kinds or any(isinstance(kind, str) for kind in kinds):
        return text
    raise DesignError(f"{where}: '{text}' is not a number", rule="the parameter is a number", hint=example)
