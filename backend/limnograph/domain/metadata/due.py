"""A table with new snapshots, as a value that can be sent to a worker."""

from __future__ import annotations

import msgspec

from limnograph.domain.ids import TableName


class ColumnChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which columns of a table have statistics, and which of them bounds.

    filtered  columns that scans filter, most often filtered first
    bounds    patterns of text and binary columns whose bounds may be stored
    """

    filtered: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()


class DueTable(msgspec.Struct, frozen=True, kw_only=True):
    """The snapshots of one table to extract; sent to Spark's workers as JSON.

    `snapshot_ids`: the new snapshots. `with_partitions`: known snapshots that `partitions_base` may refer to.
    `columns`: None if statistics of columns are not needed.
    """

    catalog: str
    namespace: str
    table: str
    table_uuid: str
    metadata_location: str
    snapshot_ids: list[int]
    with_partitions: list[int] = []
    format: str = "iceberg"
    run_id: str | None = None
    source: str = "poll"
    columns: ColumnChoice | None = None

    @property
    def name(self) -> TableName:
        """The table's name when it was observed."""
        return TableName(self.catalog, self.namespace, self.table)

    def only(self, snapshot_ids: list[int]) -> DueTable:
        """The same with these snapshots only."""
        return msgspec.structs.replace(self, snapshot_ids=snapshot_ids)
