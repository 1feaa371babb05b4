"""Queries about what happens to tables: runs, scans, alerts, findings, forecasts, effects of maintenance."""

from __future__ import annotations

from limnograph.domain.facts.cookbook.query import ExampleQuery, per_engine, seconds_between, unnested

ACTIVITY = (
    ExampleQuery(
        "Which run wrote which commit?",
        per_engine(
            """\
WITH uses AS (
  {uses}
)
SELECT u.job_name, u.run_id, s.namespace, s."table", s.snapshot_id, s.added_data_files
FROM uses u
JOIN limnograph.snapshots s
  ON s.catalog = u.t.catalog AND s.namespace = u.t.namespace AND s."table" = u.t."table"
  AND s.snapshot_id = u.t.written_snapshot_id
ORDER BY s.committed_at DESC""",
            uses=unnested("tables", "t", "job_name, run_id", "limnograph.runs"),
        ),
    ),
    ExampleQuery(
        "Which jobs fail, and how long do their runs take?",
        per_engine(
            """\
SELECT job_name, COUNT(*) AS runs, SUM(CASE WHEN status = 'failed' THEN 1 ELSE 0 END) AS failed,
       AVG({duration}) AS mean_seconds, MAX({duration}) AS longest_seconds
FROM limnograph.runs
WHERE status <> 'running'
GROUP BY job_name
ORDER BY failed DESC, job_name""",
            duration=seconds_between("started_at", "ended_at"),
        ),
    ),
    ExampleQuery(
        "Which scans spent more than a second on planning?",
        """\
SELECT "at", namespace, "table", engine, application_id, duration_seconds, result_data_files, scanned_data_manifests
FROM limnograph.reports
WHERE kind = 'scan' AND duration_seconds > 1
ORDER BY duration_seconds DESC""",
    ),
    ExampleQuery(
        "Of which tables do scans skip the fewest data files?",
        """\
SELECT namespace, "table", COUNT(*) AS scans, SUM(result_data_files) AS opened, SUM(skipped_data_files) AS skipped,
       CAST(SUM(skipped_data_files) AS DOUBLE) / SUM(result_data_files + skipped_data_files) AS skipped_share
FROM limnograph.reports
WHERE kind = 'scan' AND result_data_files + skipped_data_files > 0
GROUP BY namespace, "table"
ORDER BY skipped_share, opened DESC""",
    ),
    ExampleQuery(
        "Which commits needed more than one attempt?",
        """\
SELECT "at", namespace, "table", engine, application_id, operation, attempts, duration_seconds
FROM limnograph.reports
WHERE kind = 'commit' AND attempts > 1
ORDER BY attempts DESC""",
    ),
    ExampleQuery(
        "Which commits lost a race with another writer?",
        """\
SELECT "at", namespace, "table", engine, job_name, application_id, operation, conflict_kind
FROM limnograph.reports
WHERE kind = 'commit' AND outcome = 'conflict'
ORDER BY "at" DESC""",
    ),
    ExampleQuery(
        "Which columns do scans filter, and how many files do they open?",
        per_engine(
            """\
WITH filters AS (
  {filters}
)
SELECT namespace, "table", f AS filter_column, COUNT(*) AS scans, SUM(result_data_files) AS opened
FROM filters
GROUP BY namespace, "table", f
ORDER BY scans DESC""",
            filters=unnested("filter_columns", "f", 'namespace, "table", result_data_files', "limnograph.reports"),
        ),
    ),
    ExampleQuery(
        "Which commit was the last one before each alert?",
        """\
WITH candidates AS (
  SELECT a.starts_at, a.alert_name, a.namespace, a."table", s.snapshot_id, s.committed_at, s.operation, s.app_name,
         ROW_NUMBER() OVER (PARTITION BY a.fingerprint, a.starts_at ORDER BY s.committed_at DESC) AS latest
  FROM limnograph.alerts a
  JOIN limnograph.snapshots s
    ON s.catalog = a.catalog AND s.namespace = a.namespace AND s."table" = a."table" AND s.committed_at <= a.starts_at
  WHERE a.status = 'firing'
)
SELECT starts_at, alert_name, namespace, "table", snapshot_id, committed_at, operation, app_name
FROM candidates
WHERE latest = 1
ORDER BY starts_at DESC""",
    ),
    ExampleQuery(
        "Which findings are open now?",
        """\
WITH newest AS (
  SELECT code, severity, namespace, "table", subject, opened_at, cause_writer, state,
         ROW_NUMBER() OVER (PARTITION BY finding_id ORDER BY seq DESC) AS newest
  FROM limnograph.findings
)
SELECT code, severity, namespace, "table", subject, opened_at, cause_writer
FROM newest
WHERE newest = 1 AND state = 'open'
ORDER BY opened_at DESC""",
    ),
    ExampleQuery(
        "How long do findings stay open, by code?",
        per_engine(
            """\
SELECT code, COUNT(*) AS closed, AVG({duration}) / 3600.0 AS mean_hours
FROM limnograph.findings
WHERE state = 'closed'
GROUP BY code
ORDER BY mean_hours DESC""",
            duration=seconds_between("opened_at", "closed_at"),
        ),
    ),
    ExampleQuery(
        "Which tables are at risk now, and would maintenance prevent it?",
        """\
WITH newest AS (
  SELECT namespace, "table", metric, threshold, p_cross, p_cross_if_maintained, crosses_from, crosses_to, alert, as_of,
         ROW_NUMBER() OVER (PARTITION BY table_uuid, metric ORDER BY as_of DESC) AS newest
  FROM limnograph.forecasts
  WHERE hours = 168
)
SELECT namespace, "table", metric, threshold, p_cross, p_cross_if_maintained, crosses_from, crosses_to, as_of
FROM newest
WHERE newest = 1 AND alert
ORDER BY p_cross DESC""",
    ),
    ExampleQuery(
        "How many warnings of forecasts came true, by metric?",
        """\
WITH warned AS (
  SELECT metric, MAX(CASE WHEN crossed THEN 1 ELSE 0 END) AS crossed,
         MAX(CASE WHEN maintained THEN 1 ELSE 0 END) AS maintained
  FROM limnograph.forecasts
  WHERE hours = 168 AND alert AND judged_at IS NOT NULL
  GROUP BY table_uuid, metric, warned_at
)
SELECT metric, COUNT(*) AS warnings, SUM(crossed) AS came_true, SUM((1 - crossed) * maintained) AS acted_upon
FROM warned
GROUP BY metric
ORDER BY warnings DESC""",
    ),
    ExampleQuery(
        "Did maintenance make jobs faster?",
        """\
WITH newest AS (
  SELECT action, verdict, ratio,
         ROW_NUMBER() OVER (
           PARTITION BY table_uuid, operation_id, job_name, measure ORDER BY runs_after DESC
         ) AS newest
  FROM limnograph.effects
  WHERE measure = 'duration'
)
SELECT action, verdict, COUNT(*) AS measurements, AVG(ratio) AS mean_ratio
FROM newest
WHERE newest = 1
GROUP BY action, verdict
ORDER BY action, verdict""",
    ),
)
