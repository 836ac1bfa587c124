"""Who gets which item next."""

from __future__ import annotations

from fieldcheck.campaign.state import ItemState, State


def choice(state: State, by: str, n: int, *, now: float) -> list[ItemState]:
    """What somebody may label next: their own first, then free ones, in the order of the design."""
    waiting = [item for item in state.items.values() if not item.done and item.mark_of(by) is None]
    own = [item for item in waiting if is_theirs(item, by, now)]
    free = [item for item in waiting if item.leased_at(now) is None]
    return [*own, *free][:n]


def is_theirs(item: ItemState, by: str, now: float) -> bool:
    """Whether somebody has this item in their hands."""
    lease = item.leased_at(now)
    return lease is not None and lease.by == by


def may_draw(state: State) -> bool:
    """Whether the design has a label, or none to be had, for every item that it has not looked at yet."""
    return not state.complete and all(item.done for name, item in state.items.items() if name not in state.seen)
