"""How often tables are scanned, from reported reads."""

from __future__ import annotations

from limnograph.domain.finding_limits import DAY
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.reads.recent import RecentNumbers

WEEK_DAYS = 7


def recent_scans(numbers: RecentNumbers, uuid: str) -> float | None:
    """Scans of the last day; None if reports of it are not in memory, or no engine reports scans of the table."""
    found = numbers.day.get(uuid) if numbers.known else None
    scans = 0 if found is None else max(found.scans, found.queries)
    return scans or None


def weekly_scans(engine: QueryEngine, now: Micros) -> dict[str, float]:
    """Scans per day of the last week, of tables whose scans are reported. O(hours of a week). Raises SourceError."""
    columns = ("table_uuid", "scans", "query_count")
    rows = engine.select(MetaQuery(table="reads_hourly", columns=columns, start=Micros(now - WEEK_DAYS * DAY), end=now))
    found: dict[str, float] = {}
    for uuid, scans, queries in rows.iter_rows():
        found[uuid] = found.get(uuid, 0.0) + max(scans or 0, queries or 0) / WEEK_DAYS
    return {uuid: scans for uuid, scans in found.items() if scans}
