"""The Java side of an opened table."""

from __future__ import annotations

from typing import Any, NamedTuple

from limnograph.adapters.spark.maintenance.jvm import IcebergJvm
from limnograph.domain.errors import InvalidInput
from limnograph.ports.table_maintainer import STAMP, OpenedTable


class JavaTable(NamedTuple):
    """A Java Table with the metadata at which it was opened, also as a document."""

    table: Any
    metadata: Any
    document: dict[str, Any]


def java_table(opened: OpenedTable) -> JavaTable:
    """The handle of an opened table."""
    if not isinstance(opened.handle, JavaTable):
        raise InvalidInput("table", "was opened by another maintainer")
    return opened.handle


def stamps(document: dict[str, Any], plan_id: str) -> list[int]:
    """Snapshots that carry the plan's stamp, oldest first."""
    found = [each for each in document.get("snapshots", ()) if each.get("summary", {}).get(STAMP) == plan_id]
    found.sort(key=lambda each: (each.get("sequence-number", 0), each["timestamp-ms"]))
    return [each["snapshot-id"] for each in found]


def stamps_now(jvm: IcebergJvm, table: Any, plan_id: str) -> list[int]:
    """The same, as the catalog has the table now."""
    return stamps(jvm.document(table.operations().refresh()), plan_id)
