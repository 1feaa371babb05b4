"""Revenue by day and country, published through the gate. Groups of fewer than five orders are left out."""

from __future__ import annotations

from lakehouse.parts.lake import Lake, TableLayout
from lakehouse.quality.gate import QualityCheck, publish

REVENUE = TableLayout(
    "lake.gold.daily_revenue", "day date, country string, orders bigint, cents bigint", "months(day)", {}
)
SMALLEST_GROUP = 5
CHECKS = (
    QualityCheck("every row has a country", "country is null"),
    QualityCheck("no negative revenue", "cents < 0"),
    QualityCheck("no group of fewer than five", f"orders < {SMALLEST_GROUP}"),
)


def write_revenue(lake: Lake, query: str = "") -> int:
    """Write all days again. Returns the number of rows. Raises GateRefused."""
    lake.create(REVENUE)
    frame = lake.spark.sql(query or revenue_query())
    publish(lake, REVENUE.name, CHECKS, lambda branch: frame.coalesce(1).writeTo(branch).overwritePartitions())
    return int(lake.one(f"select count(*) from {REVENUE.name}"))


def revenue_query() -> str:
    """What the table should hold."""
    return f"""
        select cast(o.updated_at as date) as day, c.country, count(*) as orders, sum(o.total_cents) as cents
        from lake.silver.orders o join lake.silver.customers c on o.customer_id = c.id
        group by 1, 2 having count(*) >= {SMALLEST_GROUP}"""
