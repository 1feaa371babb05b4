"""Which rules an executor can act on, and by which procedure."""

from __future__ import annotations

from collections.abc import Mapping

PROCEDURES: Mapping[str, str] = {
    "compact_deletes": "rewrite_data_files",
    "compact": "rewrite_data_files",
    "position_deletes": "rewrite_position_delete_files",
    "manifests": "rewrite_manifests",
    "expire": "expire_snapshots",
    "orphans": "remove_orphan_files",
    "delta_purge": "optimize",
    "delta_compact": "optimize",
    "delta_vacuum": "vacuum",
}
"""Procedure by rule, in the order in which an executor runs them: deletes before files, expiry before orphans."""
STAMP = "limnograph-plan"
"""Summary property that carries the plan id in each snapshot that an action commits."""
ADVICE_ONLY: frozenset[str] = frozenset({"metadata_versions", "writer", "cluster", "hudi_compaction"})
"""Rules whose action no executor runs: a user or a writer changes something."""
DELETING: frozenset[str] = frozenset({"expire_snapshots", "remove_orphan_files", "vacuum"})
"""Procedures after which files are gone for good."""
REWRITING: frozenset[str] = frozenset({"rewrite_data_files", "rewrite_position_delete_files", "optimize"})
"""Procedures that write data or delete files again."""
POLICY_ACTOR = "policy:"
"""Prefix of the actor of an approval that a policy of mode `auto` gave."""


def place_of(rule: str) -> int:
    """Place of a rule in the order of execution; rules that are not executed come last."""
    return next((place for place, name in enumerate(PROCEDURES) if name == rule), len(PROCEDURES))
