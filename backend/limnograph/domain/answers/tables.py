"""Wire structs of tables and status. Ids are text, instants epoch ms, null = unknown.

The timeline's lanes are in `domain/answers/timeline.py`; requests, problems and health in `api/wire/views.py`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.access import AccessScope
from limnograph.domain.answers.findings import Finding
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

ReasonCode = Literal[
    "unreadable",
    "job_slower",
    "file_burst",
    "delete_growth",
    "no_compaction",
    "snapshots_many",
    "skew",
    "schema_change",
    "stale",
    "none",
]
ReasonSeverity = Literal["critical", "warning", "unknown", "ok"]
Health = Literal["ok", "partial", "unreadable", "stale", "unknown", "dropped", "renamed"]


class Hint(View, frozen=True, kw_only=True):
    """A set-up step: `snippet` is text to copy (settings or a command)."""

    code: Literal[
        "no_pipeline",
        "no_prometheus",
        "no_jobs",
        "no_tables",
        "no_match",
        "unmatched",
        "tables_unread",
        "catalog_down",
    ]
    title: str
    detail: str
    snippet: str | None = None


class Reason(View, frozen=True, kw_only=True):
    """The top finding of a table, as clients of older versions know it; new ones read `findings`. `severity`: `ok` if
    nothing is wrong, or only notable; `unknown` while the table's history is being read.
    """

    code: ReasonCode
    severity: ReasonSeverity
    sentence: str
    magnitude: float
    snapshot_id: str | None = None
    at: Millis | None = None


class TableValues(View, frozen=True, kw_only=True):
    """Numbers of a table at the end of the range; null = unknown. Of the reader that slowed down most: the median and
    the 95th percentile of run durations over the last sixth of the range, 5 minutes to one hour.
    """

    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None
    small_files: int | None
    file_size_p50: int | None
    manifests: int | None
    live_snapshots: int | None
    skew_max_over_median: float | None
    commits: int
    last_committed_at: Millis | None
    job_duration_seconds: float | None
    job_p95_seconds: float | None


class TableDeltas(View, frozen=True, kw_only=True):
    """Change over the range, or since the requested instant; null = unknown at either end."""

    data_files: int | None
    delete_files: int | None
    records: int | None
    bytes: int | None
    job_duration_ratio: float | None
    job_p95_ratio: float | None


class Growth(View, frozen=True, kw_only=True):
    """Largest increase in data files within the requested time. `share`: of `files_before`; null: from zero."""

    files_before: int
    files_after: int
    share: float | None
    at: Millis


class RecentTableReads(View, frozen=True, kw_only=True):
    """Scans and queries that engines reported in the last 24 hours, whatever the range. 95th percentiles in seconds;
    `missed_share`: of the scans whose filter columns are known, the share that filters no partition column, null if
    none is known or if the table has no partition columns.
    """

    scans: int
    queries: int
    planning_p95_seconds: float | None
    query_p95_seconds: float | None
    missed_share: float | None


class TableRow(View, frozen=True, kw_only=True):
    """One row of the fleet. `spark`: data files at equal intervals over the range. `growth`: if requested by `within`,
    `grew` or `sort`. `findings`: the open ones, the most severe first, acknowledged ones last, whatever the range;
    acknowledged ones do not count for `reason` and the order of the list. `owner`: as in `Finding`.
    `reads` null: none was reported, or reports were not read yet.
    """

    catalog: str
    namespace: str
    table: str
    table_uuid: str | None
    format: str | None
    status: Health
    reason: Reason
    values: TableValues
    deltas: TableDeltas
    spark: list[float | None]
    growth: Growth | None = None
    findings: tuple[Finding, ...] = ()
    owner: str | None = None
    reads: RecentTableReads | None = None


class TablesPage(View, frozen=True, kw_only=True):
    """`total`: tables that match. `next_cursor` null on the last page. `watermark` as in the timeline."""

    rows: list[TableRow]
    total: int
    next_cursor: str | None
    watermark: Millis | None
    namespaces: list[str]
    hints: list[Hint]


class FacetValue(View, frozen=True, kw_only=True):
    """A value of a filter, and how many tables it would leave."""

    value: str
    tables: int


class TableFacets(View, frozen=True, kw_only=True):
    """Values of each filter with the number of tables that match them and all other filters of the request; at most
    100 values each, those of most tables. `severity`, `code`, `acknowledged`: of open findings; the first two count
    findings that are not acknowledged, unless the request says otherwise. `total`: tables that match the request.
    """

    total: int
    severity: list[FacetValue]
    code: list[FacetValue]
    acknowledged: list[FacetValue]
    owner: list[FacetValue]
    format: list[FacetValue]
    has_job: list[FacetValue]
    namespace: list[FacetValue]


class FleetHeatRow(View, frozen=True, kw_only=True):
    """One table in equal parts of a range. `data_files`: change from the start to the end of a part; `alerts`: number
    of alerts that fired in it, null if no alert was ever received. `risk`: the reason that the list of tables would
    show for that part alone; never `job_slower`, because jobs are not evaluated per part. In lists null = unknown.
    """

    catalog: str
    namespace: str
    table: str
    commits: list[int | None]
    data_files: list[int | None]
    alerts: list[int] | None
    risk: list[ReasonCode | None]


class FleetHeat(View, frozen=True, kw_only=True):
    """Tables over time, those that need the most attention first. `total`, `watermark`: as in the list of tables."""

    start: Millis = msgspec.field(name="from")
    end: Millis = msgspec.field(name="to")
    total: int
    watermark: Millis | None
    rows: list[FleetHeatRow]


class Field(View, frozen=True, kw_only=True):
    """A column of the table's schema by field id; nested fields have dotted names."""

    id: int
    name: str
    type: str
    required: bool


