"""Port TableMaintainer for Iceberg tables, by Iceberg's Actions API on a Spark session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from limnograph.adapters.spark.maintenance import expiry, orphans
from limnograph.adapters.spark.maintenance.failures import action_error, opening_error
from limnograph.adapters.spark.maintenance.gate import ActionGate, watched
from limnograph.adapters.spark.maintenance.handle import JavaTable, java_table, stamps
from limnograph.adapters.spark.maintenance.jvm import IcebergJvm
from limnograph.adapters.spark.maintenance.kept_list import KeptList
from limnograph.adapters.spark.maintenance.rewrites import REWRITES, rewrite
from limnograph.domain.errors import ActionCancelled, InvalidInput, LimnographError, NotFound
from limnograph.domain.ids import TableName
from limnograph.ports.table_maintainer import ActionOutcome, ActionRequest, OpenedTable, UnreferencedFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPIRE, ORPHANS = "expire_snapshots", "remove_orphan_files"


class SparkMaintainer:
    """Maintains the Iceberg tables of a session's catalogs. Thread-safe: a handle has its own Java Table, an action its
    own gate. `state`: folder of the lists of files that expiries are about to delete.
    """

    def __init__(self, session: SparkSession, state: Path) -> None:
        self._jvm, self._session, self._state = IcebergJvm(session), session, state

    def open(self, name: TableName) -> OpenedTable:
        try:
            table = self._jvm.load(name)
            metadata = table.operations().current()
            document = self._jvm.document(metadata)
            location: str = metadata.metadataFileLocation()
        except Exception as error:
            raise opening_error(error, str(name.plain)) from error
        return OpenedTable(
            name=name,
            format="iceberg",
            table_uuid=document["table-uuid"],
            location=document["location"],
            metadata_location=location,
            head_id=_head(document.get("current-snapshot-id")),
            properties=document.get("properties", {}),
            handle=JavaTable(table, metadata, document),
        )

    def run(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        if request.action not in {*REWRITES, EXPIRE, ORPHANS}:
            raise InvalidInput("action", f"{request.action!r} is not supported for Iceberg tables")
        if cancelled():
            raise ActionCancelled("the action was cancelled before it began")
        gate = ActionGate(reached, cancelled, writes=request.action in REWRITES)
        return self._act(gate, lambda: self._perform(table, request, gate))

    def stamped(self, table: OpenedTable, plan_id: str) -> list[int]:
        return stamps(java_table(table).document, plan_id)

    def rows(self, table: OpenedTable, snapshot_id: int, where: str | None = None) -> int:
        held = {each["snapshot-id"] for each in java_table(table).document.get("snapshots", ())}
        if snapshot_id not in held:
            raise NotFound(f"{table.name.plain} has no snapshot {snapshot_id}")
        try:
            found = self._jvm.snapshot(java_table(table).table, snapshot_id)
            return int((found.where(where) if where else found).count())
        except Exception as error:
            raise action_error(error) from error

    def unreferenced(self, table: OpenedTable, older_than_ms: int) -> list[UnreferencedFile]:
        try:
            return orphans.unreferenced(self._jvm, table, java_table(table).table, older_than_ms)
        except Exception as error:
            raise action_error(error) from error

    def finish(self, table: OpenedTable, request: ActionRequest, base_metadata_location: str) -> ActionOutcome:
        if request.action != EXPIRE:
            return ActionOutcome(deleted_files=0, left_behind=())
        gate = ActionGate(lambda _: None, lambda: False, writes=False)
        kept = KeptList(self._state, request.plan_id)
        return self._act(gate, lambda: expiry.resume(self._jvm, table, gate, kept, base_metadata_location))

    def _perform(self, table: OpenedTable, request: ActionRequest, gate: ActionGate) -> ActionOutcome:
        if request.action == EXPIRE:
            return expiry.expire(self._jvm, table, request, gate, KeptList(self._state, request.plan_id))
        if request.action == ORPHANS:
            return orphans.remove(self._jvm, table, request, gate)
        return rewrite(self._jvm, table, request, gate)

    def _act(self, gate: ActionGate, act: Callable[[], ActionOutcome]) -> ActionOutcome:
        try:
            with watched(self._session, f"limnograph-{uuid4().hex}", gate):
                return act()
        except LimnographError:
            raise
        except Exception as error:
            gate.check()
            raise action_error(error) from error


def _head(snapshot_id: int | None) -> int | None:
    """Format version 1 writes -1 for a table without a snapshot."""
    return None if snapshot_id in {None, -1} else snapshot_id
