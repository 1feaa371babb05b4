"""A commit's `commitInfo` as a snapshot summary, and its operation as one of Iceberg's four.

`operationMetrics` counts rows in some keys and files in others, depending on the writer: kept, never used in sums.
"""

from __future__ import annotations

from typing import Any

import msgspec

from limnograph.adapters.delta.actions import Head
from limnograph.domain.time import Millis

_WORDS = {
    "append": {"CREATE TABLE AS SELECT", "COPY INTO", "CLONE", "CONVERT", "ADD FILE"},
    "overwrite": {
        "UPDATE", "MERGE", "RESTORE", "CREATE OR REPLACE TABLE", "CREATE OR REPLACE TABLE AS SELECT", "REPLACE TABLE",
        "REPLACE TABLE AS SELECT", "REPLACE WHERE",
    },
    "delete": {"DELETE", "TRUNCATE"},
    "replace": {"OPTIMIZE", "REORG", "COMPUTE STATS", "VACUUM START", "VACUUM END", "CREATE TABLE"},
}  # fmt: skip
_BY_NAME = {name: word for word, names in _WORDS.items() for name in names}
_BY_MODE = {
    "append": "append",
    "errorifexists": "append",
    "ignore": "append",
    "overwrite": "overwrite",
    "complete": "overwrite",
}
_YEARS = range(-62_135_596_800_000, 253_402_300_800_000)
"""Milliseconds of the years 1 to 9999."""


def settle(head: Head) -> Head:
    """Convert `commitInfo` to its final form, once. If the commit is damaged before it, it is unknown."""
    head.timestamp_ms = timestamp_of(head)
    head.summary = None if head.damage and head.info is None else summary_of(head)
    head.info = None
    return head


def summary_of(head: Head) -> dict[str, str]:
    """All entries of `commitInfo`; one level of nesting becomes `operationMetrics.numFiles`; nulls are left out."""
    found: dict[str, str] = {}
    for key, value in (head.info or {}).items():
        if isinstance(value, dict):
            found.update((f"{key}.{inner}", _text(part)) for inner, part in value.items() if part is not None)
        elif value is not None:
            found[key] = _text(value)
    if "operation" in found:
        found["delta.operation"] = found["operation"]
    return found | {"operation": operation_of(head)}


def operation_of(head: Head) -> str:
    """`append`, `overwrite`, `delete` or `replace` (same rows): from the operation's name, else from the actions."""
    info = head.info or {}
    name = info.get("operation")
    if isinstance(name, str):
        parameters = info.get("operationParameters")
        mode = None
        if isinstance(parameters, dict):
            mode = parameters.get("mode", parameters.get("outputMode"))
        if name.upper() in {"WRITE", "STREAMING UPDATE"} and str(mode).lower() in _BY_MODE:
            return _BY_MODE[str(mode).lower()]
        if name.upper() in _BY_NAME:
            return _BY_NAME[name.upper()]
    if not head.changes_data:
        return "replace"
    if head.adds and head.removes:
        return "overwrite"
    return "append" if head.adds else "delete"


def timestamp_of(head: Head) -> Millis | None:
    """In-commit timestamp, else the writer's (milliseconds); never the file's modification time. None: unknown."""
    for key in ("inCommitTimestamp", "timestamp"):
        value = (head.info or {}).get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value in _YEARS:
            return Millis(value)
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
