"""Sessions of clicks: a pause of thirty minutes ends one. The days that new clicks fall into are written again."""

from __future__ import annotations

from lakehouse.bronze.tables import CLICKS
from lakehouse.parts.lake import Lake, TableLayout
from lakehouse.silver.merge import SALT

SESSIONS = TableLayout(
    "lake.silver.sessions",
    "user_hash string, started_at timestamp, ended_at timestamp, clicks bigint, pages array<string>",
    "days(started_at)",
    {},
    pii="hash",
)
GAP_S = 1800


def write_sessions(lake: Lake) -> int:
    """Write the sessions of all days of bronze. Returns their number."""
    lake.create(SESSIONS)
    lake.spark.sql(sessions_query()).writeTo(SESSIONS.name).overwritePartitions()
    return int(lake.one(f"select count(*) from {SESSIONS.name}"))


def sessions_query() -> str:
    """One row for each session."""
    return f"""
        select user_hash, min(event_at) as started_at, max(event_at) as ended_at, count(*) as clicks,
          sort_array(collect_set(page)) as pages
        from (
          select *, sum(begins) over (partition by user_hash order by event_at, source_offset) as number
          from (
            select sha2(concat('{SALT}', user_id), 256) as user_hash, event_at, page, source_offset,
              case when event_at - lag(event_at) over (partition by user_id order by event_at, source_offset)
                < interval {GAP_S} seconds then 0 else 1 end as begins
            from {CLICKS.name}
          )
        )
        group by user_hash, number"""
