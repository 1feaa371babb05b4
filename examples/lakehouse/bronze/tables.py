"""The tables of bronze."""

from __future__ import annotations

from lakehouse.parts.lake import Lake, TableLayout

APPEND_ONLY = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "20"}

CDC = TableLayout(
    "lake.bronze.cdc",
    "source string, key string, op string, ts timestamp, lsn bigint, commit_lsn bigint, tx_id bigint,"
    " before string, after string, ingested_at timestamp",
    "source, days(ts)",
    {**APPEND_ONLY, "history.expire.max-snapshot-age-ms": str(7 * 86_400_000)},
    pii="raw",
)
CLICKS = TableLayout(
    "lake.bronze.clicks",
    "event_id string, user_id bigint, page string, event_at timestamp, ingested_at timestamp,"
    " source_partition int, source_offset bigint",
    "days(event_at)",
    APPEND_ONLY,
    pii="user_id",
)
PARTNERS = TableLayout(
    "lake.bronze.partners",
    "partner string, sku string, price_cents bigint, day date, file string, received_at timestamp",
    "days(received_at)",
    APPEND_ONLY,
)
RATES = TableLayout(
    "lake.bronze.rates",
    "day date, currency string, rate double, received_at timestamp",
    "months(day)",
    APPEND_ONLY,
)
EVENTS = TableLayout(
    "lake.bronze.events",
    "source string, aggregate_id string, event_id string, type string, payload string, created_at timestamp,"
    " ingested_at timestamp, source_partition int, source_offset bigint",
    "source, days(created_at)",
    APPEND_ONLY,
    pii="user_id",
)
"""The shop's outbox, one topic for each type of aggregate. Only the stream writes it."""
TABLES = (CDC, CLICKS, PARTNERS, RATES)


def create_tables(lake: Lake) -> None:
    """Create what does not exist."""
    for layout in TABLES:
        lake.create(layout)
