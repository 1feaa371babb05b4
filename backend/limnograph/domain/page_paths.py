"""Paths of the dashboard's pages, for links that the server creates."""

from __future__ import annotations

from urllib.parse import quote

from limnograph.domain.ids import TableName, escape_level, path_segment


def table_path(name: TableName) -> str:
    """Path of a table's page. Namespace and table already have the escapes of `domain/ids.py`, except for slashes."""
    segments = (escape_level(name.catalog), name.namespace, name.table)
    return "/t/" + "/".join(quote(path_segment(segment), safe="") for segment in segments)


def commit_path(name: TableName, snapshot_id: str) -> str:
    """Path of a commit's page."""
    return f"{table_path(name)}/commits/{snapshot_id}"


def finding_path(finding_id: str) -> str:
    """Path of a finding's page."""
    return f"/findings/{finding_id}"
