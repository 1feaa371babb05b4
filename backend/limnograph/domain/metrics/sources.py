"""Names of metrics about the sources that the server queries."""

from __future__ import annotations

ASKED = "limnograph_source_request_duration_seconds"
ASKED_LABELS = ("kind", "source", "outcome")
ASKED_HELP = (
    "Duration in seconds of a query to a source: Prometheus, Trino, or a complete cold read of the meta tables."
)
OUTCOMES = ("ok", "timeout", "unavailable", "rejected", "failed", "cancelled")
BREAKER = "limnograph_source_breaker_state"
BREAKER_LABELS = ("kind", "source", "state")
BREAKER_HELP = (
    "1 for the current state of a source's circuit breaker: closed, open (not queried), half-open (trial query)."
)
