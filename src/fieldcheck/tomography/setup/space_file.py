"""The space file: which model, which data, which perturbations at which levels, what counts as right, and the plan."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from fieldcheck import models
from fieldcheck.core import measures
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.space import Axis, Space
from fieldcheck.sources.inputs.options import Wanted

T = TypeVar("T")


OPENING, PREPARATION, READING = (
    {one.name: hints[one.name] for one in fields(kind) if one.name not in but}
    for kind, hints, but in (
        (models.Opening, get_type_hints(models.Opening), {"trust"}),
        (models.Preparation, get_type_hints(models.Preparation), set()),
        (Wanted, get_type_hints(Wanted), {"part", "label_required"}),
    )
)
"""How a model is opened, how inputs are prepared for it and how data are read, with types: the options of ``predict``.
Trust is for the one who runs the file to give, not for the one who wrote it."""


KEYS: dict[str, frozenset[str]] = {
    "": frozenset(
        {"seed", "ordered", "surrogate", "model", "data", "truth", "check", "plan", "quality", "perturbation"}
    ),
    "model": frozenset({"file", "batch", "classes", "decoder", *OPENING, *PREPARATION}),
    "data": frozenset({"file", "limit", *READING}),
    "truth": frozenset({"file", "perturbations"}),
    "check": frozenset({"kind", "tolerance", "function", "visible", "classes", "reference", "expect"}),
    "plan": frozenset({"kind", "inferences", "half_width", "stop", "share", "base"}),
    "quality": frozenset({"score", "features", "tests", "inputs", "surrogate", "stop", "scale"}),
    "perturbation": frozenset({"name", "levels", "apply", "words", "of", "amounts"}),
}
"""By table of the file, what may be in it; "" is the file itself."""


CODE = re.compile(r"(?P<module>[A-Za-z_][\w.]*):[A-Za-z_][\w.]*(@(?P<weights>.+))?")


@dataclass(frozen=True)
class Code:
    """A model that code makes: ``module:name``, or ``module:name@weights`` with the place of the weights.

    text
        As models are opened by it.
    """

    text: str
    module: str
    weights: Path | None = None


@dataclass(frozen=True)
class SpaceFile:
    """A space file, read and checked.

    folder
        The files it names are relative to this one.
    model, data, truth, check, plan, quality
        Its tables, as plain values. ``truth`` stands in for model and data.
    ordered
        Whether the order in which perturbations are applied matters.
    text
        The file as it was written.
    """

    space: Space | None
    folder: Path
    model: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    truth: Mapping[str, Any] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)
    quality: Mapping[str, Any] = field(default_factory=dict)
    surrogate: str = "auto"
    seed: int = 0
    ordered: bool = False
    text: str = ""

    def path(self, table: str) -> Path:
        """Where the file of a table is."""
        given = self._data_parts[0] if table == "data" else str(getattr(self, table)["file"])
        found = self.folder / given
        if not found.exists():
            raise SpaceError(
                f"[{table}] names {given}, and {found} is not there",
                rule="files are named relative to the space file",
                hint=f'file = "..." in [{table}]',
            )
        return found

    @property
    def code(self) -> Code | None:
        """The model, where its ``file`` is no file but names code; weights are relative to the space file, too."""
        given = str(self.model["file"])
        match = None if (self.folder / given).exists() else CODE.fullmatch(given)
        if match is None:
            return None
        if match["weights"] is None:
            return Code(given, match["module"])
        weights = self.folder / match["weights"]
        return Code(f"{given[: match.start('weights')]}{weights}", match["module"], weights)

    @property
    def measure(self) -> Measure:
        """What right is, where it is not a function that the file names: ``label``, ``tolerance``, or any measure."""
        kind = str(self.check.get("kind", "label"))
        if kind == "tolerance":
            return measures.Tolerance(float(self.check["tolerance"]))
        found: Measure = measures.registry.build("accuracy" if kind in ("label", "function") else kind)
        return found

    @property
    def reads_raw(self) -> bool:
        """Whether the check reads what the model gives back as it is."""
        return self.check.get("kind") == "function" or self.measure.raw

    @property
    def data_source(self) -> str:
        """The data as sources are opened by it: the file, and after ``#`` the array or split in it."""
        return f"{self.path('data')}{self._data_parts[1]}"

    @property
    def _data_parts(self) -> tuple[str, str]:
        name, mark, part = str(self.data["file"]).partition("#")
        return name, mark + part


