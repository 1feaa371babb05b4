"""Port TableMaintainer for Delta Lake, by deltalake: compaction, rewrites of deleted rows, vacuum."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import NamedTuple

from limnograph.adapters.delta.files import LogFiles
from limnograph.adapters.delta.log import newest_version, open_log
from limnograph.adapters.delta.maintenance.calling import call_library
from limnograph.adapters.delta.maintenance.store import (
    DeltaPlace,
    address,
    has_exclusive_puts,
    require_safe_commits,
    store_options,
)
from limnograph.adapters.delta.maintenance.worker import DeltaCall, DeltaResult
from limnograph.adapters.delta.metadata import read_history
from limnograph.adapters.delta.planning.newest_first import LogReader
from limnograph.adapters.delta.planning.survey import partition_of
from limnograph.adapters.delta.planning.vacuum import LEAST_HOURS
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.advice.survey import SurveyedPartition
from limnograph.domain.errors import (
    ActionCancelled,
    ActionConflict,
    EnvironmentFault,
    InvalidInput,
    MetadataError,
    NotFound,
)
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.storage import Storage
from limnograph.ports.table_maintainer import (
    STAMP,
    ActionOutcome,
    ActionRequest,
    OpenedTable,
    UnreferencedFile,
)

_MAPPING = "delta.columnMapping.mode"
_OUTPUTS, _COMMITTED, _DELETED = "maintain.outputs-written", "maintain.committed", "maintain.files-deleted"
_PARTIAL = "partial-progress.enabled"
Filters = list[tuple[str, str, str]] | None


class _PinnedLog(NamedTuple):
    """A table at one version. `uri`: as deltalake names its folder."""

    place: DeltaPlace
    uri: str
    storage: FileStorage
    metadata: TableMetadata


class DeltaMaintainer:
    """`places`: folder of a table by name; None: unknown. `path_map`: as in the settings. Thread-safe: holds no state.

    deltalake writes and commits within one call, so the failpoint `maintain.outputs-written` comes before the writing,
    and files that a conflict or a cancellation leaves behind are not known. Raises EnvironmentFault if the library is
    not installed.
    """

    def __init__(
        self, places: Callable[[TableName], DeltaPlace | None], path_map: dict[str, str] | None = None
    ) -> None:
        if importlib.util.find_spec("deltalake") is None:
            raise EnvironmentFault("deltalake is not installed: pip install 'limnograph[delta]'")
        self._places, self._path_map = places, path_map or {}

    def open(self, name: TableName) -> OpenedTable:
        place = self._places(name)
        if place is None:
            raise NotFound(f"the location of Delta table {name.plain} is not known")
        storage = FileStorage(place.properties, self._path_map)
        try:
            pointer = newest_version(place.location, storage)
        except InvalidInput as error:
            raise NotFound(f"{name.plain}: {error.detail}") from error
        metadata, resolved = _read(pointer, storage), storage.resolve(place.location)
        return OpenedTable(
            name=name,
            format="delta",
            table_uuid=metadata.table_uuid,
            location=metadata.location,
            metadata_location=metadata.metadata_location,
            head_id=metadata.head_id,
            properties=metadata.properties,
            handle=_PinnedLog(place, address(resolved), storage, metadata),
            exclusive_puts=has_exclusive_puts(place, resolved),
        )

    def run(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        pinned = _pinned(table)
        if request.action not in {"optimize", "vacuum"}:
            raise InvalidInput("action", f"{request.action!r} is not an action for Delta tables")
        require_safe_commits(pinned.place, pinned.storage.resolve(pinned.place.location))
        if cancelled():
            raise ActionCancelled(f"{request.action} was cancelled")
        if request.action == "vacuum":
            return self._vacuum(table, request, reached, cancelled)
        return self._optimize(table, request, reached, cancelled)

    def stamped(self, table: OpenedTable, plan_id: str) -> list[int]:
        return _stamped(_pinned(table).metadata, plan_id)

    def rows(self, table: OpenedTable, snapshot_id: int, where: str | None = None) -> int:
        if where is not None and "\\" in where:
            # Spark decodes backslashes in texts, deltalake does not.
            raise InvalidInput("where", "deltalake cannot evaluate a condition with a backslash")
        call = self._call(table, "count", version=snapshot_id, where=where)
        return call_library(call, lambda: False).rows

    def unreferenced(self, table: OpenedTable, older_than_ms: int) -> list[UnreferencedFile]:  # noqa: ARG002
        raise MetadataError(
            "unsupported",
            f"unreferenced files of Delta table {table.name.plain} are not listed; vacuum removes old ones",
        )

    def finish(
        self,
        table: OpenedTable,
        request: ActionRequest,
        base_metadata_location: str,  # noqa: ARG002 - the log says what may be deleted
    ) -> ActionOutcome:
        """A vacuum is repeated: it deletes what the interrupted one left."""
        if request.action != "vacuum":
            return ActionOutcome(deleted_files=0, left_behind=())
        return self._vacuum(table, request, lambda _name: None, lambda: False)

    def _optimize(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        """One commit for each partition, each planned at the opened version: later commits are in none of them."""
        pinned, chosen = _pinned(table), _filters(table, request.partitions)
        if pinned.metadata.properties.get(_MAPPING, "none") != "none":
            raise InvalidInput("table", "uses column mapping, which deltalake cannot rewrite; run the plan's statement")
        target = request.options.get("target_size")
        if target is None:
            _require_only_vectors(pinned, request.partitions)
        done: list[DeltaResult] = []
        conflict: ActionConflict | None = None
        for filters in chosen:
            reached(_OUTPUTS)
            call = self._call(
                table,
                "compact" if target is not None else "z_order",
                version=pinned.metadata.head_id,
                stamp={STAMP: request.plan_id},
                filters=filters,
                target_bytes=int(target) if target is not None else None,
            )
            try:
                done.append(call_library(call, cancelled))
            except ActionConflict as error:
                conflict = error
                if request.options.get(_PARTIAL) != "true":
                    break
                continue
            reached(_COMMITTED)
        ids = self._found(table, request.plan_id)
        if not ids and conflict is not None:
            raise conflict
        return ActionOutcome(
            snapshot_ids=ids,
            files_in=sum(each.files_in for each in done),
            files_out=sum(each.files_out for each in done),
            bytes_in=sum(each.bytes_in for each in done),
            bytes_out=sum(each.bytes_out for each in done),
            deleted_files=0,
            left_behind=() if conflict is None else None,
        )

    def _vacuum(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        """At the latest version, never the opened one: a file that was restored meanwhile is live again."""
        hours = request.retention_hours
        if hours is None or hours < LEAST_HOURS:
            raise InvalidInput("retention_hours", f"must be {LEAST_HOURS} or more for a vacuum")
        call = self._call(table, "vacuum", stamp={STAMP: request.plan_id}, retention_hours=hours)
        done = call_library(call, cancelled)
        reached(_DELETED)
        return ActionOutcome(
            snapshot_ids=self._found(table, request.plan_id), deleted_files=done.deleted, left_behind=None
        )

    def _found(self, table: OpenedTable, plan_id: str) -> list[int]:
        """Stamped versions now. The table is believed, not the library's result."""
        pinned = _pinned(table)
        return _stamped(_read(newest_version(pinned.place.location, pinned.storage), pinned.storage), plan_id)

    @staticmethod
    def _call(table: OpenedTable, do: str, **given: object) -> DeltaCall:
        pinned = _pinned(table)
        return DeltaCall(do=do, uri=pinned.uri, options=store_options(pinned.place), **given)  # type: ignore[arg-type]


