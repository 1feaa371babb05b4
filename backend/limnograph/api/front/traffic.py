"""Measures requests: a layer around the application, and its histogram by route for `/metrics`.

The layer is the outermost, so that cached pages and rejected requests count. The label of a route is its pattern, never
a table's name.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from prometheus_client.core import HistogramMetricFamily

from limnograph.api.wire.remembering import remembered
from limnograph.domain.metrics.gauges import REQUESTS, SECONDS
from limnograph.ports.fast_path import FastPath, FinishedAnswer

_API = ("api", "v1")
_OWN = frozenset({"healthz", "readyz", "metrics", "a", "login", "docs"})
_KNOWN = frozenset(
    {"tables", "commits", "status", "stream", "runs", "lineage", "alerts", "notify", "session", "openapi"}
)
_OF_TABLE = frozenset({"timeline", "commits", "partitions", "schema", "refs", "explain"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class Traffic:
    """A collector for prometheus_client; costs about 2 µs per request. Thread-safe: guarded by `_lock`; `collect`
    returns a copy.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int], list[float]] = {}
        self._lock = threading.Lock()

    def around(self, app: ASGIApp) -> TrafficMeter:
        """The application with its requests measured until the last byte is sent or the client disconnects."""
        return TrafficMeter(app, self.add)

    def add(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count one request. `status` 499: no response was started."""
        key = (route_of(path), method if method in _METHODS else "other", status)
        with self._lock:
            known = self._seen.get(key)
            if known is None:
                known = self._seen[key] = [0.0] * (len(SECONDS) + 2)
            known[bisect_left(SECONDS, seconds)] += 1
            known[-1] += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The current histogram."""
        family = HistogramMetricFamily(
            REQUESTS, "Seconds until the last byte of the response.", labels=["route", "method", "status"]
        )
        with self._lock:
            seen = [(key, list(numbers)) for key, numbers in self._seen.items()]
        for (route, method, status), known in seen:
            total, buckets = 0.0, []
            for edge, count in zip([*map(str, SECONDS), "+Inf"], known[:-1], strict=True):
                total += count
                buckets.append((edge, total))
            family.add_metric([route, method, str(status)], buckets, known[-1])
        yield family


class TrafficMeter:
    """An application whose requests are reported to `add`: method, path, status and seconds."""

    def __init__(self, app: ASGIApp, add: Callable[[str, str, int, float], None]) -> None:
        self._app, self._add = app, add
        self._fast_path = app if isinstance(app, FastPath) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 499

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            self._add(scope["method"], scope["path"], status, time.perf_counter() - started)

    def finished_answer(self, scope: Any) -> FinishedAnswer | None:
        """The application's immediate response, if it has one."""
        started = time.perf_counter()
        found = self._fast_path.finished_answer(scope) if self._fast_path else None
        if found is not None:
            self._add(scope["method"], scope["path"], found[0], time.perf_counter() - started)
        return found


@remembered(4_096)
def route_of(path: str) -> str:
    """The route pattern of a path, from a closed set."""
    parts = path.strip("/").split("/")
    if tuple(parts[:2]) == _API and len(parts) > 2 and parts[2] in _KNOWN:
        if parts[2] != "tables" or len(parts) == 3:
            return f"/api/v1/{parts[2]}" if len(parts) == 3 else f"/api/v1/{parts[2]}/…"
        if len(parts) > 6 and parts[6] in _OF_TABLE:
            return f"/api/v1/tables/…/{parts[6]}" if len(parts) == 7 else f"/api/v1/tables/…/{parts[6]}/…"
        return "/api/v1/tables/…"
    if parts[0] in _OWN:
        return f"/{parts[0]}"
    return "/api/other" if parts[0] in {"api", "v1"} else "pages"
