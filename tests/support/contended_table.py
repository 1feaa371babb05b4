"""A table whose writers get in each other's way: a stream commits, a batch job is refused, and another one retries."""

from __future__ import annotations

from typing import Any

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.events import ReportFact
from serving_kit import HOUR, MINUTE, NOW, SECOND, lake, moved, row

STREAM, COMPACTION, RETRIED = 2, 3, 4
STREAM_AT, REFUSED_AT = NOW - 2 * HOUR, NOW - 90 * MINUTE
COMPACTION_AT, RETRIED_AT = NOW - HOUR - 10 * SECOND, NOW - HOUR


def report(event_id: str, at: int, **columns: Any) -> ReportFact:
    name = {"catalog": "lake", "namespace": "sales", "table": "orders", "kind": "commit"}
    return ReportFact(event_id=event_id, at=at, **(name | columns))


def spark(event_id: str, at: int, job: str, **columns: Any) -> ReportFact:
    given = {"source": "spark", "engine": "spark", "outcome": "ok", "streaming": False}
    return report(event_id, at, **(given | {"job_name": job, "application_id": f"app-{job}"} | columns))


def refused(event_id: str = "refused", at: int = REFUSED_AT, **columns: Any) -> ReportFact:
    given = {"operation": "overwrite", "outcome": "conflict", "conflict_kind": "files_added", "snapshot_id": 1}
    return spark(event_id, at, "merge", **(given | columns))


def client(event_id: str, at: int, snapshot_id: int, attempts: int, seconds: float, **columns: Any) -> ReportFact:
    """What an Iceberg client reports of a commit that succeeded."""
    given = {"source": "iceberg-rest", "operation": "append", "snapshot_id": snapshot_id, "attempts": attempts}
    return report(event_id, at, duration_seconds=seconds, **(given | columns))


def reports() -> list[ReportFact]:
    return [
        spark("stream", STREAM_AT + SECOND, "events", operation="append", streaming=True, added_data_files=3),
        refused(),
        client("etl", RETRIED_AT + SECOND, RETRIED, 4, 30.0, application_id="app-etl"),
        client("stream-client", STREAM_AT + SECOND, STREAM, 1, 2.0, application_id="app-events"),
    ]


def table(*facts: ReportFact) -> MemoryEngine:
    rows = [
        row(1, NOW - 5 * HOUR, 100, app_name="etl", added_data_files=2),
        row(STREAM, STREAM_AT, 103, app_id="app-events", app_name="spark-shell", added_data_files=3),
        row(COMPACTION, COMPACTION_AT, 20, app_name="compaction", operation="replace", added_data_files=9),
        row(RETRIED, RETRIED_AT, 22, app_id="app-etl", app_name="etl", added_data_files=2),
    ]
    engine = lake(rows, [moved(each.snapshot_id, each.committed_at) for each in rows])
    engine.append([], [], reports=facts or reports())
    return engine
