"""A commit's operation in Iceberg's terms, and its summary with Hudi's own terms."""

from __future__ import annotations

from limnograph.adapters.hudi.commits import Commit
from limnograph.adapters.hudi.timeline import HudiInstant

EXTRA_KEPT = 50
"""Maximum entries of extraMetadata in a summary; keys above 200 and values above 4,096 characters are left out."""

_KEEPS_CONTENT = frozenset(("CLUSTER", "COMPACT", "LOG_COMPACT", "INDEX", "ALTER_SCHEMA", "BUCKET_RESCALE"))
_DELETES = frozenset(("DELETE", "DELETE_PREPPED", "DELETE_PARTITION"))


def operation(instant: HudiInstant, commit: Commit) -> str:
    """`replace` keeps the rows, `delete` removes rows, `append` only adds base files; `overwrite` is everything else:
    upserts, logs, insert-overwrites.
    """
    word = (commit.operation or "").upper()
    if word in _KEEPS_CONTENT or (commit.compacted and instant.action != "replacecommit"):
        return "replace"
    if word in _DELETES:
        return "delete"
    if instant.action == "replacecommit" or commit.replaced:
        return "overwrite"
    return "append" if all(stat.prev is None and not stat.is_log for stat in commit.written) else "overwrite"


def summary(instant: HudiInstant, commit: Commit, timezone: str) -> dict[str, str]:
    """The summary map of a snapshot."""
    found = {"operation": operation(instant, commit), "hudi.action": instant.action, "hudi.instant": instant.requested}
    if commit.operation is not None:
        found["hudi.operation"] = commit.operation[:200]
    if instant.completed is not None:
        found["hudi.completed"] = instant.completed
    if timezone != "UTC":
        found["hudi.timezone"] = f"{timezone[:50]}, read as UTC"
    extra = [(key, value) for key, value in commit.extra.items() if len(key) <= 200 and len(value) <= 4096]
    return found | {f"hudi.extraMetadata.{key}": value for key, value in sorted(extra)[:EXTRA_KEPT]}
