"""Paths of our own pages, for links that the server makes."""

from __future__ import annotations

from urllib.parse import quote

from limnograph.domain.ids import TableName, escape_level, path_segment


def table_path(name: TableName) -> str:
    """Page of a table. Namespace and table carry the escapes of `domain/ids.py` already, but for slashes."""
    segments = (escape_level(name.catalog), name.namespace, name.table)
    return "/t/" + "/".join(quote(path_segment(segment), safe="") for segment in segments)


def commit_path(name: TableName, snapshot_id: str) -> str:
    """Page of one commit."""
    return f"{table_path(name)}/commits/{snapshot_id}"
