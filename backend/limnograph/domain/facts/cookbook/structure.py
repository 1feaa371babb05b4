"""Queries about the structure of tables: files, partitions, snapshots, schemas."""

from __future__ import annotations

from limnograph.domain.facts.cookbook.query import ExampleQuery, per_engine, unnested

STRUCTURE = (
    ExampleQuery(
        "Which commits added more than 10,000 data files?",
        """\
SELECT namespace, "table", snapshot_id, committed_at, operation, app_name, added_data_files
FROM limnograph.snapshots
WHERE added_data_files > 10000
ORDER BY added_data_files DESC""",
    ),
    ExampleQuery(
        "Which tables had more than 20 % more data files within 5 minutes?",
        """\
WITH windows AS (
  SELECT namespace, "table", snapshot_id, committed_at, total_data_files,
         FIRST_VALUE(total_data_files - added_data_files + removed_data_files) OVER (
           PARTITION BY table_uuid ORDER BY committed_at
           RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW
         ) AS files_before
  FROM limnograph.snapshots
  WHERE on_main
)
SELECT namespace, "table", snapshot_id, committed_at, files_before, total_data_files
FROM windows
WHERE total_data_files > 1.2 * files_before
ORDER BY committed_at DESC""",
    ),
    ExampleQuery(
        "What is the state of each table, by the last snapshot that `main` pointed to?",
        """\
WITH heads AS (
  SELECT table_uuid, CAST(to_value AS BIGINT) AS snapshot_id,
         ROW_NUMBER() OVER (PARTITION BY table_uuid ORDER BY "at" DESC) AS newest
  FROM limnograph.changes
  WHERE kind = 'ref' AND subject = 'main'
)
SELECT s.namespace, s."table", s.committed_at, s.total_data_files, s.total_bytes, s.small_files, s.total_delete_files
FROM heads h
JOIN limnograph.snapshots s ON s.table_uuid = h.table_uuid AND s.snapshot_id = h.snapshot_id
WHERE h.newest = 1
ORDER BY s.total_data_files DESC""",
    ),
    ExampleQuery(
        "Which partitions have the most small files?",
        per_engine(
            """\
WITH states AS (
  {states}
),
newest AS (
  SELECT namespace, "table", p.partition AS part, p.data_files AS data_files, p.small_files AS small_files,
         ROW_NUMBER() OVER (PARTITION BY table_uuid, p.partition ORDER BY committed_at DESC) AS newest
  FROM states
)
SELECT namespace, "table", part, data_files, small_files
FROM newest
WHERE newest = 1 AND small_files > 0
ORDER BY small_files DESC
LIMIT 20""",
            states=unnested("partitions", "p", 'table_uuid, namespace, "table", committed_at', "limnograph.snapshots"),
        ),
    ),
    ExampleQuery(
        "Which writers make many commits of few rows?",
        """\
SELECT namespace, "table", app_name, COUNT(*) AS commits, AVG(added_records) AS mean_added_rows,
       SUM(added_data_files) AS added_data_files
FROM limnograph.snapshots
WHERE operation = 'append'
GROUP BY namespace, "table", app_name
HAVING COUNT(*) >= 3
ORDER BY commits DESC""",
    ),
    ExampleQuery(
        "When was each table last compacted, and by whom?",
        """\
WITH compactions AS (
  SELECT table_uuid, committed_at, app_name, removed_data_files, added_data_files,
         ROW_NUMBER() OVER (PARTITION BY table_uuid ORDER BY committed_at DESC) AS newest
  FROM limnograph.snapshots
  WHERE operation = 'replace'
),
tables AS (
  SELECT table_uuid, MAX(namespace) AS namespace, MAX("table") AS "table" FROM limnograph.snapshots GROUP BY table_uuid
)
SELECT t.namespace, t."table", c.committed_at, c.app_name, c.removed_data_files, c.added_data_files
FROM tables t
LEFT JOIN compactions c ON c.table_uuid = t.table_uuid AND c.newest = 1
ORDER BY c.committed_at NULLS FIRST, t."table\"""",
    ),
    ExampleQuery(
        "How did delete files grow, day by day?",
        """\
SELECT namespace, "table", "day", total_delete_files_last, added_delete_files, removed_delete_files
FROM limnograph.snapshots_daily
WHERE total_delete_files_last > 0
ORDER BY namespace, "table", "day\"""",
    ),
    ExampleQuery(
        "Which tables hold delete files that no one merges, how many bytes, and since when?",
        """\
WITH newest AS (
  SELECT namespace, "table", total_delete_files, total_delete_bytes, total_bytes, oldest_delete_at,
         ROW_NUMBER() OVER (PARTITION BY table_uuid ORDER BY committed_at DESC) AS newest
  FROM limnograph.snapshots
  WHERE on_main AND total_delete_files IS NOT NULL
)
SELECT namespace, "table", total_delete_files, total_delete_bytes,
       CAST(total_delete_bytes AS DOUBLE) / total_bytes AS delete_bytes_ratio, oldest_delete_at
FROM newest
WHERE newest = 1 AND total_delete_files > 0
ORDER BY oldest_delete_at NULLS FIRST, "table\"""",
    ),
    ExampleQuery(
        "Which tables keep the most snapshots in their metadata?",
        """\
WITH newest AS (
  SELECT namespace, "table", live_snapshots, metadata_bytes,
         ROW_NUMBER() OVER (PARTITION BY table_uuid ORDER BY observed_at DESC) AS newest
  FROM limnograph.snapshots
  WHERE live_snapshots IS NOT NULL
)
SELECT namespace, "table", live_snapshots, metadata_bytes
FROM newest
WHERE newest = 1
ORDER BY live_snapshots DESC
LIMIT 20""",
    ),
    ExampleQuery(
        "Which tables were rolled back, and to which commit?",
        """\
SELECT c."at", c.namespace, c."table", was.snapshot_id AS from_snapshot_id, s.snapshot_id AS to_snapshot_id,
       s.committed_at
FROM limnograph.changes c
JOIN limnograph.snapshots was ON was.table_uuid = c.table_uuid AND was.snapshot_id = CAST(c.from_value AS BIGINT)
JOIN limnograph.snapshots s ON s.table_uuid = c.table_uuid AND s.snapshot_id = CAST(c.to_value AS BIGINT)
WHERE c.kind = 'ref' AND c.subject = 'main' AND s.committed_at < was.committed_at
ORDER BY c."at" DESC""",
    ),
    ExampleQuery(
        "What else changed: schemas, specs, properties, names?",
        """\
SELECT "at", catalog, namespace, "table", kind, subject, from_value, to_value
FROM limnograph.changes
WHERE kind IN ('schema', 'spec', 'sort_order', 'property', 'named', 'dropped', 'upgraded')
ORDER BY "at" DESC
LIMIT 50""",
    ),
    ExampleQuery(
        "Which tables are unreadable now, and why?",
        """\
WITH health AS (
  SELECT subject, to_value AS problem, detail, "at",
         ROW_NUMBER() OVER (PARTITION BY subject ORDER BY "at" DESC) AS newest
  FROM limnograph.changes
  WHERE kind = 'unreadable'
)
SELECT subject, problem, detail, "at" FROM health WHERE newest = 1 AND problem IS NOT NULL ORDER BY subject""",
    ),
)