def _pinned(table: OpenedTable) -> _PinnedLog:
    assert isinstance(table.handle, _PinnedLog)  # noqa: S101 - the adapter's own object
    return table.handle


def _read(pointer: str, storage: Storage) -> TableMetadata:
    return DeltaReader(storage, SharedCaches()).metadata(pointer)


def _stamped(metadata: TableMetadata, plan_id: str) -> list[int]:
    return [each.snapshot_id for each in metadata.ordered if (each.summary or {}).get(STAMP) == plan_id]


def _filters(table: OpenedTable, partitions: Sequence[SurveyedPartition]) -> list[Filters]:
    """Conditions that select exactly one partition each; null is the empty text in a log."""
    if not partitions:
        return [None]
    pinned = _pinned(table)
    log = open_log(table.metadata_location, pinned.storage)
    columns = read_history(log, LogFiles(), pinned.storage).naming(log.version).partition_columns
    if any(len(each.values) != len(columns) for each in partitions):
        raise InvalidInput("partitions", "do not match the table's partition columns")
    return [
        [(column, "=", value or "") for column, value in zip(columns, map(_text, each.values), strict=True)]
        for each in partitions
    ]


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidInput("partitions", "have values that are not texts of a Delta log")
    return value


def _require_only_vectors(pinned: _PinnedLog, partitions: Sequence[SurveyedPartition]) -> None:
    """Deltalake purges deleted rows only by a rewrite of whole partitions. Raises InvalidInput if that would rewrite
    files that the plan does not name.
    """
    files = LogFiles()
    log = open_log(pinned.metadata.metadata_location, pinned.storage)
    naming = read_history(log, files, pinned.storage).naming(log.version)
    chosen = {(each.spec_id, each.text) for each in partitions}
    others = 0
    for placed in LogReader(log, files, pinned.storage).content().files:
        place = partition_of(placed.file.values or (), naming)
        if (not chosen or (place.spec_id, place.text) in chosen) and placed.file.vector_rows is None:
            others += 1
    if others:
        raise InvalidInput(
            "table",
            f"has {others} files without deleted rows beside those of the plan, and deltalake would rewrite them too; "
            "run the plan's statement (REORG TABLE … APPLY (PURGE)) in Spark",
        )
