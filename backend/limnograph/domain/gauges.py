"""The gauges and counters of a table that the server exposes on `/metrics`, and what each is read from.

One table for the exporter, the demo's backfill, alert rules and documentation. Labels: LABELS. A number not known
has no sample; it is never 0.
"""

from __future__ import annotations

from typing import NamedTuple

LABELS = ("catalog", "table_namespace", "table")
"""Never `job` or `namespace`: Prometheus and Kubernetes overwrite them."""


class TableGauge(NamedTuple):
    """`column` of `snapshots` at the snapshot that main points at; `scale` turns it into the unit of the name."""

    name: str
    column: str
    help: str
    scale: float = 1.0


class TableCounter(NamedTuple):
    """Sum of `column` over commits of every operation but `replace` since the server first saw the table.

    It begins at 0: commits that were known at first sight are not counted, so that the reset of a restart is one to 0
    and not to a sum of the past, which `increase` would take for new commits.
    """

    name: str
    column: str
    help: str


TABLE_GAUGES = (
    TableGauge("lakehouse_table_data_files", "total_data_files", "Live data files of the current snapshot."),
    TableGauge("lakehouse_table_delete_files", "total_delete_files", "Live delete files of the current snapshot."),
    TableGauge("lakehouse_table_records", "total_records", "Rows in live data files, before deletes are applied."),
    TableGauge("lakehouse_table_bytes", "total_bytes", "Bytes of live data files."),
    TableGauge("lakehouse_table_small_files", "small_files", "Live data files below three quarters of the target."),
    TableGauge("lakehouse_table_file_size_p50_bytes", "file_size_p50", "Median size of live data files."),
    TableGauge("lakehouse_table_manifests", "manifests", "Manifests of the current snapshot."),
    TableGauge("lakehouse_table_snapshots", "live_snapshots", "Snapshots kept in the table's metadata."),
    TableGauge(
        "lakehouse_table_last_commit_timestamp_seconds", "committed_at", "When main moved last, epoch seconds.", 1e-6
    ),
)

TABLE_COUNTERS = (
    TableCounter("lakehouse_table_added_data_files_total", "added_data_files", "Data files added by commits."),
    TableCounter("lakehouse_table_added_delete_files_total", "added_delete_files", "Delete files added by commits."),
    TableCounter("lakehouse_table_added_records_total", "added_records", "Rows added by commits."),
    TableCounter("lakehouse_table_added_bytes_total", "added_bytes", "Bytes of data files added by commits."),
    TableCounter("lakehouse_table_commits_total", "", "Commits of main, maintenance (`replace`) left out."),
)
