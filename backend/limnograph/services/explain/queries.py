"""The queries of an explanation for runs and commits, as PromQL and SQL to copy. The SQL is never run. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

from limnograph.domain.answers.timeline import LaneQuery
from limnograph.domain.time import MS_PER_SECOND
from limnograph.services.explain.baseline import Windows
from limnograph.services.lake.history import History
from limnograph.services.sources import page_metrics, templates

COLUMNS = (
    "committed_at, table_uuid, snapshot_id, operation, app_name, added_data_files, added_bytes, removed_data_files, "
    "added_delete_files, added_records, manifests, changed_partitions"
)


def queries(matchers: Mapping[str, str] | None, histories: Sequence[History], asked: Windows, meta: str) -> LaneQuery:
    """Queries for the runs that the matchers select (None without metrics) and for the commits of the job's tables."""
    step = page_metrics.runs_step(asked.since, asked.end)
    promql = None if matchers is None else templates.finished_runs(matchers, step)
    return LaneQuery(promql=promql, sql=_commits(histories, asked, meta))


def _commits(histories: Sequence[History], asked: Windows, meta: str) -> str:
    start, end = (dt.datetime.fromtimestamp(at / MS_PER_SECOND, tz=dt.UTC) for at in (asked.since, asked.end))
    uuids = ", ".join("'" + history.uuid.replace("'", "''") + "'" for history in histories)
    return (
        f"SELECT {COLUMNS} FROM {meta}.snapshots WHERE table_uuid IN ({uuids}) "  # noqa: S608
        f"AND committed_at >= TIMESTAMP '{start:%Y-%m-%d %H:%M:%S} UTC' "
        f"AND committed_at < TIMESTAMP '{end:%Y-%m-%d %H:%M:%S} UTC' ORDER BY committed_at"
    )
