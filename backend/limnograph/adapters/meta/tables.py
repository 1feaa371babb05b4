"""Creates and upgrades the meta tables through a PyIceberg catalog, with the field ids of `domain/facts`.

An upgrade adds missing columns in place; a table of a newer version is left unchanged. A lost table is never recreated
silently: only `--rebuild` does that (`meta/loss.py` distinguishes lost from new).
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator, Mapping

from pyiceberg.catalog import Catalog, MetastoreCatalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError
from pyiceberg.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from pyiceberg.schema import Schema, assign_fresh_schema_ids, index_by_id
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadataV2
from pyiceberg.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AssertCurrentSchemaId,
    AssertDefaultSpecId,
    AssertTableUUID,
    SetCurrentSchemaUpdate,
    SetDefaultSpecUpdate,
    SetPropertiesUpdate,
    TableRequirement,
    TableUpdate,
)
from pyiceberg.types import IcebergType, ListType, NestedField, StructType

from limnograph.adapters.meta.loss import (
    CREATED_IN_ORDER,
    SIBLINGS_PROPERTY,
    lost_error,
    lost_tables,
    siblings_of,
    standing_tables,
)
from limnograph.adapters.meta.schema import (
    VERSION_PROPERTY,
    iceberg_schema,
    partition_spec,
    sort_order,
    table_properties,
)
from limnograph.adapters.meta.staged import TableLayout, create_in_rest
from limnograph.domain.errors import SettingsError
from limnograph.domain.facts.meta_tables import META_TABLES, SCHEMA_VERSION, MetaTable

UPGRADE_ATTEMPTS = 5
"""Commits that may fail due to a concurrent writer before the upgrade gives up."""


def ensure_meta_tables(catalog: Catalog, namespace: str) -> list[str]:
    """Create missing tables and add missing columns; returns the names of created tables. Safe to run concurrently.

    Raises SourceRejected if a table existed and is gone.
    """
    standing = standing_tables(catalog, namespace)
    missing = [table for table in CREATED_IN_ORDER if table.name not in standing]
    if lost_tables(standing):
        # Another process may be creating them in the same order: a table listed as a sibling exists by now.
        standing = standing_tables(catalog, namespace)
        if lost := lost_tables(standing):
            raise lost_error(namespace, lost, standing)
    created = {table.name for table in missing if create_meta_table(catalog, namespace, table)}
    for table in META_TABLES:
        if table.name in standing:
            _upgrade(catalog, standing[table.name], table)
    return [table.name for table in META_TABLES if table.name in created]


def _upgrade(catalog: Catalog, found: Table, table: MetaTable) -> None:
    """Add this version's columns, partitioning and properties to a table that lacks them, in one commit. A table of
    this version lacks columns if it was created before the version was released, and sibling names if it was created
    without them.
    """
    for attempt in range(UPGRADE_ATTEMPTS):
        version = _version(found)
        if version > SCHEMA_VERSION:
            return
        schema = upgraded_schema(found.schema(), found.metadata.last_column_id, iceberg_schema(table))
        spec = upgraded_spec(found, table)
        if schema is None and spec is None and version == SCHEMA_VERSION and SIBLINGS_PROPERTY in found.properties:
            return
        added: tuple[TableUpdate, ...] = ()
        if schema is not None:
            added = (AddSchemaUpdate(schema=schema), SetCurrentSchemaUpdate())
        if spec is not None:
            added = (*added, AddPartitionSpecUpdate(spec=spec), SetDefaultSpecUpdate())
        told = table_properties() | siblings_of(table)
        requirements: tuple[TableRequirement, ...] = (
            AssertTableUUID(uuid=found.metadata.table_uuid),
            AssertCurrentSchemaId.model_validate({"current-schema-id": found.metadata.current_schema_id}),
            AssertDefaultSpecId.model_validate({"default-spec-id": found.metadata.default_spec_id}),
        )
        try:
            catalog.commit_table(found, requirements, (*added, SetPropertiesUpdate(updates=told)))
        except CommitFailedException:
            if attempt == UPGRADE_ATTEMPTS - 1:
                raise
            found = catalog.load_table(found.name())
        else:
            return


def _version(found: Table) -> int:
    text = found.properties.get(VERSION_PROPERTY, "0")
    return int(text) if text.isdecimal() else 0


def upgraded_schema(found: Schema, last_column_id: int, wanted: Schema) -> Schema | None:
    """`found` with the columns of `wanted` that it lacks, including those inside structs; None if it lacks none.

    They keep their fixed field ids, unless one of those is taken: a REST server without staging numbers columns itself.
    """
    present = set(found.column_names)
    missing = [name for name in wanted.column_names if name not in present]
    if not missing:
        return None
    promised = {wanted.find_field(name).field_id for name in missing}
    taken = set(index_by_id(found))
    ids = itertools.count(max(last_column_id, *taken, *promised) + 1) if taken & promised else None
    fields = _merged(found.as_struct(), wanted.as_struct(), ids)
    return Schema(*fields, schema_id=found.schema_id + 1, identifier_field_ids=found.identifier_field_ids)


def upgraded_spec(found: Table, table: MetaTable) -> PartitionSpec | None:
    """The partitioning of new rows, if the table's is another one; files of older rows keep theirs."""
    current, wanted = found.spec(), partition_spec(table)
    told = [[(field.source_id, str(field.transform)) for field in spec.fields] for spec in (current, wanted)]
    if len(told[0]) != 1 or len(told[1]) != 1 or told[0] == told[1] or told[0][0][0] != told[1][0][0]:
        return None
    (field,), spec_id = wanted.fields, max(found.specs()) + 1
    last = found.metadata.last_partition_id or PARTITION_FIELD_ID_START
    return PartitionSpec(PartitionField(field.source_id, last + 1, field.transform, field.name), spec_id=spec_id)


