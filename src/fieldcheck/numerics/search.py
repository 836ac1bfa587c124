"""The first whole number from which on something holds, in few looks."""

from __future__ import annotations

from collections.abc import Callable


def first(value: Callable[[int], float], low: int, high: int, *, guess: int, step: int, slack: int = 0) -> int:
    """The smallest whole number from ``low`` to ``high`` whose value is not negative, if values rise.

    From the guess in growing steps until it lies between two numbers; then where the line through their values
    crosses zero, a little to the side of the wider part, or in the middle where that did not halve the room. A few
    looks where values are nearly straight, never many more than twice those of bisection.

    high
        Has such a value, or is the answer: it is not looked at.
    guess, step
        Where the answer may be, and how far it may be from there.
    slack
        The answer may be too large by its part ``1 / slack``; 0: by nothing.
    """
    below, above, at = low - 1, high, min(max(guess, low), high - 1)
    under: float | None = None
    over: float | None = None
    while above - below > 1 + (below // slack if slack else 0):
        room, found = above - below, value(at)
        if found >= 0:
            above, over = at, found
        else:
            below, under = at, found
        if under is None or over is None:
            at, step = (above - step if under is None else below + step), 4 * step
        elif 2 * (above - below) > room:
            at = (below + above) // 2
        else:
            across = (above - below) * under / (under - over)
            side = (above - below) / 32 + 1
            at = round(below + across + (side if 2 * across < above - below else -side))
        at = min(max(at, below + 1), above - 1)
    return above
