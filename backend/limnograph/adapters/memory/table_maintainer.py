"""TableMaintainer over a lake in memory, for tests; passes the same contract suite as the others."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from limnograph.domain.errors import ActionCancelled, ActionConflict, InvalidInput, MetadataError, NotFound
from limnograph.domain.ids import TableName
from limnograph.ports.table_maintainer import ActionOutcome, ActionRequest, OpenedTable, UnreferencedFile

OUTPUTS, COMMITTED, DELETED = "maintain.outputs-written", "maintain.committed", "maintain.files-deleted"
_REWRITES = {"rewrite_data_files", "optimize"}
_REPLACES = {*_REWRITES, "rewrite_position_delete_files", "rewrite_manifests"}


class MemoryFile(NamedTuple):
    """A live data file. `deleted`: rows of it that deletes remove; `partition`: such as `day=2026-11-20`."""

    location: str
    partition: str = ""
    rows: int = 1
    bytes: int = 100
    deleted: int = 0


class MemorySnapshot(NamedTuple):
    """A commit with all files that are live after it. `plan_id`: its stamp."""

    snapshot_id: int
    parent_id: int | None
    operation: str
    files: tuple[MemoryFile, ...]
    plan_id: str | None = None


class MemoryState(NamedTuple):
    """What one metadata file says."""

    metadata_location: str
    snapshots: tuple[MemorySnapshot, ...] = ()
    refs: Mapping[str, int] = {}
    properties: Mapping[str, str] = {}

    @property
    def head(self) -> MemorySnapshot | None:
        """Main's current snapshot."""
        return self.snapshot(self.refs["main"]) if "main" in self.refs else None

    def snapshot(self, snapshot_id: int) -> MemorySnapshot | None:
        """A retained snapshot."""
        return next((each for each in self.snapshots if each.snapshot_id == snapshot_id), None)

    @property
    def reached(self) -> set[str]:
        """Locations of the files of all snapshots."""
        return {file.location for each in self.snapshots for file in each.files}


