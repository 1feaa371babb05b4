"""QueryCompletedEvent of Trino's HTTP event listener, with the fields that we keep. Text of the query, plans, session
properties and parameters are no fields here, so that they are never decoded.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from limnograph.domain.inbound.openlineage import Text

Name = Annotated[str, msgspec.Meta(max_length=1_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
MOST_TABLES = 1_000
MOST_COLUMNS = 10_000


class TrinoWire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base: wire names are in camel case."""


class TrinoTable(TrinoWire, frozen=True, kw_only=True):
    """A table that a query wrote."""

    catalog_name: Name
    schema: Name
    table: Name


class TrinoInput(TrinoTable, frozen=True, kw_only=True):
    """A table that a query read. `columns`: names, in later versions objects; `connector_info` of Iceberg contains
    `snapshotId`.
    """

    columns: Annotated[list[Any], msgspec.Meta(max_length=MOST_COLUMNS)] | None = None
    connector_info: Any = None
    physical_input_bytes: Count | None = None
    physical_input_rows: Count | None = None


class TrinoTables(TrinoWire, frozen=True, kw_only=True):
    """Tables of a query."""

    inputs: Annotated[list[TrinoInput], msgspec.Meta(max_length=MOST_TABLES)] = []
    output: TrinoTable | None = None


class TrinoMetadata(TrinoWire, frozen=True, kw_only=True):
    """The query."""

    query_id: Text


class TrinoStatistics(TrinoWire, frozen=True, kw_only=True):
    """`wall_time`: seconds, or an ISO 8601 duration."""

    wall_time: Any = None


class TrinoContext(TrinoWire, frozen=True, kw_only=True):
    """Who ran the query, with what. `query_type`, such as `MERGE`."""

    user: Name | None = None
    source: Name | None = None
    server_version: Name | None = None
    query_type: Name | None = None


class TrinoErrorCode(TrinoWire, frozen=True, kw_only=True):
    """`name`, such as `ICEBERG_COMMIT_ERROR`."""

    name: Name | None = None


class TrinoFailure(TrinoWire, frozen=True, kw_only=True):
    """Why a query failed. `failure_message` repeats literals: it decides which kind of conflict it was, and is never
    kept.
    """

    error_code: TrinoErrorCode | None = None
    failure_message: Any = None


class TrinoQueryEvent(TrinoWire, frozen=True, kw_only=True):
    """An event of a query. One of a query that only began has no `end_time`. `end_time`: ISO 8601, or epoch seconds."""

    metadata: TrinoMetadata
    context: TrinoContext = TrinoContext()
    statistics: TrinoStatistics | None = None
    io_metadata: TrinoTables | None = None
    failure_info: TrinoFailure | None = None
    end_time: Any = None
