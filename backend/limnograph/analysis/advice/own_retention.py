"""What the table's own retention removes at an instant: the snapshots that Iceberg's expiry would not retain.

Iceberg's spec, "Snapshot Retention Policy", for main and tags, from rows of `snapshots`: they name no ancestors.
Ancestors of other branches are judged by the table's own age, not by one that a branch may have. Unlike a plan
(`retention`), it has no floors and drops what only a ref past its age keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limnograph.analysis.advice.readers import RetainedRef, RetainedSnapshot
from limnograph.analysis.advice.retention import DEFAULT_AGE_MS, kept_on_branch, retention_of
from limnograph.domain.metadata.table import MAIN, TableMetadata
from limnograph.domain.time import MICROS_PER_MS, Micros

DEFAULT_AGE = DEFAULT_AGE_MS * MICROS_PER_MS
"""Iceberg's default of `history.expire.max-snapshot-age-ms`, microseconds."""


class OwnRetention(NamedTuple):
    """`age_us`: microseconds after which a snapshot expires. `least`: snapshots of main that are kept in any case.
    `declared`: whether the table's properties say so; otherwise it is Iceberg's default.
    """

    age_us: int = DEFAULT_AGE
    least: int = 1
    declared: bool = False


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


def expired_at(
    snapshots: Iterable[RetainedSnapshot], refs: Sequence[RetainedRef], rule: OwnRetention, at: Micros
) -> frozenset[int]:
    """Ids that an expiry at an instant removes, if nothing is committed until then. O(n log n)."""
    every = sorted(snapshots, key=lambda each: (each.committed_at, each.snapshot_id), reverse=True)
    times = {each.snapshot_id: each.committed_at for each in every}
    main = ((each.snapshot_id, each.committed_at) for each in every if each.on_main)
    kept = kept_on_branch(main, Micros(at - rule.age_us), max(1, rule.least))
    for ref in refs:
        committed = times.get(ref.snapshot_id)
        if ref.max_age is None or (committed is not None and committed >= at - ref.max_age):
            kept.add(ref.snapshot_id)
    return frozenset(
        each.snapshot_id for each in every if each.snapshot_id not in kept and each.committed_at < at - rule.age_us
    )
