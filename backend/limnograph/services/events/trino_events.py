"""Queries of Trino as rows of `reports`: one per table that a query read, and one for the table that it wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.inbound.client_reports import long
from limnograph.domain.inbound.notices import Notice, notice
from limnograph.domain.inbound.trino_events import TrinoInput, TrinoQueryEvent, TrinoTable
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.events.lineage import instant
from limnograph.services.events.naming import TableResolver
from limnograph.services.events.received import ReceivedEvents
from limnograph.services.events.reports import named, report_fact
from limnograph.spark_conflicts import kind_of

SOURCE = "trino"
CONFLICTS = frozenset(("ICEBERG_COMMIT_ERROR", "TRANSACTION_CONFLICT"))
"""Error codes of a commit that another one prevented."""
OPERATIONS = {"INSERT": "append", "MERGE": "row_delta", "UPDATE": "row_delta", "DELETE": "row_delta"}
"""Types of queries -> column `operation`, as Iceberg's writers in Spark name it."""
_LONGEST_MESSAGE = 10_000
_REASON = re.compile(r"Failed to commit(?: the transaction)?(?: during \w+)?: ")
"""What Trino writes before Iceberg's message."""
LONGEST_S = 366 * 86_400.0
_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")


class TrinoQueries:
    """Reads events. `catalogs`: Limnograph's names of catalogs by Trino's. Immutable after construction."""

    def __init__(self, naming: TableResolver, catalogs: Mapping[str, str]) -> None:
        self._naming, self._catalogs = naming, catalogs

    def read(self, event: TrinoQueryEvent, now: Micros) -> ReceivedEvents:
        """Rows of a completed query; nothing of one that only began. Raises InvalidInput."""
        if event.end_time is None:
            return ReceivedEvents()
        about = self._about(event, now)
        tables = event.io_metadata
        rows = [self._query(event, table, about) for table in (tables.inputs if tables else ())]
        notices: list[Notice] = []
        if tables is not None and tables.output is not None and about["outcome"] != "failed":
            rows.append(self._commit(event, tables.output, about))
            if about["outcome"] == "ok":
                name = self._naming.by_levels(self._levels(tables.output))
                notices.append(notice(SOURCE, (event.metadata.query_id,), name, event="commit"))
        return ReceivedEvents(reports=tuple(rows), notices=tuple(notices))

    def _about(self, event: TrinoQueryEvent, now: Micros) -> dict[str, Any]:
        """Columns that all rows of a query share."""
        failure, outcome = event.failure_info, "ok"
        if failure is not None:
            code = failure.error_code.name if failure.error_code else None
            outcome = "conflict" if code in CONFLICTS else "failed"
        return {
            "at": _instant(event.end_time),
            "engine": "trino",
            "engine_version": event.context.server_version,
            "user": event.context.user,
            "job_name": event.context.source,
            "query_id": event.metadata.query_id,
            "outcome": outcome,
            "source": SOURCE,
            "observed_at": now,
        }

    def _query(self, event: TrinoQueryEvent, table: TrinoInput, about: Mapping[str, Any]) -> ReportFact:
        info = table.connector_info if isinstance(table.connector_info, dict) else {}
        return report_fact(
            "query",
            {},
            {},
            (event.metadata.query_id, "reads", *self._levels(table)),
            snapshot_id=long(info.get("snapshotId")),
            projected_fields=_columns(table.columns),
            wall_seconds=_seconds(event.statistics.wall_time) if event.statistics else None,
            rows=table.physical_input_rows,
            read_bytes=table.physical_input_bytes,
            **self._table(table),
            **about,
        )

    def _commit(self, event: TrinoQueryEvent, table: TrinoTable, about: Mapping[str, Any]) -> ReportFact:
        spoken = (event.metadata.query_id, "writes", *self._levels(table))
        return report_fact(
            "commit",
            {},
            {},
            spoken,
            operation=OPERATIONS.get(event.context.query_type or ""),
            wall_seconds=_seconds(event.statistics.wall_time) if event.statistics else None,
            streaming=False,
            conflict_kind=_conflict(event) if about["outcome"] == "conflict" else None,
            **self._table(table),
            **about,
        )

    def _table(self, table: TrinoTable) -> dict[str, str | None]:
        levels = self._levels(table)
        return named(self._naming.by_levels(levels), ".".join(levels))

    def _levels(self, table: TrinoTable) -> Sequence[str]:
        catalog = self._catalogs.get(table.catalog_name, table.catalog_name)
        return [catalog, *table.schema.split("."), table.table]


def _conflict(event: TrinoQueryEvent) -> str:
    """The kind of conflict by Iceberg's message, which Trino repeats after its own words."""
    message = event.failure_info.failure_message if event.failure_info else None
    if not isinstance(message, str):
        return "other"
    return kind_of(_REASON.sub("", message[:_LONGEST_MESSAGE], count=1))


def _columns(columns: Sequence[Any] | None) -> list[str] | None:
    """Names of columns: text, or objects with a name."""
    names = [each.get("column", each.get("name")) if isinstance(each, dict) else each for each in columns or ()]
    return [name for name in names if isinstance(name, str)] or None


def _instant(value: Any) -> Micros:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 32_503_680_000:
        return Micros(round(value * MICROS_PER_SECOND))
    if isinstance(value, str):
        return instant(value, "endTime")
    raise InvalidInput("endTime", "must be an ISO 8601 time or a number of seconds")


def _seconds(value: Any) -> float | None:
    """Seconds of a number or of an ISO 8601 duration; None for anything else."""
    found: float | None = None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value)
    elif isinstance(value, str) and value != "PT" and (parts := _DURATION.fullmatch(value)):
        hours, minutes, seconds = (float(part or 0) for part in parts.groups())
        found = hours * 3600 + minutes * 60 + seconds
    return found if found is not None and 0 <= found <= LONGEST_S else None
