"""Schemas of the meta tables for Iceberg and Arrow, derived from `domain/facts/meta_tables.py`. Opens nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import DayTransform, HourTransform, IdentityTransform, MonthTransform, Transform
from pyiceberg.types import (
    BooleanType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)

from limnograph.domain.facts.columns import Column, ListOf, MapOf, StructOf, Type
from limnograph.domain.facts.meta_tables import SCHEMA_VERSION, MetaTable

_ICEBERG: dict[str, IcebergType] = {
    "string": StringType(),
    "boolean": BooleanType(),
    "int": IntegerType(),
    "long": LongType(),
    "double": DoubleType(),
    "timestamptz": TimestamptzType(),
}
_ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "timestamptz": pa.timestamp("us", tz="UTC"),
}
_TRANSFORMS: dict[str, Transform[Any, Any]] = {
    "month": MonthTransform(),
    "day": DayTransform(),
    "hour": HourTransform(),
}
_PARTITION_FIELD_ID = 1000
VERSION_PROPERTY = "limnograph.schema-version"


def iceberg_schema(table: MetaTable) -> Schema:
    """Schema with the field ids of `domain/facts`."""
    return Schema(*map(_field, table.columns), schema_id=0)


def partition_spec(table: MetaTable) -> PartitionSpec:
    """`day(committed_at)` and similar; the field is named `committed_at_day`."""
    if table.partition is None:
        return UNPARTITIONED_PARTITION_SPEC
    column, transform = table.partition
    source = next(c.field_id for c in table.columns if c.name == column)
    name = f"{column}_{transform}"
    return PartitionSpec(PartitionField(source, _PARTITION_FIELD_ID, _TRANSFORMS[transform], name), spec_id=0)


def sort_order(table: MetaTable) -> SortOrder:
    """Sort order inside files: ascending, nulls first."""
    ids = {column.name: column.field_id for column in table.columns}
    return SortOrder(
        *(SortField(ids[name], IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_FIRST) for name in table.sort),
        order_id=1,
    )


def table_properties() -> dict[str, str]:
    """Properties of every meta table: copy-on-write, zstd, old metadata files deleted after a commit."""
    return {
        "write.delete.mode": "copy-on-write",
        "write.update.mode": "copy-on-write",
        "write.merge.mode": "copy-on-write",
        "write.merge.isolation-level": "serializable",
        "write.parquet.compression-codec": "zstd",
        "write.metadata.compression-codec": "none",
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "20",
        "write.distribution-mode": "none",
        "write.spark.fanout.enabled": "false",
        VERSION_PROPERTY: str(SCHEMA_VERSION),
    }


def arrow_schema(table: MetaTable) -> pa.Schema:
    """Arrow schema in column order; instants are `timestamp[us, UTC]`."""
    return pa.schema([_arrow_field(column) for column in table.columns])


def arrow_table(table: MetaTable, facts: Sequence[msgspec.Struct]) -> pa.Table:
    """Facts as one Arrow table in the table's column order."""
    rows = [msgspec.to_builtins(fact) for fact in facts]
    return pa.Table.from_pylist(rows, schema=arrow_schema(table))


def _field(column: Column) -> NestedField:
    return NestedField(column.field_id, column.name, _iceberg(column.type), required=column.required, doc=column.doc)


def _iceberg(kind: Type) -> IcebergType:
    match kind:
        case ListOf(element_id=element_id, element=element):
            return ListType(element_id=element_id, element_type=_iceberg(element), element_required=False)
        case MapOf(key_id=key_id, value_id=value_id, key=key, value=value):
            return MapType(
                key_id=key_id,
                key_type=_iceberg(key),
                value_id=value_id,
                value_type=_iceberg(value),
                value_required=False,
            )
        case StructOf(fields=fields):
            return StructType(*map(_field, fields))
        case _:
            return _ICEBERG[kind.name]


def _arrow_field(column: Column) -> pa.Field:
    return pa.field(column.name, _arrow(column.type), nullable=not column.required)


def _arrow(kind: Type) -> pa.DataType:
    match kind:
        case ListOf(element=element):
            return pa.list_(_arrow(element))
        case MapOf(key=key, value=value):
            return pa.map_(_arrow(key), _arrow(value))
        case StructOf(fields=fields):
            return pa.struct([_arrow_field(field) for field in fields])
        case _:
            return _ARROW[kind.name]
