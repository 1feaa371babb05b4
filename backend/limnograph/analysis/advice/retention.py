"""Which snapshots a plan of `expire_snapshots` names at an instant, as Iceberg's RemoveSnapshots decides it, from the
table's metadata. What the table's own retention removes, without floors, is `own_retention`; how much of a branch is
kept is decided here for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from limnograph.domain.maintenance.policy import RetainedSnapshots
from limnograph.domain.metadata.table import MAIN, SnapshotRef, TableMetadata
from limnograph.domain.time import MICROS_PER_MS, Micros, Millis, to_micros

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
MAX_AGE, MIN_KEPT, MAX_REF_AGE = (
    "history.expire.max-snapshot-age-ms",
    "history.expire.min-snapshots-to-keep",
    "history.expire.max-ref-age-ms",
)
DEFAULT_AGE_MS = 5 * DAY_MS
LEAST_AGE_MS, LEAST_KEPT = 24 * HOUR_MS, 2
"""Floors of every plan, whatever the table's properties say."""


class RetentionRule(NamedTuple):
    """Ages in milliseconds. `kept`: snapshots of a branch that are never removed, newest first."""

    age_ms: int
    kept: int


FLOOR = RetentionRule(LEAST_AGE_MS, LEAST_KEPT)


class Expiry(NamedTuple):
    """Snapshots that expire. `refs`: branches and tags that are past their own age and would be removed by the
    procedure, but not by a plan. `staged`: staged commits that are old enough, and kept.
    """

    snapshot_ids: frozenset[int]
    refs: tuple[str, ...]
    staged: int


def retention_of(properties: Mapping[str, str]) -> RetentionRule:
    """The table's own retention, not below the floors."""
    age = _number(properties.get(MAX_AGE), DEFAULT_AGE_MS)
    return RetentionRule(max(age, LEAST_AGE_MS), max(_number(properties.get(MIN_KEPT), 1), LEAST_KEPT))


