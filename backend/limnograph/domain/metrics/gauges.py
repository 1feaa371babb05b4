"""The gauges and counters of a table that the server exposes on `/metrics`, and what each is read from.

One table for the exporter, the demo's backfill, alert rules and documentation. Labels: LABELS. A number not known
has no sample; it is never 0.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

LABELS = ("catalog", "table_namespace", "table")
"""Never `job` or `namespace`: Prometheus and Kubernetes overwrite them."""


class ServedMetric(NamedTuple):
    """A family with labels that the server makes beside the columns of `snapshots`."""

    name: str
    kind: Literal["gauge", "counter"]
    help: str
    labels: tuple[str, ...]


class TableGauge(NamedTuple):
    """`column` of `snapshots` at the snapshot that main points at; `scale` turns it into the unit of the name. `kept`:
    where that snapshot's is not known, the newest on main that is.
    """

    name: str
    column: str
    help: str
    scale: float = 1.0
    kept: bool = False


class TableCounter(NamedTuple):
    """Sum of `column` over commits of every operation but `replace` since the server first saw the table.

    It begins at 0: commits that were known at first sight are not counted, so that a history that is read later is no
    rise that `increase` would take for new commits. Restarts go on where the counter stood.
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
        "lakehouse_table_target_file_bytes", "target_file_bytes", "Size that data files should have, of its properties."
    ),
    TableGauge(
        "lakehouse_table_debt_files",
        "debt_files",
        "Data files that compaction would merge, when it was worked out last.",
        kept=True,
    ),
    TableGauge(
        "lakehouse_table_partition_skew_ratio",
        "skew_max_over_median",
        "Bytes of the largest partition over those of the median one, when it was worked out last.",
        kept=True,
    ),
    TableGauge("lakehouse_table_manifests", "manifests", "Manifests of the current snapshot."),
    TableGauge("lakehouse_table_metadata_bytes", "metadata_bytes", "Bytes of the metadata file of the last commit."),
    TableGauge("lakehouse_table_snapshots", "live_snapshots", "Snapshots kept in the table's metadata."),
    TableGauge(
        "lakehouse_table_last_commit_timestamp_seconds", "committed_at", "When main moved last, epoch seconds.", 1e-6
    ),
)
USUAL_INTERVAL = ServedMetric(
    "lakehouse_table_usual_commit_interval_seconds",
    "gauge",
    "90th percentile of the gaps between bursts of commits to main (below a minute: one burst).",
    LABELS,
)

TABLE_COUNTERS = (
    TableCounter("lakehouse_table_added_data_files_total", "added_data_files", "Data files added by commits."),
    TableCounter("lakehouse_table_added_delete_files_total", "added_delete_files", "Delete files added by commits."),
    TableCounter("lakehouse_table_added_records_total", "added_records", "Rows added by commits."),
    TableCounter("lakehouse_table_added_bytes_total", "added_bytes", "Bytes of data files added by commits."),
    TableCounter("lakehouse_table_commits_total", "", "Commits of main, maintenance (`replace`) left out."),
)

REPORTED_COMMITS = ServedMetric(
    "lakehouse_table_reported_commits_total",
    "counter",
    "Commits that Iceberg clients reported; from the start of the server on.",
    LABELS,
)
REPORTED_ATTEMPTS = ServedMetric(
    "lakehouse_table_reported_commit_attempts_total",
    "counter",
    "Attempts that those commits took: more than one each is contention.",
    LABELS,
)
CATALOG_UP = ServedMetric(
    "limnograph_catalog_up",
    "gauge",
    "1: the catalog answered in the watcher's newest round. Absent while the watcher is off.",
    ("catalog",),
)
CATALOG_KNOWN = ServedMetric(
    "limnograph_catalog_known_timestamp_seconds",
    "gauge",
    "Tables of this catalog are known up to here: when it last answered the watcher.",
    ("catalog",),
)
PUBLIC_URL = ServedMetric(
    "limnograph_public_url_info", "gauge", "1; the label says where browsers find this server.", ("url",)
)


class ServerMetric(NamedTuple):
    """A number of the server itself; a counter where its name ends in `_total`, from the start of the process on."""

    name: str
    help: str

    @property
    def kind(self) -> str:
        """Its type in the text format."""
        return "counter" if self.name.endswith("_total") else "gauge"


SERVER_METRICS = (
    ServerMetric("limnograph_watermark_timestamp_seconds", "Metadata is known up to here."),
    ServerMetric("limnograph_hot_bytes", "Bytes that the hot index holds."),
    ServerMetric("limnograph_hot_rows", "Snapshots in the hot index."),
    ServerMetric("limnograph_hot_tables", "Tables in the hot index."),
    ServerMetric("limnograph_hot_tables_shortened", "Tables whose old hours were let go to stay within hot_mb."),
    ServerMetric("limnograph_table_series_left_out", "Series of tables beyond the budget of this page."),
    ServerMetric("limnograph_pages_kept", "Finished pages in memory."),
    ServerMetric("limnograph_pages_bytes", "Bytes that they hold, all codings (server.page_cache_mb)."),
    ServerMetric("limnograph_page_hits_total", "Answers from a fresh kept page."),
    ServerMetric(
        "limnograph_page_stale_total", "Answers from an older page, while a newer one was made or could not be."
    ),
    ServerMetric("limnograph_page_shared_total", "Requests that waited for what another had begun to compute."),
    ServerMetric("limnograph_page_computed_total", "Pages that were computed."),
    ServerMetric("limnograph_streams", "Live streams that are open."),
    ServerMetric("limnograph_stream_events_total", "Events told to live streams, each once."),
    ServerMetric("limnograph_streams_refused_total", "Live streams that were refused, too many being open."),
    ServerMetric(
        "limnograph_streams_dropped_total", "Live streams that were ended because their readers were too slow."
    ),
    ServerMetric(
        "limnograph_last_pass_timestamp_seconds",
        "When the pipeline's last good pass ended, as its mark in the inbox says; also of a pipeline that is gone.",
    ),
    ServerMetric("limnograph_inbox_items", "Items in the inbox that no meta table has yet."),
    ServerMetric("limnograph_inbox_oldest_timestamp_seconds", "When the oldest of them was accepted."),
    ServerMetric("limnograph_meta_up", "Whether the meta tables could be read last time (1) or not (0)."),
)
REQUESTS = "limnograph_http_request_duration_seconds"
"""Histogram of requests by `route`, `method` and `status`; refusals are those of 400, 401, 403, 413 and 429."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Its buckets."""
