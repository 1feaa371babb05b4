"""A table that has news, as a value that can cross to a worker."""

from __future__ import annotations

import msgspec

from limnograph.domain.ids import TableName


class DueTable(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be extracted of one table; crosses to Spark's workers as JSON.

    `snapshot_ids`: the new ones. `with_partitions`: known snapshots that `partitions_base` may name.
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

    @property
    def name(self) -> TableName:
        """The table's name when it was observed."""
        return TableName(self.catalog, self.namespace, self.table)

    def only(self, snapshot_ids: list[int]) -> DueTable:
        """The same for some of the snapshots."""
        return msgspec.structs.replace(self, snapshot_ids=snapshot_ids)
