"""Paths of our own pages, for links that the server makes."""

from __future__ import annotations

from urllib.parse import quote

from limnograph.domain.ids import TableName


def table_path(name: TableName) -> str:
    """Page of a table. Names carry the escapes of `domain/ids.py` already; only a slash has to be written otherwise."""
    return "/t/" + "/".join(quote(level.replace("/", "~s"), safe="") for level in name)


def commit_path(name: TableName, snapshot_id: str) -> str:
    """Page of one commit."""
    return f"{table_path(name)}/commits/{snapshot_id}"
