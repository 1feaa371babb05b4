"""How branches and tags moved: created, advanced, rolled back, removed. Commits to main are listed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from limnograph.domain.answers.refs import RefMove
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import Millis, to_millis
from limnograph.services.table.refs.retention import details

MOVES_SHOWN = 200
_Kind = Literal["created", "advanced", "rolled_back", "moved", "removed"]
_SAID: dict[_Kind, str] = {
    "created": "{name} was created at {to}",
    "advanced": "{name} was fast-forwarded from {old} to {to}",
    "rolled_back": "{name} was rolled back from {old} to {to}",
    "moved": "{name} was set from {old} to {to}",
    "removed": "{name} was removed; it was at {old}",
}


class Ancestry:
    """Parents and commit times (epoch ms) of snapshots, as far as known from rows."""

    def __init__(self, known: Mapping[int, tuple[int | None, Millis | None]]) -> None:
        self._known = known
        self._chains: dict[int, list[int]] = {}

    def chain(self, snapshot_id: int) -> list[int]:
        """The snapshot and its ancestors, newest first, as far as known; empty if the snapshot itself is unknown."""
        if snapshot_id not in self._chains:
            found: dict[int, None] = {}
            at: int | None = snapshot_id
            while at is not None and at in self._known and at not in found:
                found[at] = None
                at = self._known[at][0]
            self._chains[snapshot_id] = list(found)
        return self._chains[snapshot_id]

    def time(self, snapshot_id: int) -> Millis | None:
        """Its commit time."""
        return self._known.get(snapshot_id, (None, None))[1]

    def is_child(self, snapshot_id: int, parent: int) -> bool:
        """Whether a snapshot was created from another."""
        return self._known.get(snapshot_id, (None, None))[0] == parent


def moves_of(changes: Sequence[ChangeFact], ancestry: Ancestry) -> tuple[list[RefMove], int]:
    """The newest MOVES_SHOWN moves, newest first, and the number of older ones."""
    before: dict[str, ChangeFact] = {}
    found: list[tuple[ChangeFact, ChangeFact | None]] = []
    for change in changes:
        name = change.subject or ""
        last = before.get(name)
        if not _is_commit(change, last, ancestry):
            found.append((change, last))
        before[name] = change
    shown = found[-MOVES_SHOWN:]
    return [_move(change, last, ancestry) for change, last in reversed(shown)], len(found) - len(shown)


def _is_commit(change: ChangeFact, last: ChangeFact | None, ancestry: Ancestry) -> bool:
    """Whether main advanced by one commit, or this is its first known entry."""
    if change.subject != MAIN or change.to_value is None:
        return False
    if last is None or last.to_value is None:
        return last is None
    return ancestry.is_child(int(change.to_value), int(last.to_value))


def _move(change: ChangeFact, last: ChangeFact | None, ancestry: Ancestry) -> RefMove:
    old = last.to_value if last else change.from_value
    kind = _kind(old, change.to_value, ancestry)
    told = change if change.to_value is not None or last is None else last
    return RefMove(
        name=change.subject or "",
        type="tag" if details(told.detail).get("type") == "tag" else "branch",
        kind=kind,
        t=to_millis(change.at),
        not_before=to_millis(change.not_before),
        from_snapshot_id=old,
        to_snapshot_id=change.to_value,
        sentence=_SAID[kind].format(name=change.subject, old=old, to=change.to_value),
    )


def _kind(old: str | None, new: str | None, ancestry: Ancestry) -> _Kind:
    if new is None:
        return "removed"
    if old is None:
        return "created"
    if int(new) in ancestry.chain(int(old)):
        return "rolled_back"
    return "advanced" if int(old) in ancestry.chain(int(new)) else "moved"
