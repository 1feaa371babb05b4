"""Creation of the meta tables through a PyIceberg catalog, with the field ids that `facts.py` promises."""

from __future__ import annotations

import uuid

from pyiceberg.catalog import Catalog, MetastoreCatalog
from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError
from pyiceberg.partitioning import PARTITION_FIELD_ID_START
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table.metadata import TableMetadataV2

from limnograph.adapters.iceberg.schema import iceberg_schema, partition_spec, sort_order, table_properties
from limnograph.domain.facts import META_TABLES, MetaTable


def ensure_meta_tables(catalog: Catalog, namespace: str) -> list[str]:
    """Create what is missing; names of the tables that were created. Racing creators are harmless."""
    missing = [table for table in META_TABLES if not _exists(catalog, (namespace, table.name))]
    if missing:
        _create_namespace(catalog, namespace)
    return [table.name for table in missing if _create(catalog, namespace, table)]


def _create_namespace(catalog: Catalog, namespace: str) -> None:
    """Racing creators meet in the catalog's own store, whose errors differ: what counts is that it is there after."""
    try:
        catalog.create_namespace_if_not_exists(namespace)
    except Exception:
        if not catalog.namespace_exists(namespace):
            raise


def _exists(catalog: Catalog, identifier: tuple[str, ...]) -> bool:
    try:
        catalog.load_table(identifier)
    except NoSuchTableError:
        return False
    return True


def _create(catalog: Catalog, namespace: str, table: MetaTable) -> bool:
    identifier = (namespace, table.name)
    try:
        if isinstance(catalog, MetastoreCatalog):
            catalog.register_table(identifier, _write_metadata(catalog, namespace, table))
        else:
            # A REST catalog writes metadata itself, and assigns the field ids itself too.
            catalog.create_table(
                identifier,
                iceberg_schema(table),
                partition_spec=partition_spec(table),
                sort_order=sort_order(table),
                properties={**table_properties(), "format-version": "2"},
            )
    except TableAlreadyExistsError:
        return False
    return True


def _write_metadata(catalog: MetastoreCatalog, namespace: str, table: MetaTable) -> str:
    """First metadata file of a table; `create_table` would renumber the fields, registering does not."""
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
            "properties": table_properties(),
        }
    )
    target = f"{location}/metadata/00000-{uuid.uuid4()}.metadata.json"
    io = catalog._load_file_io(location=target)  # noqa: SLF001
    ToOutputFile.table_metadata(metadata, io.new_output(target))
    return target
