"""A recursive-descent parser.

    query      = every ("or" every)*
    every      = one (("and" | "," ["and"]) one)*
    one        = "not" one | "(" query ")" | "all" | comparison
    comparison = operand (sign operand)+ | name ["not"] "in" "{" member ("," member)* "}" | word name
               | name (("before" | "after") name)+
    operand    = name | number | word
    member     = number [".." number] | word

``not`` binds tightest, then ``and``, then ``or``. Length and depth are capped, so that no text keeps it busy.
"""

from __future__ import annotations

from dataclasses import dataclass

from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import RESERVED, Space
from fieldcheck.tomography.query.region import Query
from fieldcheck.tomography.query.tokens import COMPARISONS, Token, error, tokens
from fieldcheck.tomography.query.tree import Among, And, Before, Between, Compared, Everything, Node, Not, Or, orders_in
from fieldcheck.tomography.query.vocabulary import Quantity, is_known, look_up, vocabulary

LONGEST = 10_000
"""Characters that a query may have."""


DEEPEST = 100
"""Parentheses and ``not`` that may be open at once."""


FOLLOWS = ("before", "after")


MIRRORED = {"<": ">", "<=": ">=", "=": "=", "!=": "!=", ">=": "<=", ">": "<"}


EXAMPLE = "zoom > 2 or (brightness = 5 and blur = 1)"


def parse(text: str, space: Space) -> Query:
    """The query that a text means in a space; ``QueryError`` points at the place where it means nothing."""
    if len(text) > LONGEST:
        raise QueryError(f"a query of {len(text):,} characters", rule=f"at most {LONGEST:,}")
    parser = _Parser(text, list(tokens(text)), vocabulary(space))
    if parser.now.kind == "end":
        raise QueryError("the query is empty", rule="a condition on the tests, or all", hint=EXAMPLE)
    node = parser.query()
    parser.expect("end", "the query should end here, or go on with and / or")
    if orders_in(node) is None:
        raise QueryError(
            "an order under 'or' or 'not'",
            rule="before and after hold for all of a query: they are joined by and",
            hint=f"{space.names[0]} before {space.names[-1]}, order = 2",
        )
    return Query(text, node, space)


