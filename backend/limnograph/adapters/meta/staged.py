"""Creates a table with fixed field ids in a catalog that writes metadata itself: staged, then committed."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException, RESTError, TableAlreadyExistsError
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import CreateTableTransaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import SortOrder
from pyiceberg.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AddSortOrderUpdate,
    AssertCreate,
    AssignUUIDUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
    SetDefaultSpecUpdate,
    SetLocationUpdate,
    SetPropertiesUpdate,
    TableUpdate,
    UpgradeFormatVersionUpdate,
)

FORMAT_VERSION = 2


class TableLayout(NamedTuple):
    """Layout of a new table, with its field ids."""

    schema: Schema
    spec: PartitionSpec
    order: SortOrder
    properties: dict[str, str]


def create_in_rest(catalog: RestCatalog, identifier: tuple[str, str], layout: TableLayout) -> None:
    """Create a table at the location that the server assigns. `createTable` renumbers fields; committing a staged table
    keeps them. A server without staging numbers them itself, so readers use the ids of the table's own schema. Raises
    TableAlreadyExistsError.
    """
    told: dict[str, Any] = {
        "partition_spec": layout.spec,
        "sort_order": layout.order,
        "properties": {**layout.properties, "format-version": str(FORMAT_VERSION)},
    }
    try:
        staged = catalog.create_table_transaction(identifier, layout.schema, **told)
        _commit(catalog, staged, layout)
    except CommitFailedException as error:
        raise TableAlreadyExistsError(f"{'.'.join(identifier)}: {error}") from error
    except RESTError:
        catalog.create_table(identifier, layout.schema, **told)


def _commit(catalog: RestCatalog, staged: CreateTableTransaction, layout: TableLayout) -> None:
    table = staged._table  # noqa: SLF001 - has the place and the credentials that the server gave
    catalog.commit_table(table, (AssertCreate(),), _updates(table.metadata, layout))


def _updates(given: TableMetadata, layout: TableLayout) -> tuple[TableUpdate, ...]:
    return (
        AssignUUIDUpdate(uuid=given.table_uuid),
        UpgradeFormatVersionUpdate.model_validate({"format-version": FORMAT_VERSION}),
        AddSchemaUpdate(schema=layout.schema),
        SetCurrentSchemaUpdate.model_validate({"schema-id": -1}),
        AddPartitionSpecUpdate(spec=layout.spec),
        SetDefaultSpecUpdate.model_validate({"spec-id": -1}),
        AddSortOrderUpdate.model_validate({"sort-order": layout.order}),
        SetDefaultSortOrderUpdate.model_validate({"sort-order-id": -1}),
        SetLocationUpdate(location=given.location),
        SetPropertiesUpdate(updates=given.properties),
    )
