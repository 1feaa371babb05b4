"""The gauges and counters of a table that the server exposes on `/metrics`, and the source of each.

One table for the exporter, the demo's backfill, alert rules and documentation. Labels: LABELS. An unknown number has no
sample; it is never 0.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

LABELS = ("catalog", "table_namespace", "table")
"""Labels of the tables' metrics. Never `job` or `namespace`, which Prometheus and Kubernetes overwrite."""


class ServedMetric(NamedTuple):
    """A labelled family whose numbers do not come from columns of `snapshots`."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    labels: tuple[str, ...]


class TableGauge(NamedTuple):
    """A `column` of `snapshots`, at the snapshot that main points at, times `scale` (for the unit of the name). `kept`:
    if that snapshot's value is unknown, use the latest known value on main.
    """

    name: str
    column: str
    help: str
    scale: float = 1.0
    kept: bool = False


class TableCounter(NamedTuple):
    """Sum of `column` over commits of every operation but `replace` since the server first saw the table.

    It begins at 0 and does not count commits that were known when the table was first seen, so that `increase` does not
    report a backfilled history as new commits. It survives restarts.
    """

    name: str
    column: str
    help: str


TABLE_GAUGES = (
    TableGauge("lakehouse_table_data_files", "total_data_files", "Live data files of the current snapshot."),
    TableGauge("lakehouse_table_delete_files", "total_delete_files", "Live delete files of the current snapshot."),
    TableGauge("lakehouse_table_delete_bytes", "total_delete_bytes", "Bytes of live delete files."),
    TableGauge("lakehouse_table_records", "total_records", "Rows in live data files, before deletes are applied."),
    TableGauge("lakehouse_table_bytes", "total_bytes", "Bytes of live data files."),
    TableGauge("lakehouse_table_small_files", "small_files", "Live data files below three quarters of the target."),
    TableGauge("lakehouse_table_file_size_p50_bytes", "file_size_p50", "Median size of live data files."),
    TableGauge(
        "lakehouse_table_target_file_bytes",
        "target_file_bytes",
        "Target size of data files, from the table's properties.",
    ),
    TableGauge(
        "lakehouse_table_debt_files",
        "debt_files",
        "Data files that compaction would merge, when last computed.",
        kept=True,
    ),
    TableGauge(
        "lakehouse_table_partition_skew_ratio",
        "skew_max_over_median",
        "Bytes of the largest partition divided by those of the median partition, when last computed.",
        kept=True,
    ),
    TableGauge("lakehouse_table_manifests", "manifests", "Manifests of the current snapshot."),
    TableGauge(
        "lakehouse_table_metadata_bytes", "metadata_bytes", "Size in bytes of the metadata file of the last commit."
    ),
    TableGauge("lakehouse_table_snapshots", "live_snapshots", "Snapshots kept in the table's metadata."),
    TableGauge(
        "lakehouse_table_oldest_snapshot_timestamp_seconds",
        "oldest_snapshot_at",
        "Commit time of the oldest retained snapshot that no branch or tag points at, epoch seconds, as of the last "
        "commit.",
        1e-6,
    ),
    TableGauge(
        "lakehouse_table_last_commit_timestamp_seconds",
        "committed_at",
        "Time of the last change of main, epoch seconds.",
        1e-6,
    ),
)
USUAL_INTERVAL = ServedMetric(
    "lakehouse_table_usual_commit_interval_seconds",
    "gauge",
    "90th percentile of the gaps between bursts of commits to main (commits less than a minute apart are one burst).",
    LABELS,
)

TABLE_COUNTERS = (
    TableCounter("lakehouse_table_added_data_files_total", "added_data_files", "Data files added by commits."),
    TableCounter("lakehouse_table_added_delete_files_total", "added_delete_files", "Delete files added by commits."),
    TableCounter("lakehouse_table_added_records_total", "added_records", "Rows added by commits."),
    TableCounter("lakehouse_table_added_bytes_total", "added_bytes", "Bytes of data files added by commits."),
    TableCounter("lakehouse_table_commits_total", "", "Commits to main, without maintenance (`replace`)."),
)

FINDING_OPEN = ServedMetric(
    "lakehouse_table_finding_open",
    "gauge",
    "Open findings of the table, by code and severity (docs/findings.md). Absent while there is none.",
    (*LABELS, "code", "severity"),
)
READ_GAUGES = (
    ServedMetric(
        "lakehouse_table_planning_p95_seconds",
        "gauge",
        "95th percentile of the planning times of the table's scans that engines reported in the last hour.",
        LABELS,
    ),
    ServedMetric(
        "lakehouse_table_query_p95_seconds",
        "gauge",
        "95th percentile of the durations of the queries that read the table, as reported in the last hour.",
        LABELS,
    ),
)
HELD_BYTES = ServedMetric(
    "lakehouse_table_held_bytes",
    "gauge",
    "Bytes of files that only older snapshots, branches or tags of the table reach, when last read (docs/cost.md).",
    LABELS,
)
COST_PER_MONTH = ServedMetric(
    "lakehouse_table_cost_per_month",
    "gauge",
    "Calculated cost of the table for a month of 30 days, in the currency of the settings, by part: `storage` (live "
    "files and metadata), `held` and `requests` (docs/cost.md).",
    (*LABELS, "part", "currency"),
)
RECOMMENDATIONS = ServedMetric(
    "limnograph_recommendations",
    "gauge",
    "Maintenance plans that are recommended now, by rule (docs/maintenance.md). Absent while there is none.",
    ("rule",),
)
REPORTED_COMMITS = ServedMetric(
    "lakehouse_table_reported_commits_total",
    "counter",
    "Commits reported by Iceberg clients since the start of the server.",
    LABELS,
)
REPORTED_ATTEMPTS = ServedMetric(
    "lakehouse_table_reported_commit_attempts_total",
    "counter",
    "Attempts of those commits; more than one per commit means contention.",
    LABELS,
)
REFUSED_COMMITS = ServedMetric(
    "lakehouse_table_refused_commits_total",
    "counter",
    "Commits that gave up because of another one, as Spark and Trino reported since the start of the server.",
    LABELS,
)
CATALOG_UP = ServedMetric(
    "limnograph_catalog_up",
    "gauge",
    "1 if the catalog responded in the watcher's latest round, otherwise 0. Absent while the watcher is off.",
    ("catalog",),
)
CATALOG_KNOWN = ServedMetric(
    "limnograph_catalog_known_timestamp_seconds",
    "gauge",
    "Time of the catalog's last response to the watcher, up to which its tables are known, epoch seconds.",
    ("catalog",),
)
PUBLIC_URL = ServedMetric(
    "limnograph_public_url_info", "gauge", "Always 1; the label is this server's address for browsers.", ("url",)
)


class ServerMetric(NamedTuple):
    """A number of the server itself; a counter since the start of the process if its name ends in `_total`."""

    name: str
    help: str

    @property
    def kind(self) -> str:
        """Its type in the text format."""
        return "counter" if self.name.endswith("_total") else "gauge"


SERVER_METRICS = (
    ServerMetric("limnograph_watermark_timestamp_seconds", "Time up to which metadata is known, epoch seconds."),
    ServerMetric("limnograph_hot_bytes", "Size of the hot index in bytes."),
    ServerMetric("limnograph_hot_rows", "Snapshots in the hot index."),
    ServerMetric("limnograph_hot_tables", "Tables in the hot index."),
    ServerMetric(
        "limnograph_hot_tables_shortened", "Tables whose older hours were evicted to stay within server.hot_mb."
    ),
    ServerMetric(
        "limnograph_table_series_left_out", "Series of tables omitted because of the series limit of this page."
    ),
    ServerMetric("limnograph_pages_kept", "Pages in the page cache."),
    ServerMetric("limnograph_pages_bytes", "Size of the page cache in bytes, all encodings (server.page_cache_mb)."),
    ServerMetric("limnograph_page_hits_total", "Responses from a fresh cached page."),
    ServerMetric(
        "limnograph_page_stale_total", "Responses from a stale cached page, while a new one was computed or failed."
    ),
    ServerMetric("limnograph_page_shared_total", "Requests that waited for a page that another request was computing."),
    ServerMetric("limnograph_page_computed_total", "Pages computed."),
    ServerMetric("limnograph_streams", "Open live streams."),
    ServerMetric("limnograph_stream_events_total", "Events sent to live streams, each counted once."),
    ServerMetric("limnograph_streams_refused_total", "Live streams rejected because too many were open."),
    ServerMetric("limnograph_streams_dropped_total", "Live streams closed because the client read too slowly."),
    ServerMetric(
        "limnograph_last_pass_timestamp_seconds",
        "End of the pipeline's last successful pass as recorded in the inbox, epoch seconds; remains when the "
        "pipeline is stopped.",
    ),
    ServerMetric("limnograph_forecast_tables_at_risk", "Tables for which a forecast warns now (docs/at-risk.md)."),
    ServerMetric("limnograph_forecast_as_of_timestamp_seconds", "Cut-off of the newest forecast, epoch seconds."),
    ServerMetric("limnograph_inbox_items", "Items in the inbox that are not yet in a meta table."),
    ServerMetric(
        "limnograph_inbox_oldest_timestamp_seconds", "Time when the oldest of them was accepted, epoch seconds."
    ),
    ServerMetric("limnograph_meta_up", "1 if the last read of the meta tables succeeded, otherwise 0."),
)
REQUESTS = "limnograph_http_request_duration_seconds"
"""Histogram of requests by `route`, `method` and `status`; rejected requests have status 400, 401, 403, 413 or 429."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of its buckets, seconds."""