@dataclass
class _Parser:
    text: str
    tokens: list[Token]
    known: dict[str, Quantity]
    at: int = 0
    depth: int = 0

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def take(self, kind: str) -> bool:
        """Go past a token if it is of this kind."""
        there = self.now.kind == kind
        self.at += there
        return there

    def expect(self, kind: str, problem: str) -> None:
        if not self.take(kind):
            raise self.wrong(self.now, problem)

    def wrong(self, token: Token, problem: str, rule: str = "") -> QueryError:
        return error(self.text, token.start, problem, rule=rule, hint=EXAMPLE)

    def query(self) -> Node:
        parts = [self.every()]
        while self.take("or"):
            parts.append(self.every())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def every(self) -> Node:
        parts = [self.one()]
        while self.take("and") or self.comma():
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def comma(self) -> bool:
        """Go past a comma, which means ``and``, also where that stands behind it."""
        there = self.take(",")
        return there and (self.take("and") or True)

    def one(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(self.now, "too deeply nested", rule=f"at most {DEEPEST} levels of parentheses and not")
        node = self.innermost()
        self.depth -= 1
        return node

    def innermost(self) -> Node:
        if self.take("not"):
            return Not(self.one())
        if self.take("("):
            node = self.query()
            self.expect(")", "a parenthesis is open: ) is missing here")
            return node
        if self.take("all"):
            return Everything()
        return self.comparison()

    def comparison(self) -> Node:
        first = self.operand()
        if self.now.kind in ("in", "not in", "not"):
            return self.membership(first)
        if self.now.kind == "name" and self.now.text.lower() in FOLLOWS:
            return self.sequence(first)
        if self.now.kind == "name" and not is_known(first, self.known):
            return self.bounded(self.operand(), "=", first)  # as people say it: high brightness
        if self.now.kind not in COMPARISONS:
            raise self.wrong(self.now, f"a comparison is missing after '{first.text}'", rule="< <= = != >= > or in")
        links: list[Node] = []
        while self.now.kind in COMPARISONS:
            sign = self.now.kind
            self.at += 1
            second = self.operand()
            links.append(self.link(first, sign, second))
            first = second
        return links[0] if len(links) == 1 else And(tuple(links))

    def sequence(self, name: Token) -> Node:
        """Perturbations in the order in which they are applied."""
        first, links = self.axis(name), list[Node]()
        while self.now.kind == "name" and self.now.text.lower() in FOLLOWS:
            word = self.operand().text.lower()
            place = self.now
            second = self.axis(self.operand())
            if first == second:
                raise self.wrong(place, f"{first} before itself", rule="two perturbations")
            links.append(Before(first, second) if word == "before" else Before(second, first))
            first = second
        return links[0] if len(links) == 1 else And(tuple(links))

    def axis(self, token: Token) -> str:
        """The perturbation that a name stands for."""
        name = look_up(token, self.known, self.text).name
        if name in RESERVED:
            raise self.wrong(token, f"{name} is no perturbation", rule="before and after stand between perturbations")
        return name

    def operand(self) -> Token:
        token = self.now
        if token.kind not in ("name", "number"):
            what = f"'{token.text}'" if token.text else "the end of the query"
            raise self.wrong(token, f"{what} where a name or a level should be")
        self.at += 1
        return token

    def link(self, left: Token, sign: str, right: Token) -> Node:
        """One comparison; a word such as ``low`` means a level of the perturbation on the other side."""
        named = is_known(left, self.known), is_known(right, self.known)
        match named:
            case (True, True):
                names = (look_up(one, self.known, self.text).name for one in (left, right))
                return Compared(next(names), sign, next(names))
            case (True, False):
                return self.bounded(left, sign, right)
            case (False, True):
                return self.bounded(right, MIRRORED[sign], left)
            case _:
                looked_for = left if left.kind == "name" else right
                if looked_for.kind == "number":
                    raise self.wrong(left, "two numbers are compared", rule="one side is the name of a perturbation")
                look_up(looked_for, self.known, self.text)
                raise AssertionError("an unknown name is refused")

    def bounded(self, name: Token, sign: str, level: Token) -> Node:
        quantity = look_up(name, self.known, self.text)
        low, high = quantity.range_of(level, self.text)
        match sign:
            case "=":
                return Between(quantity.name, low, high)
            case "!=":
                return Not(Between(quantity.name, low, high))
            case "<" | "<=":
                ends = (low, False) if sign == "<" else (high, True)
                return Between(quantity.name, float("-inf"), ends[0], with_high=ends[1])
            case _:
                ends = (high, False) if sign == ">" else (low, True)
                return Between(quantity.name, ends[0], float("inf"), with_low=ends[1])

    def membership(self, name: Token) -> Node:
        quantity = look_up(name, self.known, self.text)
        outside = self.take("not in") or self.take("not")
        if not outside or self.tokens[self.at - 1].kind == "not":
            self.expect("in", "'in' is missing here")
        self.expect("{", "a set begins with { here")
        parts = [self.member(quantity)]
        while self.take(","):
            parts.append(self.member(quantity))
        self.expect("}", "a set ends with } here")
        node = _joined(quantity.name, parts)
        return Not(node) if outside else node

    def member(self, quantity: Quantity) -> tuple[float, float]:
        low, high = quantity.range_of(self.operand(), self.text)
        if self.take(".."):
            last = self.operand()
            _, high = quantity.range_of(last, self.text)
            if high < low:
                raise self.wrong(last, f"the range ends at {high:g}, before {low:g}", rule="first..last")
        return low, high


def _joined(name: str, parts: list[tuple[float, float]]) -> Node:
    """Single values as one set; ranges beside it."""
    values = frozenset(low for low, high in parts if low == high)
    nodes: list[Node] = [Among(name, values)] if values else []
    nodes += [Between(name, low, high) for low, high in parts if low != high]
    return nodes[0] if len(nodes) == 1 else Or(tuple(nodes))
