"""One commit: how it changed its parent's state, who wrote it, what it touched, and the durations of runs around it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from limnograph.analysis.advice.statements.touched_rows import Predicate
from limnograph.domain.answers.commits import CommitDetail, Diff, PartitionChange, SizeShape, StreamEpoch
from limnograph.domain.answers.contention import AttemptsOfCommit
from limnograph.domain.errors import LimnographError, NotFound, SourceError
from limnograph.domain.facts.meta_tables import HISTOGRAM_EDGES, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.findings.of_pages import findings_of_commit
from limnograph.services.findings.pages import FindingPages
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.lake.history import History
from limnograph.services.lake.loading import rows_by_id, snapshot_facts
from limnograph.services.lake.provisional import completed
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.targets import NoteTarget
from limnograph.services.reads.attempts import AttemptSource
from limnograph.services.reads.commit_users import CommitUsers
from limnograph.services.table.commit_effects import CommitEffects
from limnograph.services.table.commit_list import commit_row
from limnograph.services.table.reads.contention import commit_attempts
from limnograph.services.table.stream_epochs import COLUMNS, LOOKED_BACK, is_of_stream, stream_epoch
from limnograph.services.table.touched import touched_predicate, touched_rows
from limnograph.services.table.writing_runs import writing_run

AROUND = 6 * 3_600 * MICROS_PER_SECOND
"""How far before a commit its history is read, in microseconds."""
_Unit = Literal["files", "bytes", "rows", "manifests", "bytes_per_file"]
_METRICS: tuple[tuple[str, _Unit, str], ...] = (
    ("data_files", "files", "total_data_files"),
    ("delete_files", "files", "total_delete_files"),
    ("bytes", "bytes", "total_bytes"),
    ("records", "rows", "total_records"),
    ("position_deletes", "rows", "total_position_deletes"),
    ("equality_deletes", "rows", "total_equality_deletes"),
    ("manifests", "manifests", "manifests"),
    ("small_files", "files", "small_files"),
)


class _CommitContext(NamedTuple):
    history: History
    row: SnapshotFact
    parent: SnapshotFact | None


class CommitDetails:
    """The page of one commit. Immutable after construction."""

    def __init__(
        self,
        store: HotStore,
        engine: QueryEngine,
        jobs: Jobs,
        effects: CommitEffects,
        findings: FindingPages,
        *,
        attempts: AttemptSource,
        users: CommitUsers,
    ) -> None:
        self._store, self._engine, self._jobs, self._effects = store, engine, jobs, effects
        self._findings, self._attempts, self._users = findings, attempts, users

    async def detail(self, name: TableName, snapshot_id: int) -> CommitDetail:
        """Raises NotFound for an unknown table or commit, SourceError if the meta tables cannot be read."""
        with self._store.reads.page():
            found = await self._store.reads.ask(self._find, name, snapshot_id)
            row, history = found.row, found.history
            run = await self._jobs.runs.writer_of(name, row.snapshot_id, row.committed_at)
            effects = await self._effects.of_commit(name, row)
            attempts = await self._store.reads.ask(self._tried, history, row)
            stream = await self._store.reads.ask(self._stream, history, row) if is_of_stream(row) else None
            row = await self._store.reads.ask(self._with_user, history, row)
            writer = (run.job_name if run else None) or await self._written_by(row)
        previous_id, next_id = _neighbours(history, row)
        return CommitDetail(
            commit=commit_row(history, row),
            parent=commit_row(history, found.parent) if found.parent else None,
            diff=difference(found.parent, row),
            partitions=_partitions(row),
            partitions_changed=row.changed_partitions,
            shape=SizeShape(
                edges=list(HISTOGRAM_EDGES),
                before=found.parent.file_size_histogram if found.parent else None,
                after=row.file_size_histogram,
            ),
            target_file_bytes=row.target_file_bytes,
            refs=row.refs or [],
            schema_id=row.schema_id,
            summary=row.summary or {},
            summary_mismatch=row.summary_mismatch or [],
            problems=row.problems or [],
            manifest_list=row.manifest_list,
            metadata_location=row.metadata_location,
            writer_user=row.user,
            writer_engine_version=row.engine_version,
            written_by_job=writer,
            effects=effects,
            previous_id=previous_id,
            next_id=next_id,
            written_by_run=writing_run(run, name, row.snapshot_id) if run else None,
            expired=history.retained.has_expired(row.sequence_number),
            touched=touched_rows(history, row),
            findings=findings_of_commit(self._findings.board, history.uuid, row.snapshot_id, self._findings.shown),
            attempts=attempts,
            stream=stream,
        )

    async def touched(self, name: TableName, snapshot_id: int) -> Predicate:
        """Conditions for the rows that a commit wrote. Raises NotFound, SourceError."""
        with self._store.reads.page():
            found = await self._store.reads.ask(self._find, name, snapshot_id)
        return touched_predicate(found.history, found.row)

    async def note_target(self, name: TableName, snapshot_id: int) -> NoteTarget:
        """A commit as the target of a note. Raises NotFound, SourceError."""
        with self._store.reads.page():
            found = await self._store.reads.ask(self._find, name, snapshot_id)
        return NoteTarget("commit", str(snapshot_id), found.history.uuid, name, found.row.committed_at)

    def _find(self, name: TableName, snapshot_id: int) -> _CommitContext:
        """The whole row and its parent, from the meta tables by id, else from the watcher; with the surrounding
        history.
        """
        reading = self._store.reading
        if reading.error is not None and not reading.lake.histories:
            raise reading.error.with_traceback(None)  # stored with the view: it must not collect traceback frames
        history = reading.lake.find(name)
        if history is None:
            raise NotFound(f"{name} has never been readable, so its commits are unknown")
        row = self._row(history.uuid, snapshot_id, history)
        if row is None:
            raise NotFound(f"{name} has no commit {snapshot_id}")
        if row.committed_at is not None and not reading.lake.reaches(row.committed_at, history.uuid):
            reading = self._store.since(row.committed_at - AROUND, (history.uuid,))
            history = reading.lake.histories.get(history.uuid, history)
        parent = self._row(history.uuid, row.parent_id, history) if row.parent_id is not None else None
        return _CommitContext(history, row, parent)

    def _row(self, uuid: str, snapshot_id: int, history: History) -> SnapshotFact | None:
        hot = history.snapshots.get(snapshot_id)
        provisional = self._store.provisional_row(uuid, snapshot_id)
        try:
            durable = next(iter(rows_by_id(self._engine, uuid, (snapshot_id,))), None)
        except LimnographError:
            if hot is None:
                raise
            durable = None
        if durable is None:
            return provisional or hot
        return completed(durable, provisional) if provisional else durable

    def _tried(self, history: History, row: SnapshotFact) -> AttemptsOfCommit | None:
        """What reports say about the commit's attempts; None if they say nothing or cannot be read: the page is shown
        without them.
        """
        at = row.committed_at
        if at is None:
            return None
        try:
            found = self._attempts.read(history, Micros(at - 1), Micros(at + AROUND))
        except SourceError:
            return None
        return commit_attempts(found, row.snapshot_id)

    def _stream(self, history: History, row: SnapshotFact) -> StreamEpoch | None:
        """The commit's stream, beside its earlier epochs if these can be read."""
        ids = history.main_ids
        end = ids.index(row.snapshot_id) if row.snapshot_id in ids else 0
        before = ids[max(0, end - LOOKED_BACK) : end][::-1]
        wanted = MetaQuery(table="snapshots", columns=COLUMNS, table_uuids=(history.uuid,), snapshot_ids=tuple(before))
        try:
            rows = snapshot_facts(self._engine.select(wanted)) if before else []
        except SourceError:
            return stream_epoch(row, None)
        found = {fact.snapshot_id: fact for fact in rows}
        for snapshot_id in before:
            if snapshot_id not in found and (fresh := self._store.provisional_row(history.uuid, snapshot_id)):
                found[snapshot_id] = fresh
        return stream_epoch(row, [found[snapshot_id] for snapshot_id in before if snapshot_id in found])

    def _with_user(self, history: History, row: SnapshotFact) -> SnapshotFact:
        """The row with the user whom a report names, if its summary names none."""
        at = row.committed_at
        if row.user is not None or at is None:
            return row
        try:
            users = self._users.between(at, Micros(at + 1))
        except SourceError:
            users = self._users.in_memory
        return msgspec.structs.replace(row, user=users.of(history, row.snapshot_id, at))

    async def _written_by(self, row: SnapshotFact) -> str | None:
        """The job whose application id is the commit's, for a commit that no run reported. Never used to decide which
        job a commit slowed.
        """
        if row.app_id is None:
            return None
        pushed = self._jobs.runs.job_of_application(row.app_id)
        if pushed is not None or row.committed_at is None:
            return pushed
        at = to_millis(row.committed_at)
        try:
            return await self._jobs.job_of_application(row.app_id, at)
        except SourceError:
            return None


