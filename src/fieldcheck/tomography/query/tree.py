"""What a query is made of, once it is read and every name and level in it is known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Everything:
    """``all``"""


@dataclass(frozen=True)
class Between:
    """``low <= name <= high``, either end open where it is exclusive; infinite ends select all."""

    name: str
    low: float
    high: float
    with_low: bool = True
    with_high: bool = True


@dataclass(frozen=True)
class Among:
    """``name in {...}``"""

    name: str
    values: frozenset[float]


@dataclass(frozen=True)
class Compared:
    """``name op name``: two quantities of the same test."""

    left: str
    sign: str
    right: str


@dataclass(frozen=True)
class Before:
    """``name before name``: both perturbations are at work, and the first is applied before the second."""

    first: str
    second: str


@dataclass(frozen=True)
class Not:
    part: Node


@dataclass(frozen=True)
class And:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Node, ...]


Node = Everything | Between | Among | Compared | Before | Not | And | Or


def names_in(node: Node) -> frozenset[str]:
    """The quantities that a query looks at."""
    match node:
        case Everything():
            return frozenset()
        case Between(name=name) | Among(name=name):
            return frozenset({name})
        case Compared(left=left, right=right) | Before(first=left, second=right):
            return frozenset({left, right})
        case Not(part=part):
            return names_in(part)
        case And(parts=parts) | Or(parts=parts):
            return frozenset().union(*map(names_in, parts))


def orders_in(node: Node) -> tuple[Before, ...] | None:
    """The orders that a query names; None where one stands under ``or`` or ``not``, so that it is no condition."""
    match node:
        case Before():
            return (node,)
        case And(parts=parts):
            found = [orders_in(part) for part in parts]
            return None if None in found else tuple(one for part in found if part for one in part)
        case Not(part=part):
            return None if orders_in(part) != () else ()
        case Or(parts=parts):
            return () if all(orders_in(part) == () for part in parts) else None
        case _:
            return ()
