"""Codes of what stopped a plan, or what a verification found. They stay the same; texts may change."""

from __future__ import annotations

from limnograph.domain.maintenance.states import PlanState

IS_FAILURE: frozenset[PlanState] = frozenset({"failed", "partly", "unknown"})
"""States for which the program exits with 1."""
CONFLICT, ENGINE, CANCELLED, INTERRUPTED = "conflict", "engine", "cancelled", "interrupted"
UNREADABLE = "unreadable"
PLAN_MOVED, NO_CONDITION, FORGED = "plan_moved", "no_condition", "arguments_mismatch"
ANOTHER_TABLE, SKEWED, TABLE_GONE = "another_table", "clock_skew", "table_gone"
EVIDENCE = "evidence_unreadable"
NO_COMMIT, TOO_MANY_COMMITS = "no_commit", "too_many_commits"
FOREIGN_FILES, ROWS_DIFFER = "unapproved_files", "rows_differ"
MISSING_FILES, SNAPSHOTS_KEPT, SNAPSHOTS_LOST = "missing_files", "snapshots_not_expired", "snapshots_lost"
