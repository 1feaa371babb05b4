"""Executes planned actions on tables, by an engine that may write. Hides the format.

The executor opens a table, plans at exactly the metadata that was opened, and runs the action on the same handle: what
another writer commits in between cannot change what is rewritten, only whether the commit succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from limnograph.domain.advice.survey import SurveyedPartition
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance import actions

STAMP = actions.STAMP
"""Summary property that carries the plan id in each snapshot that an action commits."""


class OpenedTable(NamedTuple):
    """A table pinned at one metadata file. `handle`: the adapter's own object.

    properties  of the table, such as `gc.enabled`
    exclusive_puts  whether no writer's commit can overwrite another one in this store; None: the catalog decides
    """

    name: TableName
    format: str
    table_uuid: str
    location: str
    metadata_location: str
    head_id: int | None
    properties: Mapping[str, str]
    handle: object
    exclusive_puts: bool | None = None


class ActionRequest(NamedTuple):
    """An action with exact arguments.

    where       condition of Spark SQL that selects exactly `partitions`; None: the whole table
    options     of the procedure
    snapshots   ids that an expiry removes, and nothing else
    spec_id     of `rewrite_manifests`
    files       locations that `remove_orphan_files` deletes, and nothing else
    older_than_ms  epoch milliseconds: `remove_orphan_files` deletes only files last modified before it
    retention_hours  of a Delta vacuum
    """

    plan_id: str
    action: str
    where: str | None = None
    partitions: Sequence[SurveyedPartition] = ()
    options: Mapping[str, str] = {}
    snapshots: Sequence[int] = ()
    spec_id: int | None = None
    files: Sequence[str] = ()
    older_than_ms: int | None = None
    retention_hours: int | None = None


class ActionOutcome(NamedTuple):
    """What the engine reports. The table decides whether it is true.

    snapshot_ids  stamped commits found in the table afterwards (Delta: versions)
    left_behind   files that the action wrote or should have deleted, and that stay unreferenced; None: unknown
    """

    snapshot_ids: Sequence[int] = ()
    files_in: int | None = None
    files_out: int | None = None
    bytes_in: int | None = None
    bytes_out: int | None = None
    deleted_files: int | None = None
    left_behind: Sequence[str] | None = None


class UnreferencedFile(NamedTuple):
    """A file below a table's location that no snapshot references. `modified_at_ms`: epoch milliseconds."""

    location: str
    size: int
    modified_at_ms: int


class TableMaintainer(Protocol):
    """Used by several threads, one table each. All methods block; they raise SourceError."""

    def open(self, name: TableName) -> OpenedTable:
        """Load the table's current state. Raises NotFound, MetadataError."""
        ...

    def run(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        """Run an action on the opened state. `reached(name)` passes a failpoint: `maintain.outputs-written` before each
        commit of new files, `maintain.committed` after each commit, `maintain.files-deleted` after the deletions. An
        exception of it ends the action and is raised. `cancelled` is called at least every 2 s; when it is True, the
        work ends and nothing more is committed. Both may be called by another thread. Raises InvalidInput,
        ActionConflict, ActionCancelled, SourceError.
        """
        ...

    def stamped(self, table: OpenedTable, plan_id: str) -> list[int]:
        """Snapshots (Delta: versions) of the opened state that carry the plan's stamp, oldest first."""
        ...

    def rows(self, table: OpenedTable, snapshot_id: int, where: str | None = None) -> int:
        """Rows of a snapshot of the opened state, counted by the engine with all deletes applied; `where`: only those
        that a condition of Spark SQL selects.
        """
        ...

    def unreferenced(self, table: OpenedTable, older_than_ms: int) -> list[UnreferencedFile]:
        """Files below the table's location that no snapshot of the opened state references, last modified before an
        instant. Nothing is deleted. Raises MetadataError if schemes or authorities of listed and referenced files
        differ.
        """
        ...

    def finish(self, table: OpenedTable, request: ActionRequest, base_metadata_location: str) -> ActionOutcome:
        """Resume an action whose commit is in the table but whose deletions were interrupted: delete what only the
        state at `base_metadata_location` reaches. Idempotent.
        """
        ...
