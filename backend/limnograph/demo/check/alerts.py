"""The alerts of the running server, as `demo --check` reads them."""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence
from typing import Any

import msgspec

from limnograph.demo.requests import DemoServer
from limnograph.domain.answers.alerts import AlertView, Incident
from limnograph.domain.answers.timeline import Bar


class HttpAlerts:
    """Port AlertReader over the server's API. Every method raises SourceError if the server does not respond."""

    def __init__(self, server: DemoServer) -> None:
        self._server = server

    def rows(self) -> Sequence[AlertView]:
        rows: list[Any] = []
        cursor: str | None = ""
        while cursor is not None:
            page = self._server.get("/api/v1/alerts?limit=200" + (f"&cursor={cursor}" if cursor else ""))
            rows += page["rows"]
            cursor = page["next_cursor"]
        return msgspec.convert(rows, list[AlertView], strict=False)

    def incident(self, fingerprint: str, starts_at: int) -> Incident:
        page = self._server.get(f"/api/v1/alerts/{fingerprint}?starts_at={starts_at}")
        return msgspec.convert(page, Incident, strict=False)

    def bars(self, table: str, start: int, end: int) -> Sequence[Bar]:
        path = "/".join(urllib.parse.quote(part) for part in table.split("."))
        page = self._server.get(f"/api/v1/tables/{path}/timeline?from={start}&to={end}&lanes=alerts")
        return msgspec.convert(page["lanes"][0]["bars"], list[Bar], strict=False)
