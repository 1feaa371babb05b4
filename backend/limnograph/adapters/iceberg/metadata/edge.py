"""Validates numbers in observed JSON against the ranges that the meta tables can store."""

from __future__ import annotations

from typing import Any, ClassVar

from limnograph.domain.metadata.table import LogEntry, TableProblem
from limnograph.domain.time import Millis

MILLIS = range(-62_135_596_800_000, 253_402_300_800_000)
"""Instants of the years 1 to 9999: they fit 64 bits as microseconds, and every engine can write them as text."""


class Edge:
    """A value that is not a number, or out of range, is reported as a problem of the table and treated as unknown."""

    INT32: ClassVar[range] = range(-(2**31), 2**31)
    INT64: ClassVar[range] = range(-(2**63), 2**63)

    def __init__(self, problems: list[TableProblem]) -> None:
        self.problems = problems

    def instant(self, item: dict[str, Any], key: str) -> Millis | None:
        """The instant of `key`, epoch milliseconds; None as in `number`."""
        found = self.number(item, key, MILLIS)
        return None if found is None else Millis(found)

    def number(self, item: dict[str, Any], key: str, within: range = INT64) -> int | None:
        """The number of `key`; None if it is absent, not a whole number or out of range."""
        found = item.get(key)
        if found is None:
            return None
        if not isinstance(found, int) or isinstance(found, bool):
            self.incomplete(f"{key} is not an integer")
            return None
        if found not in within:
            self.incomplete(f"{key} is out of range")
            return None
        return found

    def incomplete(self, detail: str) -> None:
        """Report that required metadata is missing."""
        self.problems.append(TableProblem("metadata_incomplete", detail))

    def fits(self, item: dict[str, Any], key: str) -> bool:
        """Whether a 64-bit number is in range, or absent."""
        return self.number(item, key) is not None or not isinstance(item.get(key), int)

    def log(self, document: dict[str, Any], key: str, value: str, kind: type) -> tuple[LogEntry, ...]:
        """Entries of `snapshot-log` or `metadata-log` with a usable instant and value."""
        found: list[LogEntry] = []
        for item in dicts(document, key):
            at = self.instant(item, "timestamp-ms")
            what = item.get(value) if kind is str else self.number(item, value)
            if at is not None and isinstance(what, kind):
                found.append(LogEntry(at, what))
        return tuple(found)


def dicts(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list; empty if the value is not a list."""
    found = document.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
