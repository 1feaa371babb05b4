"""Names of the numbers about the sources that the server asks."""

from __future__ import annotations

ASKED = "limnograph_source_request_duration_seconds"
ASKED_LABELS = ("kind", "source", "outcome")
ASKED_HELP = "Seconds of a question to a source: Prometheus, Trino, or a cold read of the meta tables as a whole."
OUTCOMES = ("ok", "timeout", "unavailable", "rejected", "failed", "cancelled")
BREAKER = "limnograph_source_breaker_state"
BREAKER_LABELS = ("kind", "source", "state")
BREAKER_HELP = "1 for the state that the breaker of a source is in: closed, open (left alone), half-open (tried)."