class MemoryLake:
    """Tables and the files below them. A method that changes a table is one commit of another writer.

    disk  files that exist, by location
    Thread-safe: guarded by `_lock`.
    """

    def __init__(self, catalog: str = "lake", format: str = "iceberg") -> None:  # noqa: A002 - the word of the product
        self.catalog, self.format = catalog, format
        self.disk: dict[str, UnreferencedFile] = {}
        self._states: dict[str, MemoryState] = {}
        self._current: dict[TableName, MemoryState] = {}
        self._uuids: dict[TableName, str] = {}
        self._ids = count(1)
        self._lock = threading.RLock()

    def create(self, name: TableName, properties: Mapping[str, str] | None = None, table_uuid: str = "") -> None:
        """A new empty table."""
        with self._lock:
            digest = hashlib.sha256(str(name).encode()).hexdigest()
            self._uuids[name] = table_uuid or f"{digest[:8]}-{digest[8:12]}-4000-8000-{digest[12:24]}"
            self._point(name, MemoryState("", properties=properties or {}))

    def drop(self, name: TableName) -> None:
        """Remove a table from the catalog; its files stay."""
        with self._lock:
            del self._current[name]

    def location(self, name: TableName) -> str:
        """Root of a table's files."""
        return f"memory://{self.catalog}/{name.namespace}/{name.table}"

    def uuid(self, name: TableName) -> str:
        """Identity of a table."""
        return self._uuids[name]

    def current(self, name: TableName) -> MemoryState:
        """The state that the catalog points at. Raises NotFound."""
        with self._lock:
            if name not in self._current:
                raise NotFound(f"there is no table {name.plain}")
            return self._current[name]

    def state(self, metadata_location: str) -> MemoryState:
        """What a metadata file says, also an older one. Raises MetadataError."""
        with self._lock:
            if metadata_location not in self._states:
                raise MetadataError("metadata_unreadable", f"{metadata_location} does not exist")
            return self._states[metadata_location]

    def append(self, name: TableName, partition: str = "", files: int = 1, rows: int = 1) -> int:
        """Add files; returns the snapshot id."""
        made = tuple(self.file(name, partition, rows) for _ in range(files))
        with self._lock:
            return self.commit(name, "append", lambda live: (*live, *made))

    def overwrite(self, name: TableName, partition: str = "", rows: int = 1) -> int:
        """Replace the files of a partition by one."""
        made = self.file(name, partition, rows)
        return self.commit(name, "overwrite", lambda live: (*(f for f in live if f.partition != partition), made))

    def delete_rows(self, name: TableName, partition: str = "", rows: int = 1) -> int:
        """Delete rows of the first file of a partition that has them, merge-on-read."""

        def deleted(live: tuple[MemoryFile, ...]) -> tuple[MemoryFile, ...]:
            chosen = next(f for f in live if f.partition == partition and f.rows - f.deleted >= rows)
            return tuple(f._replace(deleted=f.deleted + rows) if f is chosen else f for f in live)

        return self.commit(name, "delete", deleted)

    def set_ref(self, name: TableName, ref: str, snapshot_id: int) -> None:
        """Create or move a branch or tag."""
        with self._lock:
            state = self.current(name)
            self._point(name, state._replace(refs={**state.refs, ref: snapshot_id}))

    def set_properties(self, name: TableName, **properties: str) -> None:
        """Set table properties; `_` in a name stands for a dot."""
        with self._lock:
            state = self.current(name)
            told = {key.replace("_", "."): value for key, value in properties.items()}
            self._point(name, state._replace(properties={**state.properties, **told}))

    def file(self, name: TableName, partition: str = "", rows: int = 1, modified_at_ms: int = 0) -> MemoryFile:
        """Write a file below a table's location. No commit has it yet."""
        with self._lock:
            location = f"{self.location(name)}/data/{next(self._ids):06d}.parquet"
            made = MemoryFile(location, partition, rows)
            self.disk[location] = UnreferencedFile(location, made.bytes, modified_at_ms)
            return made

    def commit(
        self,
        name: TableName,
        operation: str,
        change: Callable[[tuple[MemoryFile, ...]], tuple[MemoryFile, ...]],
        plan_id: str | None = None,
    ) -> int:
        """Add a snapshot to main. `change`: from the live files to those after it."""
        with self._lock:
            state = self.current(name)
            head = state.head
            made = MemorySnapshot(
                snapshot_id=next(self._ids),
                parent_id=head.snapshot_id if head else None,
                operation=operation,
                files=change(head.files if head else ()),
                plan_id=plan_id,
            )
            refs = {**state.refs, "main": made.snapshot_id}
            self._point(name, state._replace(snapshots=(*state.snapshots, made), refs=refs))
            return made.snapshot_id

    def expire(self, name: TableName, ids: Iterable[int]) -> None:
        """Remove snapshots. Files stay. Raises ActionConflict if a branch or tag references one."""
        with self._lock:
            state, gone = self.current(name), set(ids)
            if held := sorted(ref for ref, found in state.refs.items() if found in gone):
                raise ActionConflict(f"snapshots are still referenced by {', '.join(held)}")
            self._point(name, state._replace(snapshots=tuple(s for s in state.snapshots if s.snapshot_id not in gone)))

    def remove(self, locations: Iterable[str]) -> list[str]:
        """Delete files; returns those that existed."""
        with self._lock:
            return [each for each in locations if self.disk.pop(each, None) is not None]

    def _point(self, name: TableName, state: MemoryState) -> None:
        location = f"{self.location(name)}/metadata/{next(self._ids):06d}.metadata.json"
        made = state._replace(metadata_location=location)
        self._states[location] = self._current[name] = made


