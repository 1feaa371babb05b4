"""Responses of an Iceberg REST catalog, as in its OpenAPI document, reduced to what listing and probes need."""

from __future__ import annotations

import itertools
import json
import time

import msgspec

_COMMITS = 9


class _Log(msgspec.Struct):
    at: float | None = msgspec.field(name="timestamp-ms", default=None)


class _Metadata(msgspec.Struct):
    updated: float | None = msgspec.field(name="last-updated-ms", default=None)
    log: list[_Log] = msgspec.field(name="metadata-log", default_factory=list)


class LoadedTable(msgspec.Struct):
    """LoadTableResult. `metadata` stays raw: it is large for a long history, and little of it is needed."""

    location: str | None = msgspec.field(name="metadata-location", default=None)
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


class ListedTable(msgspec.Struct):
    """TableIdentifier."""

    name: str
    namespace: list[str]


class TablePage(msgspec.Struct):
    """ListTablesResponse."""

    identifiers: list[ListedTable]
    token: str | None = msgspec.field(name="next-page-token", default=None)


class NamespacePage(msgspec.Struct):
    """ListNamespacesResponse."""

    namespaces: list[list[str]]
    token: str | None = msgspec.field(name="next-page-token", default=None)


def pace(raw: msgspec.Raw) -> tuple[float | None, float | None]:
    """Seconds since the latest commit and the usual seconds between commits, if known."""
    try:
        metadata = msgspec.json.decode(raw, type=_Metadata)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None, None
    if metadata.updated is None:
        return None, None
    times = sorted([*(entry.at for entry in metadata.log[-_COMMITS:] if entry.at is not None), metadata.updated])
    gaps = sorted(late - early for early, late in itertools.pairwise(times))
    quiet = max(0.0, time.time() - metadata.updated / 1000)
    return quiet, gaps[len(gaps) // 2] / 1000 if gaps else None


def is_error(body: bytes) -> bool:
    """Whether a body is an Iceberg REST error: a 404 from a proxy or a wrong address says nothing about tables."""
    try:
        return isinstance(json.loads(body).get("error"), dict)
    except (ValueError, AttributeError):
        return False


def said(body: bytes) -> str:
    """The server's error message, if there is one."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, TypeError, KeyError):
        return ""
    return str(message).strip().split("\n", 1)[0]