def read_space_file(path: str | Path) -> SpaceFile:
    """A space file, from its TOML."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise SpaceError(f"{place}: {error}", rule="a space file that can be read", hint="tomography init") from error
    except tomllib.TOMLDecodeError as error:
        raise SpaceError(f"{place}: {error}", rule="a space file is TOML", hint="tomography init") from error
    return _space_file(table, place, text)


def _space_file(table: Mapping[str, Any], place: Path, text: str) -> SpaceFile:
    _check_keys("", table, place)
    parts = {name: _table(table, name, place) for name in ("model", "data", "truth", "check", "plan", "quality")}
    if not parts["truth"] and not (parts["model"] and parts["data"]):
        raise SpaceError(f"{place}: nothing to test", rule="[model] and [data] with their files, or [truth]")
    for name in ("model", "data", "truth"):
        if parts[name] and not isinstance(parts[name].get("file"), str):
            raise SpaceError(f"{place}: [{name}] names no file", rule=f'[{name}] has file = "..."')
    _check_types("model", parts["model"], {"classes": tuple[str, ...], "decoder": str, **OPENING, **PREPARATION}, place)
    _check_types("data", parts["data"], READING, place)
    _check_check(parts["check"], place)
    space = _space(table.get("perturbation", []), place)
    if space is None and not parts["truth"]:
        raise SpaceError(f"{place}: no perturbation", rule="one [[perturbation]] or more, with name and levels")
    return SpaceFile(
        space=space,
        folder=place.parent,
        surrogate=_value(table, "surrogate", str, "auto", place),
        seed=_value(table, "seed", int, 0, place),
        ordered=_value(table, "ordered", bool, False, place),
        text=text,
        **parts,
    )


def _table(table: Mapping[str, Any], name: str, place: Path) -> Mapping[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise SpaceError(f"{place}: '{name}' is not a table", rule=f"[{name}] on a line of its own")
    _check_keys(name, found, place)
    return found


def _check_keys(where: str, table: Mapping[str, Any], place: Path) -> None:
    for name in table:
        if name not in KEYS[where]:
            close = difflib.get_close_matches(name, KEYS[where], n=1)
            inside = f" in [{where}]" if where else ""
            raise SpaceError(
                f"{place}: unknown '{name}'{inside}",
                rule="there are: " + ", ".join(sorted(KEYS[where])),
                hint=close[0] if close else "",
            )


def _check_types(where: str, table: Mapping[str, Any], kinds: Mapping[str, Any], place: Path) -> None:
    """Refuse what a table says in another kind of value; which words there are, those who read them know."""
    for name in kinds.keys() & table.keys():
        given, wanted = table[name], _kind(kinds[name])
        if name == "text" and isinstance(given, str):
            continue
        if type(given) is not wanted or (wanted is list and not all(isinstance(one, str) for one in given)):
            raise SpaceError(f"{place}: {name} = {given!r} in [{where}]", rule=f"{name} is {_KINDS[wanted]}")


def _kind(hint: Any) -> type[Any]:
    """The kind of value in TOML; words from a list are text."""
    if getattr(hint, "__origin__", None) is tuple:
        return list
    return next((kind for kind in (bool, int) if kind in (hint, *get_args(hint))), str)


def _check_check(check: Mapping[str, Any], place: Path) -> None:
    kind = check.get("kind", "label")
    known = ("label", "function", *measures.registry)
    if str(kind).partition(":")[0] not in known:
        raise SpaceError(f"{place}: no check '{kind}'", rule="there are: " + ", ".join(known))
    if kind == "tolerance" and not isinstance(check.get("tolerance"), int | float):
        raise SpaceError(
            f"{place}: the check has no tolerance", rule="tolerance = largest absolute error that is right"
        )
    if not 0 <= _number(check.get("visible", 0), "visible", place) <= 1:
        raise SpaceError(f"{place}: visible = {check['visible']}", rule="a share of the box, 0 to 1")
    if not 0 <= _number(check.get("expect", 0), "expect", place) <= 1:
        raise SpaceError(
            f"{place}: expect = {check['expect']}", rule="share of right answers without perturbation: 0.98"
        )
    if check.get("reference", "label") not in ("label", "unperturbed"):
        raise SpaceError(f"{place}: reference = {check['reference']!r}", rule="label, or unperturbed")
    if check.get("reference") == "unperturbed" and str(kind).startswith(("function", "detection")):
        raise SpaceError(
            f"{place}: a check of kind {kind} with the unperturbed answer as reference",
            rule="classes, values and texts are compared with the unperturbed answer",
            hint="leave reference out",
        )
    if not isinstance(check.get("classes", {}), dict) or not all(map(_is_group, check.get("classes", {}).values())):
        raise SpaceError(f"{place}: classes of [check]", rule="vehicle = { truth = [0, 3], model = [2, 5, 7] }")
    if kind == "function" and ":" not in str(check.get("function", "")):
        raise SpaceError(f"{place}: the check names no function", rule='function = "package.module:name"')


def _number(value: Any, name: str, place: Path) -> float:
    if type(value) not in (int, float):
        raise SpaceError(f"{place}: {name} = {value!r}", rule=f"{name} is a number")
    return float(value)


def _is_group(group: Any) -> bool:
    """Whether this says which classes of the truth are which of the model."""
    return (
        isinstance(group, dict)
        and set(group) == {"truth", "model"}
        and all(isinstance(part, list) and all(type(one) in (int, str) for one in part) for part in group.values())
    )


def _space(rows: Any, place: Path) -> Space | None:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SpaceError(f"{place}: 'perturbation' is not a list of tables", rule="[[perturbation]] for each")
    return Space(tuple(_axis(row, place) for row in rows)) if rows else None


def _axis(row: Mapping[str, Any], place: Path) -> Axis:
    _check_keys("perturbation", row, place)
    words = row.get("words", {})
    if not isinstance(words, dict) or not all(_is_range(levels) for levels in words.values()):
        raise SpaceError(
            f"{place}: words that are no levels", rule="words = { low = [1, 2], medium = 3, high = [4, 5] }"
        )
    amounts = _amounts(row.get("amounts", []), place)
    levels, chosen = _levels(row.get("levels", len(amounts) or 5), place)
    name = _value(row, "name", str, "", place)
    return Axis(
        name=name,
        levels=levels,
        chosen=chosen,
        amounts=amounts,
        perturbation=_value(row, "apply", str, name, place),
        words={word: _range(given) for word, given in words.items()},
        of=_texts(row.get("of", []), place),
    )


def _texts(given: Any, place: Path) -> tuple[str, ...]:
    """One name, or several."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SpaceError(f"{place}: of = {given!r}", rule='the text of an item that is perturbed: of = "question1"')
    return tuple(names)