class MemoryMaintainer:
    """Maintains tables of a MemoryLake. A rewrite makes one file per partition; `request.partitions` choose them (by
    text), not the condition. `failure`: raised by every call. Thread-safe: the lake is.
    """

    def __init__(self, lake: MemoryLake) -> None:
        self.lake = lake
        self.failure: Exception | None = None

    def open(self, name: TableName) -> OpenedTable:
        self._check()
        state = self.lake.current(name)
        return OpenedTable(
            name=name,
            format=self.lake.format,
            table_uuid=self.lake.uuid(name),
            location=self.lake.location(name),
            metadata_location=state.metadata_location,
            head_id=state.refs.get("main"),
            properties=state.properties,
            handle=state,
        )

    def run(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        self._check()
        if cancelled():
            raise ActionCancelled(f"{request.action} was cancelled")
        if request.action in _REPLACES:
            return self._replace(table, request, reached, cancelled)
        if request.action == "expire_snapshots":
            self.lake.expire(table.name, request.snapshots)
            reached(COMMITTED)
            done = self.finish(table, request, table.metadata_location)
        elif request.action in {"remove_orphan_files", "vacuum"}:
            done = self._remove(table, request)
        else:
            raise InvalidInput("action", f"{request.action!r} is not supported")
        reached(DELETED)
        return done

    def stamped(self, table: OpenedTable, plan_id: str) -> list[int]:
        self._check()
        return [each.snapshot_id for each in _state(table).snapshots if each.plan_id == plan_id]

    def rows(self, table: OpenedTable, snapshot_id: int, where: str | None = None) -> int:
        """`where`: the text of a partition."""
        self._check()
        found = _state(table).snapshot(snapshot_id)
        if found is None:
            raise NotFound(f"{table.name.plain} has no snapshot {snapshot_id}")
        return sum(file.rows - file.deleted for file in found.files if where is None or file.partition == where)

    def unreferenced(self, table: OpenedTable, older_than_ms: int) -> list[UnreferencedFile]:
        self._check()
        reached, root = _state(table).reached, f"{table.location}/"
        return [
            file
            for file in self.lake.disk.values()
            if file.location.startswith(root) and file.location not in reached and file.modified_at_ms < older_than_ms
        ]

    def finish(self, table: OpenedTable, request: ActionRequest, base_metadata_location: str) -> ActionOutcome:
        self._check()
        if request.action != "expire_snapshots":
            return ActionOutcome(deleted_files=0, left_behind=())
        unreached = self.lake.state(base_metadata_location).reached - self.lake.current(table.name).reached
        return ActionOutcome(deleted_files=len(self.lake.remove(sorted(unreached))), left_behind=())

    def _replace(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        """Each commit has one partition with partial progress, otherwise all of them."""
        head = _state(table).head
        if head is None:
            return ActionOutcome(files_in=0, files_out=0)
        chosen = {each.text for each in request.partitions}
        parts: dict[str, list[MemoryFile]] = {}
        for file in head.files:
            if not chosen or file.partition in chosen:
                parts.setdefault(file.partition, []).append(file)
        partial = request.options.get("partial-progress.enabled") == "true"
        commits = [[part] for part in parts] if partial else [list(parts)]
        ids, taken, made = [], [], []
        for each in commits:
            inputs = [file for part in each for file in parts[part]]
            outputs = self._outputs(table.name, request, {part: parts[part] for part in each})
            reached(OUTPUTS)
            new = {file.location for file in outputs} - {file.location for file in inputs}
            if cancelled():
                self.lake.remove(new)
                raise ActionCancelled(f"{request.action} was cancelled")
            try:
                ids.append(self.lake.commit(table.name, "replace", _swap(inputs, outputs), request.plan_id))
            except ActionConflict:
                self.lake.remove(new)
                if not partial:
                    raise
                continue
            reached(COMMITTED)
            taken += inputs
            made += outputs
        if commits and not ids:
            raise ActionConflict("another writer committed first")
        return ActionOutcome(ids, len(taken), len(made), sum(f.bytes for f in taken), sum(f.bytes for f in made), 0, ())

    def _outputs(
        self, name: TableName, request: ActionRequest, parts: Mapping[str, Sequence[MemoryFile]]
    ) -> list[MemoryFile]:
        if request.action not in _REWRITES:
            return [file for files in parts.values() for file in files]
        return [self.lake.file(name, part, sum(f.rows - f.deleted for f in files)) for part, files in parts.items()]

    def _remove(self, table: OpenedTable, request: ActionRequest) -> ActionOutcome:
        current = table._replace(handle=self.lake.current(table.name))
        older = 0 if request.older_than_ms is None else request.older_than_ms
        allowed = {file.location for file in self.unreferenced(current, older)}
        gone = self.lake.remove(each for each in request.files if each in allowed)
        return ActionOutcome(deleted_files=len(gone), left_behind=[each for each in request.files if each not in gone])

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure


def _state(table: OpenedTable) -> MemoryState:
    assert isinstance(table.handle, MemoryState)  # noqa: S101 - opened by another maintainer
    return table.handle


def _swap(
    inputs: Sequence[MemoryFile], outputs: Sequence[MemoryFile]
) -> Callable[[tuple[MemoryFile, ...]], tuple[MemoryFile, ...]]:
    """Replaces files that are still live with the same deletes, otherwise raises ActionConflict."""

    def swapped(live: tuple[MemoryFile, ...]) -> tuple[MemoryFile, ...]:
        if not set(inputs) <= set(live):
            raise ActionConflict("another writer changed the files first")
        return (*(file for file in live if file not in set(inputs)), *outputs)

    return swapped
