"""What is known of a user at an instant: append-only, so that a training set can be made of any past state."""

from __future__ import annotations

from datetime import datetime

from lakehouse.bronze.tables import CLICKS
from lakehouse.parts.lake import Lake, TableLayout
from lakehouse.silver.merge import SALT

USER_FEATURES = TableLayout(
    "lake.gold.user_features",
    "user_hash string, computed_at timestamp, clicks bigint, carts bigint",
    "days(computed_at)",
    {},
    pii="hash",
)


def append_features(lake: Lake, at: datetime) -> int:
    """Features as of `at`, of the clicks before it. Returns the number of users."""
    lake.create(USER_FEATURES)
    frame = lake.spark.sql(f"""
        select sha2(concat('{SALT}', user_id), 256) as user_hash, timestamp '{at.isoformat()}' as computed_at,
          count(*) as clicks, count_if(page = '/cart') as carts
        from {CLICKS.name} where event_at < timestamp '{at.isoformat()}' group by user_id""")
    frame.coalesce(1).writeTo(USER_FEATURES.name).append()
    return frame.count()
