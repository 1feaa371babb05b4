"""What happened before on a table: earlier findings, and commits that caused one or that users wrote on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, cast

from limnograph.domain.answers.findings import EarlierEvent
from limnograph.domain.answers.notes import TeamNote
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import UNSHOWN, FindingCode, FindingSeverity
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros, to_millis
from limnograph.services.findings.board import FindingsBoard, key_of, key_of_name
from limnograph.services.findings.views import earlier
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.registry import NoteChain, NoteRegistry
from limnograph.services.notes.targets import TargetKey, finding_key, target_key
from limnograph.services.notes.views import note_view

MOST_EVENTS = 20


class _Commit(NamedTuple):
    at: Micros | None
    writer: str | None


class EarlierEvents:
    """Immutable after construction. `board`: returns the current findings. O(findings and notes of a table)."""

    def __init__(self, store: HotStore, board: Callable[[], FindingsBoard], notes: NoteRegistry) -> None:
        self._store, self._board, self._notes = store, board, notes

    def before_finding(self, fact: FindingFact) -> list[EarlierEvent]:
        """Commits before a finding that caused an earlier one of its kind, or that users wrote on; newest first."""
        of_table, before = self._board().by_table.get(key_of(fact), ()), fact.opened_at or EPOCH
        own = {str(snapshot_id) for snapshot_id in fact.cause_snapshot_ids or ()}
        found = self._commits(key_of(fact), earlier(fact, of_table), before)
        return _newest(each for each in found if each.id not in own)

    def before_alert(self, name: TableName, before: Micros) -> list[EarlierEvent]:
        """Findings of a table that closed before an instant, commits that caused them, and earlier commits that users
        wrote on; newest first.
        """
        uuid = self._store.reading.lake.names.get(name)
        key = uuid or key_of_name(name)
        facts = [
            fact
            for fact in self._board().by_table.get(key, ())
            if fact.closed_at is not None and fact.closed_at < before and fact.closed_by not in UNSHOWN
        ]
        return _newest([*map(self._finding, facts), *self._commits(key, facts, before)])

    def _finding(self, fact: FindingFact) -> EarlierEvent:
        key = finding_key(fact.finding_id)
        return EarlierEvent(
            kind="finding",
            id=fact.finding_id,
            at=to_millis(fact.opened_at),
            ended_at=to_millis(fact.closed_at),
            code=cast(FindingCode, fact.code),
            severity=cast(FindingSeverity, fact.severity),
            closed_by=fact.closed_by,
            writer=fact.cause_writer,
            notes=self._notes.count(key),
            last_note=self._last_note(key),
        )

    def _commits(self, table: str, facts: Sequence[FindingFact], before: Micros) -> list[EarlierEvent]:
        commits: dict[str, _Commit] = {}
        for fact in facts:
            for snapshot_id in fact.cause_snapshot_ids or ():
                commits[str(snapshot_id)] = self._known(table, snapshot_id) or _Commit(None, fact.cause_writer)
        for chain in self._notes.of_table(table):
            first = chain.first
            if first.scope == "commit" and first.target and not chain.deleted:
                known = self._known(table, int(first.target))
                commits.setdefault(first.target, known or _Commit(first.range_from, None))
        return [
            self._commit(table, snapshot_id, commit)
            for snapshot_id, commit in commits.items()
            if commit.at is None or commit.at < before
        ]

    def _known(self, table: str, snapshot_id: int) -> _Commit | None:
        """Time and writer of a commit that is in memory."""
        history = self._store.reading.lake.histories.get(table)
        row = history.snapshots.get(snapshot_id) if history is not None else None
        return None if row is None else _Commit(row.committed_at, row.app_name or row.app_id or row.engine)

    def _commit(self, table: str, snapshot_id: str, commit: _Commit) -> EarlierEvent:
        key = target_key("commit", table, snapshot_id, None, None)
        return EarlierEvent(
            kind="commit",
            id=snapshot_id,
            at=to_millis(commit.at),
            ended_at=None,
            code=None,
            severity=None,
            closed_by=None,
            writer=commit.writer,
            notes=self._notes.count(key),
            last_note=self._last_note(key),
        )

    def _last_note(self, key: TargetKey) -> TeamNote | None:
        found = [chain for chain in self._notes.of_target(key) if chain.last.kind == "note" and not chain.deleted]
        return note_view(max(found, key=_written)) if found else None


def _written(chain: NoteChain) -> Micros:
    return chain.last.at or EPOCH


def _newest(events: Iterable[EarlierEvent]) -> list[EarlierEvent]:
    """Newest first; those whose time is unknown come last."""
    return sorted(events, key=lambda event: -(event.at or 0))[:MOST_EVENTS]