def _merged(found: StructType, wanted: StructType, ids: Iterator[int] | None) -> list[NestedField]:
    """Fields of `found`, then those of `wanted` that it lacks, with their own ids or with the next of `ids`."""
    by_name = {field.name: field for field in wanted.fields}
    fields = []
    for field in found.fields:
        same = by_name.pop(field.name, None)
        kind = field.field_type if same is None else _merged_type(field.field_type, same.field_type, ids)
        fields.append(field.model_copy(update={"field_type": kind}))
    more = list(by_name.values())
    return [*fields, *(assign_fresh_schema_ids(Schema(*more), lambda: next(ids)).fields if ids else more)]


def _merged_type(found: IcebergType, wanted: IcebergType, ids: Iterator[int] | None) -> IcebergType:
    if isinstance(found, StructType) and isinstance(wanted, StructType):
        return StructType(*_merged(found, wanted, ids))
    if isinstance(found, ListType) and isinstance(wanted, ListType):
        element = _merged_type(found.element_type, wanted.element_type, ids)
        return found.model_copy(update={"element_type": element})
    return found


def _create_namespace(catalog: Catalog, namespace: str) -> None:
    """Concurrent creators conflict in the catalog's store with varying errors: only the final state counts."""
    try:
        catalog.create_namespace_if_not_exists(namespace)
    except Exception:
        if not catalog.namespace_exists(namespace):
            raise


def create_meta_table(
    catalog: Catalog, namespace: str, table: MetaTable, properties: Mapping[str, str] | None = None
) -> bool:
    """Create one, with `properties` in addition to the common ones; False if another process did."""
    identifier = (namespace, table.name)
    properties = {**table_properties(), **siblings_of(table), **(properties or {})}
    _create_namespace(catalog, namespace)
    try:
        if isinstance(catalog, MetastoreCatalog):
            catalog.register_table(identifier, _write_metadata(catalog, namespace, table, properties))
        elif isinstance(catalog, RestCatalog):
            layout = TableLayout(iceberg_schema(table), partition_spec(table), sort_order(table), properties)
            create_in_rest(catalog, identifier, layout)
        else:
            raise SettingsError("meta.catalog", f"meta tables cannot be created in a {type(catalog).__name__}")
    except TableAlreadyExistsError:
        return False
    return True


def _write_metadata(catalog: MetastoreCatalog, namespace: str, table: MetaTable, properties: Mapping[str, str]) -> str:
    """Write a table's first metadata file: `create_table` renumbers the fields, registering a file does not."""
    location = catalog._resolve_table_location(None, namespace, table.name)  # noqa: SLF001
    schema = iceberg_schema(table)
    metadata = TableMetadataV2.model_validate(
        {
            "format-version": 2,
            "table-uuid": str(uuid.uuid4()),
            "location": location,
            "schemas": [schema],
            "current-schema-id": 0,
            "last-column-id": schema.highest_field_id,
            "partition-specs": [partition_spec(table)],
            "default-spec-id": 0,
            "last-partition-id": PARTITION_FIELD_ID_START,
            "sort-orders": [sort_order(table)],
            "default-sort-order-id": 1,
            "properties": properties,
        }
    )
    target = f"{location}/metadata/00000-{uuid.uuid4()}.metadata.json"
    io = catalog._load_file_io(location=target)  # noqa: SLF001
    ToOutputFile.table_metadata(metadata, io.new_output(target))
    return target
