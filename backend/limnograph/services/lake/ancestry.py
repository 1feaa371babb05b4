"""Which commits of a history are ancestors of main's head: by the chain of parents, and no more rows than decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limnograph.services.lake.columns import INDEX, NULL

if TYPE_CHECKING:
    from limnograph.services.lake.history import History

_OPERATION = INDEX["operation"]


def ancestors(history: History) -> frozenset[int]:
    """Ids on the chain of main's head; behind a hole in the chain, those that were ancestors when observed."""
    straight = _straight_chain(history)
    if straight is not None:
        return straight
    ids, parents = history.numbers("snapshot_id").tolist(), history.numbers("parent_id").tolist()
    place_of = {snapshot_id: place for place, snapshot_id in enumerate(ids)}
    place: int | None = _head(history)
    chain: set[int] = set()
    last = None
    while place is not None and place >= 0 and ids[place] not in chain:
        chain.add(ids[place])
        last = place
        place = place_of.get(parents[place]) if parents[place] != NULL else None
    if last is not None and parents[last] == NULL and history.numbers("operation")[last] != NULL:
        return frozenset(chain)
    commits = history.numbers("committed_at")
    floor = commits[last] if last is not None else NULL
    older = (history.numbers("on_main") == 1) & (commits != NULL)
    if floor != NULL:
        older &= commits < floor
    return frozenset(chain.union(history.numbers("snapshot_id")[older].tolist()))


def is_ancestor(history: History, place: int) -> bool:
    """Whether the commit at a place is one; looks no further down than to it."""
    if _leads_to_head(history, place):
        return True
    head = _head(history)
    if place <= head:
        ids, parents = history.numbers("snapshot_id"), history.numbers("parent_id")
        if (parents[place + 1 : head + 1] == ids[place:head]).all():
            return True
    return int(history.numbers("snapshot_id")[place]) in history.main_ancestors


def _head(history: History) -> int:
    """Place of the row of main's head; -1 when it is not known."""
    places = history.main_places
    return int(places[-1]) if len(places) else -1


def _straight_chain(history: History) -> frozenset[int] | None:
    """The chain of main's head when every row is the child of the one before it and the first has no parent."""
    ids, parents = history.numbers("snapshot_id"), history.numbers("parent_id")
    head = _head(history)
    if head < 0 or head != len(ids) - 1 or parents[0] != NULL:
        return None
    straight = (parents[1:] == ids[:-1]).all() and history.table.rows.chosen([0]).numbers[_OPERATION, 0] != NULL
    return frozenset(ids.tolist()) if straight else None


def _leads_to_head(history: History, place: int) -> bool:
    """Whether main's log ends at the newest row and each row from a place on is the parent of the next."""
    rows, end = history.table.rows, history.table.rows.height
    ids = rows.window("snapshot_id", place, end)
    if not len(ids) or history.table.log.head != ids[-1]:
        return False
    return bool((rows.window("parent_id", place + 1, end) == ids[:-1]).all())