class PartitionField(View, frozen=True, kw_only=True):
    """A field of the partition spec."""

    name: str
    transform: str
    source_id: int | None


class LinkedJob(View, frozen=True, kw_only=True):
    """A job that reads or writes the table. `source`: where the link is known from (`metrics`, `runs`, `settings`)."""

    name: str
    role: Literal["reads", "writes"]
    source: Literal["metrics", "runs", "settings"]
    runs_24h: int | None


class Ref(View, frozen=True, kw_only=True):
    """A branch or tag."""

    name: str
    type: Literal["branch", "tag"]
    snapshot_id: str


class Freshness(View, frozen=True, kw_only=True):
    """`usual_interval_s`: median interval between the latest commits of main."""

    last_committed_at: Millis | None
    age_s: float | None
    usual_interval_s: float | None


class TableRef(View, frozen=True, kw_only=True):
    """A table by its plain name. `path`: the path of its page."""

    catalog: str
    namespace: str
    table: str
    path: str


class TableDetail(View, frozen=True, kw_only=True):
    """Identity and state of a table now. `unreadable_code` is set if its metadata is unreadable. `gone_at`: when the
    table was dropped or renamed to `renamed_to`, epoch ms; its numbers are the last known. `findings`: those that are
    open or closed within the last 24 hours, the open ones first. `owner`: as in `Finding`.
    """

    catalog: str
    namespace: str
    table: str
    table_uuid: str | None
    format: str | None
    format_version: int | None
    location: str | None
    status: Health
    unreadable_code: str | None
    unreadable_detail: str | None
    gone_at: Millis | None
    renamed_to: TableRef | None
    reason: Reason
    schema_id: int | None
    fields: list[Field]
    spec_id: int | None
    partition_fields: list[PartitionField]
    refs: list[Ref]
    values: TableValues
    freshness: Freshness
    jobs: list[LinkedJob]
    first_seen_at: Millis | None
    watermark: Millis | None
    hints: list[Hint]
    findings: tuple[Finding, ...] = ()
    owner: str | None = None


class SourceStatus(View, frozen=True, kw_only=True):
    """Health of one source; `age_s`: seconds since the last success; `latency_s`: duration of its last successful
    query, seconds, null if it is not measured. `breaker`: state of its circuit breaker; `open`: not queried for a while
    after consecutive failures; `half-open`: the next query is a trial.
    """

    id: str
    kind: Literal["prometheus", "meta", "catalog", "watcher", "pipeline", "inbox", "trino", "alertmanager"]
    status: Literal["ok", "stale", "error", "absent"]
    age_s: float | None
    detail: str | None
    breaker: Literal["closed", "open", "half-open"] | None = None
    latency_s: float | None = None


class HotIndex(View, frozen=True, kw_only=True):
    """Contents of the server's memory. `tables_shortened`: tables whose older hours are read from the meta tables."""

    bytes: int
    rows: int
    tables_shortened: int


class Status(View, frozen=True, kw_only=True):
    """Server status: sources, latest pass, watermark, set-up hints; `hourly_days`: retention of hourly roll-ups;
    `jobs`: number of jobs that ran in the last 14 days or are in the settings; `firing`: number of alerts that fire;
    `open_findings`: those that are open and not acknowledged, null before the first evaluation; `scopes`: scopes of the
    caller; `user`: its name, null if authentication is off.
    """

    version: str
    now: Millis
    watermark: Millis | None
    lag_s: float | None
    run_id: str | None
    tables: int
    unreadable: int
    snapshots: int | None
    jobs: int
    firing: int
    open_findings: int | None
    hourly_days: int
    hot: HotIndex
    sources: list[SourceStatus]
    hints: list[Hint]
    scopes: tuple[AccessScope, ...] = ()
    user: str | None = None
