"""A table's retention, branches and tags, from its metadata, as rules of storage read them."""

from __future__ import annotations

from limnograph.analysis.advice.own_retention import OwnRetention
from limnograph.analysis.advice.readers import RetainedRef
from limnograph.analysis.advice.retention import retention_of
from limnograph.domain.metadata.table import MAIN, TableMetadata
from limnograph.domain.time import MICROS_PER_MS


def own_retention_of(metadata: TableMetadata) -> OwnRetention:
    """The table's own retention, or Iceberg's default."""
    rule = retention_of(metadata.properties)
    return OwnRetention(rule.age_ms * MICROS_PER_MS, rule.kept, declared=True)


def refs_of(metadata: TableMetadata) -> list[RetainedRef]:
    """Branches and tags; main has no age."""
    found = []
    for name, ref in metadata.refs.items():
        age = None if name == MAIN else ref.retention.get("max-ref-age-ms")
        kept = None if age is None else age * MICROS_PER_MS
        found.append(RetainedRef(name, ref.snapshot_id, ref.type == "tag", kept))
    return found
