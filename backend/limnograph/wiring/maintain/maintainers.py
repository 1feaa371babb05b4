"""Which engine acts on a table: Spark on Iceberg tables of catalogs, the Delta library on tables without one."""

from __future__ import annotations

from collections.abc import Callable, Collection

from limnograph.domain.errors import NotFound
from limnograph.domain.ids import NO_CATALOG, TableName
from limnograph.ports.table_maintainer import (
    ActionOutcome,
    ActionRequest,
    OpenedTable,
    TableMaintainer,
    UnreferencedFile,
)


class CatalogMaintainers:
    """Port TableMaintainer over several. Immutable after construction; only the catalogs that the maintenance file
    names are opened.
    """

    def __init__(
        self, catalogs: Collection[str], of_catalogs: TableMaintainer, of_files: TableMaintainer | None
    ) -> None:
        self._catalogs, self._of_catalogs, self._of_files = frozenset(catalogs), of_catalogs, of_files

    def open(self, name: TableName) -> OpenedTable:
        if name.catalog not in self._catalogs:
            raise NotFound(f"catalog {name.catalog} of {name} is not one of [maintenance.catalogs]")
        return self._of(name).open(name)

    def run(
        self, table: OpenedTable, request: ActionRequest, reached: Callable[[str], None], cancelled: Callable[[], bool]
    ) -> ActionOutcome:
        return self._of(table.name).run(table, request, reached, cancelled)

    def stamped(self, table: OpenedTable, plan_id: str) -> list[int]:
        return self._of(table.name).stamped(table, plan_id)

    def rows(self, table: OpenedTable, snapshot_id: int, where: str | None = None) -> int:
        return self._of(table.name).rows(table, snapshot_id, where)

    def unreferenced(self, table: OpenedTable, older_than_ms: int) -> list[UnreferencedFile]:
        return self._of(table.name).unreferenced(table, older_than_ms)

    def finish(self, table: OpenedTable, request: ActionRequest, base_metadata_location: str) -> ActionOutcome:
        return self._of(table.name).finish(table, request, base_metadata_location)

    def _of(self, name: TableName) -> TableMaintainer:
        if name.catalog != NO_CATALOG:
            return self._of_catalogs
        if self._of_files is None:
            raise NotFound(f"{name} has no catalog, and no engine for such tables is installed")
        return self._of_files
