"""Notifications that a table may have changed. They only trigger a check: facts are always read from the lake.

Lost, late, repeated and out-of-order notifications are harmless, because tables are probed anyway.
"""

from __future__ import annotations

import msgspec

from limnograph.domain.ids import TableName

MARKERS = ("/metadata/", "/_delta_log/", "/.hoodie/")
"""Path from a table's folder to its metadata, per format."""


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A notification: its sender and, if stated, the table's name, its folder, and the id of the commit. `identity`
    detects repeats; it is never shown.
    """

    source: str
    identity: tuple[str, ...]
    catalog: str | None = None
    namespace: str | None = None
    table: str | None = None
    location: str | None = None
    snapshot_id: int | None = None
    event: str | None = None


def notice(
    source: str,
    identity: tuple[str, ...],
    name: TableName | None,
    *,
    location: str | None = None,
    snapshot_id: int | None = None,
    event: str | None = None,
) -> Notice:
    """Build a notice about a table whose name may be unknown."""
    catalog, namespace, table = name or (None, None, None)
    return Notice(
        source=source,
        identity=identity,
        catalog=catalog,
        namespace=namespace,
        table=table,
        location=location,
        snapshot_id=snapshot_id,
        event=event,
    )


def folder_of(location: str) -> str:
    """The table's folder for the location of a metadata file; any other location unchanged."""
    found = [at for marker in MARKERS if (at := location.rfind(marker)) > 0]
    return location[: max(found)] if found else location
