"""What Limnograph says, over its API, waited for with a limit."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

LONGEST_S = 240.0
"""Longest wait for a page. On a quiet machine a finding is there within seconds."""
_EVERY_S = 0.5


class Observer:
    """Used by one thread."""

    def __init__(self, url: str) -> None:
        self._url = url

    def get(self, path: str, **parameters: Any) -> Any:
        """The JSON of a GET. Raises OSError."""
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        with urllib.request.urlopen(f"{self._url}/api/v1{path}{query}", timeout=30) as answer:  # noqa: S310
            return json.load(answer)

    def table(self, table: str, page: str = "", **parameters: Any) -> Any:
        """A page of a table (`catalog.namespace.table`); an empty answer while it is not known yet."""
        try:
            return self.get(f"/tables/{'/'.join(table.split('.'))}{page}", **parameters)
        except urllib.error.HTTPError as error:
            if error.code not in {404, 503}:
                raise
            return {}

    def finding(self, code: str, table: str) -> Any:
        """The open finding, waited for; None if it did not open."""
        return awaited(lambda: self.open_finding(code, table))

    def commit(self, table: str, snapshot: int | None) -> Any:
        """The page of a commit, waited for; empty if there is none."""
        return awaited(lambda: self.table(table, f"/commits/{snapshot}"))

    def open_finding(self, code: str, table: str) -> Any:
        """The open finding; None if there is none now."""
        rows = self.get("/findings", code=code, table=table)["rows"]
        return rows[0] if rows else None


def awaited(look: Callable[[], Any], longest_s: float = LONGEST_S) -> Any:
    """What `look` returns once it is true; what it returned last when the time is over."""
    deadline = time.monotonic() + longest_s
    while True:
        found = look()
        if found or time.monotonic() > deadline:
            return found
        time.sleep(_EVERY_S)
