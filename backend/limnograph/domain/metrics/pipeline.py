"""Metrics that the pipeline exposes about itself: one table for exporter, docs and alert rules.

An unknown number has no sample; it is never 0. Counters start with the process.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Metric(NamedTuple):
    """A family. `labels`: never `job` or `namespace`, which Prometheus and Kubernetes overwrite."""

    name: str
    kind: Literal["gauge", "counter"]
    help: str
    labels: tuple[str, ...] = ()


PASSES = Metric("limnograph_pipeline_passes_total", "counter", "Passes by result: ok, failed.", ("result",))
PASS_ENDED = Metric(
    "limnograph_pipeline_last_pass_timestamp_seconds", "gauge", "End of the last successful pass, epoch seconds."
)
PASS_SECONDS = Metric(
    "limnograph_pipeline_last_pass_duration_seconds", "gauge", "Duration of the last successful pass in seconds."
)
PASS_SNAPSHOTS = Metric(
    "limnograph_pipeline_last_pass_snapshots", "gauge", "Snapshots added by the last successful pass."
)
PASS_TABLES = Metric(
    "limnograph_pipeline_last_pass_tables_changed", "gauge", "Tables for which the last successful pass wrote rows."
)
GAPS = Metric("limnograph_pipeline_gaps_total", "counter", "Gaps found: snapshots that expired before they were read.")
UNREADABLE = Metric(
    "limnograph_pipeline_tables_unreadable",
    "gauge",
    "Tables whose metadata was unreadable in the last successful pass.",
)
CATALOG_UP = Metric(
    "limnograph_pipeline_catalog_up",
    "gauge",
    "1 if the last listing of the catalog succeeded, otherwise 0.",
    ("catalog",),
)
TABLES_SEEN = Metric("limnograph_pipeline_tables_seen", "gauge", "Observed tables in the last listing.", ("catalog",))
TABLES_DUE = Metric(
    "limnograph_pipeline_tables_due", "gauge", "Tables with new snapshots in the last successful pass.", ("catalog",)
)
TABLES_FAILING = Metric(
    "limnograph_pipeline_tables_failing", "gauge", "Tables whose last read failed with a retryable error.", ("catalog",)
)
TABLES_WAITING = Metric(
    "limnograph_pipeline_tables_waiting", "gauge", "Failing tables that wait for their next retry.", ("catalog",)
)
NEWEST_COMMIT = Metric(
    "limnograph_pipeline_newest_commit_timestamp_seconds",
    "gauge",
    "Commit time of the latest appended snapshot, epoch seconds.",
)
LAG = Metric(
    "limnograph_pipeline_extraction_lag_seconds",
    "gauge",
    "Seconds from the latest commit of the last append to that append.",
)
APPENDS = Metric(
    "limnograph_pipeline_appends_total",
    "counter",
    "Attempts to append to a meta table by result: ok, conflict (with another writer), failed.",
    ("table", "result"),
)
ROWS = Metric("limnograph_pipeline_rows_appended_total", "counter", "Rows appended to a meta table.", ("table",))
INBOX_WAITING = Metric(
    "limnograph_pipeline_inbox_items", "gauge", "Items in the inbox that are not yet in a meta table."
)
INBOX_OLDEST = Metric(
    "limnograph_pipeline_inbox_oldest_timestamp_seconds",
    "gauge",
    "Time when the oldest of them was accepted, epoch seconds.",
)
INBOX_ASIDE = Metric(
    "limnograph_pipeline_inbox_set_aside_total", "counter", "Invalid items that were set aside; see the log."
)
META_FILES = Metric("limnograph_meta_table_data_files", "gauge", "Live data files of a meta table.", ("table",))
META_BYTES = Metric("limnograph_meta_table_bytes", "gauge", "Bytes of live data files of a meta table.", ("table",))
META_SNAPSHOTS = Metric("limnograph_meta_table_snapshots", "gauge", "Retained snapshots of a meta table.", ("table",))
META_MANIFESTS = Metric(
    "limnograph_meta_table_manifests", "gauge", "Manifests of a meta table's current snapshot.", ("table",)
)
META_METADATA = Metric(
    "limnograph_meta_table_metadata_bytes", "gauge", "Size in bytes of a meta table's metadata file.", ("table",)
)
STEPS = Metric(
    "limnograph_housekeeping_steps_total",
    "counter",
    "Housekeeping steps by result: ok, failed.",
    ("kind", "result"),
)
STEP_SECONDS = Metric(
    "limnograph_housekeeping_seconds_total", "counter", "Duration of housekeeping steps in seconds.", ("kind",)
)
STEP_LAST = Metric(
    "limnograph_housekeeping_last_success_timestamp_seconds",
    "gauge",
    "Time when a step last succeeded, epoch seconds.",
    ("kind",),
)
LOOKED = Metric(
    "limnograph_housekeeping_looked_timestamp_seconds",
    "gauge",
    "Time when housekeeping last found nothing due, epoch seconds.",
)
LATE = Metric("limnograph_housekeeping_late_facts", "gauge", "Raw rows of closed table-days at the last retention run.")
FLOOR = Metric(
    "limnograph_housekeeping_raw_floor_timestamp_seconds",
    "gauge",
    "Day before which raw rows may have been deleted, epoch seconds.",
)
DEEP_SINCE = Metric(
    "limnograph_housekeeping_deep_since_timestamp_seconds",
    "gauge",
    "Day since which every recorded commit was read to its manifests' entries, epoch seconds; older ones follow.",
)
FORECAST_TABLES = Metric(
    "limnograph_forecast_pass_tables", "gauge", "Tables that the last pass of forecasts forecast: those that moved."
)
FORECAST_FAILED = Metric(
    "limnograph_forecast_pass_failed_tables", "gauge", "Tables that it could not forecast; see the log."
)
FORECAST_AS_OF = Metric(
    "limnograph_forecast_pass_as_of_timestamp_seconds", "gauge", "Cut-off of the last pass of forecasts, epoch seconds."
)
FORECAST_OWN = Metric(
    "limnograph_forecast_pass_own_model",
    "gauge",
    "1 if the model of that pass was trained on this site's tables, 0 if it ships with Limnograph.",
)
FORECAST_TRAININGS = Metric(
    "limnograph_forecast_trainings_total",
    "counter",
    "Trainings of the forecast model by outcome: replaced, kept, too_few_tables, too_little_history.",
    ("outcome",),
)
FORECAST_BRIER = Metric(
    "limnograph_forecast_training_brier",
    "gauge",
    "Brier score on the newest week at the last training, smaller is better: of the new model, and of the one in use.",
    ("model",),
)

PIPELINE_METRICS = (
    PASSES,
    PASS_ENDED,
    PASS_SECONDS,
    PASS_SNAPSHOTS,
    PASS_TABLES,
    GAPS,
    UNREADABLE,
    CATALOG_UP,
    TABLES_SEEN,
    TABLES_DUE,
    TABLES_FAILING,
    TABLES_WAITING,
    NEWEST_COMMIT,
    LAG,
    APPENDS,
    ROWS,
    INBOX_WAITING,
    INBOX_OLDEST,
    INBOX_ASIDE,
    META_FILES,
    META_BYTES,
    META_SNAPSHOTS,
    META_MANIFESTS,
    META_METADATA,
    STEPS,
    STEP_SECONDS,
    STEP_LAST,
    LOOKED,
    LATE,
    FLOOR,
    DEEP_SINCE,
    FORECAST_TABLES,
    FORECAST_FAILED,
    FORECAST_AS_OF,
    FORECAST_OWN,
    FORECAST_TRAININGS,
    FORECAST_BRIER,
)
