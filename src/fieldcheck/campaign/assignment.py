"""Who gets which item next."""

from __future__ import annotations

from itertools import islice

from fieldcheck.campaign.item_state import ItemState
from fieldcheck.campaign.settings import Settings
from fieldcheck.campaign.state import State
from fieldcheck.core.errors import BudgetError


def choice(state: State, by: str, n: int, *, now: float) -> list[ItemState]:
    """What somebody may label next: their own first, then those with room, in the order of the design."""
    own = [item for item in state.items.leased() if waits_for(item, by) and is_theirs(item, by, now)]
    free = (item for item in state.items.open() if waits_for(item, by) and has_room(item, by, state.settings, now=now))
    return [*own[:n], *islice(free, max(n - len(own), 0))]


def waits_for(item: ItemState, by: str) -> bool:
    """Whether somebody could label an item: it is not done, and they have not said anything about it."""
    return not item.done and item.annotation_of(by) is None


def has_room(item: ItemState, by: str, settings: Settings, *, now: float) -> bool:
    """Whether an item that is not theirs yet wants one more person than have it."""
    return len(item.leased_at(now)) < missing(item, settings) and not is_theirs(item, by, now)


def missing(item: ItemState, settings: Settings) -> int:
    """From how many more people an item that is not done wants a label: so many may have it at once."""
    return max(1, settings.labels_per_item - len(item.labels))


def is_theirs(item: ItemState, by: str, now: float) -> bool:
    """Whether somebody has this item in their hands."""
    lease = item.lease_of(by)
    return lease is not None and lease.until > now


def may_draw(state: State) -> bool:
    """Whether the design has a label, or none to be had, for every item that it has not looked at yet.

    Items in dispute do not keep others from being drawn: until they are settled, they count as not answered.
    """
    return not state.complete and all(
        item.id in state.seen or item.standing == "disputed" for item in state.items.open()
    )


def larger(before: int | None, budget: int | str, *, drawn: int) -> int:
    """The budget that is asked for: a number of labels in all, or ``+25`` for so many more."""
    text = str(budget).strip()
    if not text.removeprefix("+").isdecimal():
        raise BudgetError(f"a budget of '{text}'", rule="a whole number, or + and how many more", hint="--budget +25")
    wanted = int(text) + (max(before or 0, drawn) if text.startswith("+") else 0)
    least = drawn if before is None else before + 1
    if wanted < least:
        have = f"{drawn:,} items are drawn" if before is None else f"the budget is {before:,} already"
        raise BudgetError(f"a budget of {wanted:,}: {have}", rule="an extension adds labels", hint="--budget +25")
    return wanted
