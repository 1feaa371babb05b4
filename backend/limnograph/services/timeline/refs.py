"""What refs add to the lane of commits: moves other than commits, and commits that a ref does not contain.

Pure; knows no source. Advances of a ref by its own commits are not shown: those commits are marks themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from limnograph.domain.answers.timeline import RefFlag
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import Micros, TimeRange, to_micros, to_millis
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.history import History
from limnograph.services.lake.rows import places_of
from limnograph.services.table.refs.retention import details

FLAGS_SHOWN = 200
"""Most flags; the newest ones of a range."""


def flags(history: History, span: TimeRange) -> list[RefFlag]:
    """Refs that were created, removed or set to an older commit in the range, oldest first."""
    found = [*_of_main(history, span), *_of_others(history, span)]
    return sorted(found, key=lambda flag: (flag.t, flag.ref))[-FLAGS_SHOWN:]


def _of_main(history: History, span: TimeRange) -> list[RefFlag]:
    """Moves of main to a commit that is older than its previous move: a rollback, a set, or a published branch."""
    times, places = history.moves, history.main_places
    commits = history.numbers("committed_at")
    if not len(times) or not len(commits):
        return []
    made = np.where(places < 0, NULL, commits[places])
    back = np.flatnonzero((made[1:] != NULL) & (made[1:] < times[:-1])) + 1
    ids = history.main_ids
    return [
        RefFlag(t=to_millis(Micros(times[i])), ref=MAIN, type="branch", snapshot_id=str(ids[i]))
        for i in back
        if _inside(Micros(times[i]), span)
    ]


def _of_others(history: History, span: TimeRange) -> list[RefFlag]:
    before: dict[str, ChangeFact] = {}
    found = []
    for change in history.of_kind("ref"):
        name = change.subject or ""
        last = before.get(name)
        before[name] = change
        if name != MAIN and _inside(change.at, span) and not _goes_on(history, change, last):
            told = last if change.to_value is None and last else change
            kind: Literal["branch", "tag"] = "tag" if details(told.detail).get("type") == "tag" else "branch"
            at = to_millis(change.at)
            found.append(RefFlag(t=at, ref=name, type=kind, snapshot_id=change.to_value))
    return found


def _goes_on(history: History, change: ChangeFact, last: ChangeFact | None) -> bool:
    """Whether a branch advanced by a commit that was made since its previous move."""
    if change.to_value is None or last is None or last.to_value is None:
        return False
    made = _committed_at(history, int(change.to_value))
    return made is not None and made >= last.at


def _inside(micros: Micros, span: TimeRange) -> bool:
    return to_micros(span.start) <= micros < to_micros(span.end)


def _place(history: History, snapshot_id: int) -> int:
    return int(places_of(history.numbers("snapshot_id"), np.array([snapshot_id], np.int64))[0])


def _committed_at(history: History, snapshot_id: int) -> Micros | None:
    place = _place(history, snapshot_id)
    made = history.numbers("committed_at")[place] if place >= 0 else NULL
    return None if made == NULL else Micros(made)


def beside(history: History, ref: str, shown: Iterable[int]) -> list[str] | None:
    """Those of the shown commits that are not ancestors of a ref's head; None if the ref or its head is unknown.

    Behind a gap in the chain of parents commits count as ancestors, because it is unknown.
    """
    newest = [change for change in history.of_kind("ref") if change.subject == ref]
    head = newest[-1].to_value if newest else None
    if head is None or _place(history, int(head)) < 0:
        return None
    ids, parents = history.numbers("snapshot_id").tolist(), history.numbers("parent_id").tolist()
    place_of = {snapshot_id: place for place, snapshot_id in enumerate(ids)}
    chain: set[int] = set()
    here: int | None = int(head)
    last = int(head)
    while here is not None and here in place_of and here not in chain:
        chain.add(here)
        last = here
        parent = parents[place_of[here]]
        here = None if parent == NULL else parent
    floor = None if here is None else _committed_at(history, last)
    return [
        str(each)
        for each in shown
        if each not in chain and (floor is None or (_committed_at(history, each) or floor) > floor)
    ]