def difference(parent: SnapshotFact | None, row: SnapshotFact) -> list[Diff]:
    """Numbers before and after. Before a table's first commit every number is 0."""
    first = row.parent_id is None and row.operation is not None

    def one(metric: str, unit: _Unit, before: float | None, after: float | None) -> Diff:
        delta = None if before is None or after is None else after - before
        return Diff(metric=metric, unit=unit, before=before, after=after, delta=delta)

    def value(fact: SnapshotFact | None, column: str) -> float | None:
        if fact is None:
            return 0 if first else None
        found: float | None = getattr(fact, column)
        return found

    found = [one(metric, unit, value(parent, column), value(row, column)) for metric, unit, column in _METRICS]
    found.append(one("average_file_size", "bytes_per_file", _average(parent), _average(row)))
    return found


def _average(row: SnapshotFact | None) -> float | None:
    if row is None or not row.total_data_files or row.total_bytes is None:
        return None
    return row.total_bytes / row.total_data_files


def _partitions(row: SnapshotFact) -> list[PartitionChange]:
    """Partitions that this commit touched, most changed first, at most 200."""
    touched = [
        PartitionChange(
            partition=p.partition,
            data_files=p.data_files,
            added_data_files=p.added_data_files,
            removed_data_files=p.removed_data_files,
            bytes=p.bytes,
        )
        for p in row.partitions or ()
        if p.added_data_files or p.removed_data_files or row.partitions_scope == "changed"
    ]
    return sorted(touched, key=lambda p: -((p.added_data_files or 0) + (p.removed_data_files or 0)))[:200]


def _neighbours(history: History, row: SnapshotFact) -> tuple[str | None, str | None]:
    """Ids of the previous and next commit on main; for a commit off main, its parent and None."""
    ids = history.main_ids
    if row.snapshot_id not in ids:
        return (None if row.parent_id is None else str(row.parent_id)), None
    index = ids.index(row.snapshot_id)
    before = ids[index - 1] if index else row.parent_id
    after = ids[index + 1] if index + 1 < len(ids) else None
    return (None if before is None else str(before)), (None if after is None else str(after))