def _is_range(levels: object) -> bool:
    """One level, or the first and the last one."""
    given = levels if isinstance(levels, list) else [levels]
    return len(given) in (1, 2) and all(type(level) is int for level in given)


def _range(levels: int | list[int]) -> tuple[int, int]:
    given = levels if isinstance(levels, list) else [levels]
    return given[0], given[-1]


def _levels(given: Any, place: Path) -> tuple[int, tuple[int, ...]]:
    """How many levels there are above 0, and which severities they are where some were chosen."""
    if type(given) is int:
        return given, ()
    if not isinstance(given, list) or not all(type(one) is int for one in given) or not any(given):
        raise SpaceError(f"{place}: levels = {given!r}", rule="a whole number, or severities to choose: [0, 2, 5]")
    chosen = tuple(one for one in given if one)
    return len(chosen), chosen


def _amounts(given: Any, place: Path) -> tuple[tuple[float, float], ...]:
    """The amount of each level, or the range that it is drawn from."""
    wrong = SpaceError(
        f"{place}: amounts = {given!r}",
        rule="a number for each level above 0, or a range: [10, 20, 40], or [[0, 10], [10, 20]]",
    )
    if not isinstance(given, list):
        raise wrong
    pairs = [one if isinstance(one, list) else [one, one] for one in given]
    if not all(len(pair) == 2 and all(type(end) in (int, float) for end in pair) for pair in pairs):
        raise wrong
    return tuple((float(low), float(high)) for low, high in pairs)


def _value(table: Mapping[str, Any], name: str, kind: type[T], default: T, place: Path) -> T:
    found = table.get(name, default)
    if type(found) is not kind:
        raise SpaceError(f"{place}: {name} = {found!r}", rule=f"{name} is {_KINDS[kind]}")
    return found


_KINDS: dict[type[Any], str] = {
    int: "a whole number",
    str: "text in quotes",
    bool: "true or false",
    list: "a list of texts",
}
