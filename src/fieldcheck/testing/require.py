"""What the checks share: one way to fail, and what is asked of every registered thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.registry import Registry


def require(condition: Any, message: str) -> None:
    """Raise AssertionError with the message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def made_of(entry: Any) -> Any:
    """The object, of a class the one with its default parameters."""
    return entry() if isinstance(entry, type) else entry


def check_described(made: Any, protocol: type[Any], *words: str) -> None:
    """It has all that the protocol names, and words for people; its name builds it from a command line."""
    require(isinstance(made, protocol), f"{made!r} lacks a part of {protocol.__name__}")
    for word in ("name", *words):
        require(getattr(made, word, ""), f"{made!r} has no {word}")
    require(type(made).__doc__, f"{made.name} has no docstring")
    own: Registry[Any] = Registry(protocol.__name__, "fieldcheck.none", type(made))
    changed = [one.name for one in fields(made) if one.init] if is_dataclass(made) else []
    again = own.build(made.name, **{name: getattr(made, name) for name in changed})
    require(again == made or type(again) is type(made), f"'{made.name}' gives {again!r} instead of {made!r}")


def check_refused(act: Callable[[], object], message: str) -> None:
    """Doing this is refused with an error that users understand."""
    try:
        act()
    except FieldcheckError:
        return
    except Exception as error:
        raise AssertionError(f"{message}: {type(error).__name__} instead of an error with a rule") from error
    raise AssertionError(message)