def retention_rule(retain: RetainedSnapshots) -> RetentionRule:
    """The retention of a policy, not below the floors and rounded up to milliseconds."""
    return RetentionRule(max(-(-retain.age_us // MICROS_PER_MS), LEAST_AGE_MS), max(retain.last, LEAST_KEPT))


def stricter_retention(properties: Mapping[str, str], limit: RetentionRule | None) -> RetentionRule:
    """What keeps more: the table's own retention, or that of a policy. None: there is no policy."""
    own = retention_of(properties)
    return own if limit is None else RetentionRule(max(own.age_ms, limit.age_ms), max(own.kept, limit.kept))


def expiry_within(metadata: TableMetadata, now: Millis, limit: RetentionRule | None) -> Expiry:
    """What expires at `now` by the table's own retention and that of a policy, if there is one. A snapshot that was
    main's head within the last 24 hours stays, however old it is: a query may still read it.
    """
    found = expiry_at(metadata, now, stricter_retention(metadata.properties, limit), limit or FLOOR)
    return found._replace(snapshot_ids=found.snapshot_ids - recent_heads(metadata, now))


def recent_heads(metadata: TableMetadata, now: Millis) -> frozenset[int]:
    """Snapshots that main left within the last 24 hours, by the table's own log."""
    moves = pairwise(metadata.snapshot_log)
    return frozenset(entry.value for entry, later in moves if now - later.timestamp_ms < LEAST_AGE_MS)


def expiry_at(metadata: TableMetadata, now: Millis, rule: RetentionRule, floor: RetentionRule = FLOOR) -> Expiry:
    """What expires at `now`. References are kept, also those past their own age: dropping a tag is a decision of its
    owner. `floor`: holds for branches with a retention of their own, too.
    """
    kept: set[int] = set()
    referenced: set[int] = set()
    for name, ref in metadata.refs.items():
        is_branch = ref.type == "branch" or name == MAIN
        own = _own_rule(ref, rule, floor)
        kept |= _of_branch(metadata, ref, now, own.age_ms, own.kept) if is_branch else {ref.snapshot_id}
        referenced |= set(metadata.ancestors(ref.snapshot_id)) if is_branch else {ref.snapshot_id}
    staged, expired = 0, set[int]()
    for snapshot_id, snapshot in metadata.snapshots.items():
        at = snapshot.timestamp_ms
        if snapshot_id in kept or at is None:
            continue
        if snapshot_id in referenced:
            expired.add(snapshot_id)
        elif now - at > rule.age_ms:
            unpublished = is_staged(metadata, snapshot_id)
            staged += unpublished
            expired |= set() if unpublished else {snapshot_id}
    return Expiry(frozenset(expired), past_refs(metadata, now), staged)


def past_refs(metadata: TableMetadata, now: Millis) -> tuple[str, ...]:
    """Branches and tags that are past their own age, sorted."""
    return tuple(sorted(name for name, ref in metadata.refs.items() if name != MAIN and _is_past(metadata, ref, now)))


def own_ages(metadata: TableMetadata, now: Millis, expiring: Collection[int]) -> tuple[str, ...]:
    """Branches and tags because of whose own ages Spark would remove more in an expiry that names the snapshots
    `expiring`: those past their age, and branches that have a snapshot age of their own, which has no floor there.
    """
    kept: set[int] = set()
    found = set(past_refs(metadata, now))
    branches = {name: ref for name, ref in metadata.refs.items() if ref.type == "branch" or name == MAIN}
    least = _number(metadata.properties.get(MIN_KEPT), 1)
    for ref in branches.values():
        own = ref.retention
        kept |= _of_branch(metadata, ref, now, own.get("max-snapshot-age-ms"), own.get("min-snapshots-to-keep", least))
    kept |= {ref.snapshot_id for ref in metadata.refs.values()} | set(expiring)
    for name, ref in branches.items():
        if any(snapshot_id not in kept for snapshot_id in metadata.ancestors(ref.snapshot_id)):
            found.add(name)
    return tuple(sorted(found))


def _own_rule(ref: SnapshotRef, rule: RetentionRule, floor: RetentionRule) -> RetentionRule:
    """Retention of a branch: its own where it has one, not below the floors."""
    age_ms = max(ref.retention.get("max-snapshot-age-ms", rule.age_ms), floor.age_ms, LEAST_AGE_MS)
    return RetentionRule(age_ms, max(ref.retention.get("min-snapshots-to-keep", rule.kept), floor.kept, LEAST_KEPT))


def _of_branch(metadata: TableMetadata, ref: SnapshotRef, now: Millis, age_ms: int | None, least: int) -> set[int]:
    """A branch's snapshot and those of its ancestors that its retention keeps. `age_ms` None: all of them."""
    times = ((each, metadata.snapshots[each].timestamp_ms) for each in metadata.ancestors(ref.snapshot_id))
    oldest = None if age_ms is None else to_micros(Millis(now - age_ms))
    newest_first = ((each, None if at is None else to_micros(at)) for each, at in times)
    return kept_on_branch(newest_first, oldest, least) | {ref.snapshot_id}


def kept_on_branch(newest_first: Iterable[tuple[int, Micros | None]], oldest: Micros | None, least: int) -> set[int]:
    """Snapshots of a branch, each with its instant, until one is older than `oldest` and enough are kept. None: all."""
    kept: set[int] = set()
    for snapshot_id, at in newest_first:
        if len(kept) >= least and oldest is not None and at is not None and at < oldest:
            break
        kept.add(snapshot_id)
    return kept


def _is_past(metadata: TableMetadata, ref: SnapshotRef, now: Millis) -> bool:
    snapshot = metadata.snapshots.get(ref.snapshot_id)
    limit = ref.retention.get("max-ref-age-ms") or _number(metadata.properties.get(MAX_REF_AGE), 0)
    at = None if snapshot is None else snapshot.timestamp_ms
    return bool(limit) and at is not None and now - at > limit


def is_staged(metadata: TableMetadata, snapshot_id: int) -> bool:
    """Whether a commit was staged by write-audit-publish and not published."""
    staged = (metadata.snapshots[snapshot_id].summary or {}).get("wap.id")
    if staged is None:
        return False
    return all((each.summary or {}).get("published-wap-id") != staged for each in metadata.snapshots.values())


def _number(text: str | None, otherwise: int) -> int:
    digits = (text or "").strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 18 else otherwise
