"""How many requests of which route took how long: a layer around the application, and its histogram for `/metrics`.

Around everything, so that answers from the cache and refusals count too. Routes are told by their patterns: a table's
name is no label.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from prometheus_client.core import HistogramMetricFamily

from limnograph.domain.gauges import REQUESTS, SECONDS

_API = ("api", "v1")
_OWN = frozenset({"healthz", "readyz", "metrics", "a", "login", "docs"})
_KNOWN = frozenset(
    {"tables", "commits", "status", "stream", "runs", "lineage", "alerts", "notify", "session", "openapi"}
)
_OF_TABLE = frozenset({"timeline", "commits", "partitions", "schema", "refs", "explain"})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class Traffic:
    """Counts in the event loop; a collector of prometheus_client. Costs about two microseconds a request."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int], list[float]] = {}

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application, measured until the last byte is sent or the client is gone."""

        async def measured(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != ScopeType.HTTP:
                await app(scope, receive, send)
                return
            started, status = time.perf_counter(), 499

            async def sent(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                await send(message)

            try:
                await app(scope, receive, sent)
            finally:
                self.add(scope["method"], scope["path"], status, time.perf_counter() - started)

        return measured

    def add(self, method: str, path: str, status: int, seconds: float) -> None:
        """One request. `status` 499: no answer was begun."""
        key = (route_of(path), method if method in _METHODS else "other", status)
        known = self._seen.get(key)
        if known is None:
            known = self._seen[key] = [0.0] * (len(SECONDS) + 2)
        known[bisect_left(SECONDS, seconds)] += 1
        known[-1] += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The histogram as it is now."""
        family = HistogramMetricFamily(
            REQUESTS, "Seconds until the last byte of an answer.", labels=["route", "method", "status"]
        )
        for (route, method, status), known in list(self._seen.items()):
            total, buckets = 0.0, []
            for edge, count in zip([*map(str, SECONDS), "+Inf"], known[:-1], strict=True):
                total += count
                buckets.append((edge, total))
            family.add_metric([route, method, str(status)], buckets, known[-1])
        yield family


@lru_cache(maxsize=4_096)
def route_of(path: str) -> str:
    """The pattern of a path, from a closed set."""
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
