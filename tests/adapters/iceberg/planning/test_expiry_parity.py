"""What `expiry_at` says equals what Iceberg's own dry run of an expiry names, on random tables.

A plan differs from Iceberg on purpose, so the tables are given to Iceberg without what a plan keeps: maximum ages of
refs (a plan drops no branch or tag) and staged commits. Ages and numbers of snapshots are above a plan's floors.
"""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.adapters.iceberg.metadata.metadata import parse_metadata
from limnograph.analysis.advice.retention import HOUR_MS, Expiry, RetentionRule, expiry_at, own_ages, past_refs
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis
from metadata_writer import MetadataTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = 250
HALF_HOUR_MS = HOUR_MS // 2
EPOCH_DAY_MS = 24 * HOUR_MS


def random_history(folder: Path, seed: int, now: int) -> MetadataTable:
    """Commits at full hours before `now`, so that ages of a half hour more have no ties; branches, tags, rollbacks,
    staged and published commits, expired ancestors.
    """
    rng = random.Random(seed)
    table = MetadataTable(folder, version=rng.choice((1, 2, 2, 3)), seed=seed)
    table.now_ms = now - rng.randint(20, 400) * HOUR_MS
    table.tick = lambda _ms=0: None  # type: ignore[method-assign,assignment]
    for _ in range(rng.randint(3, 25)):
        table.now_ms = min(now - HOUR_MS, table.now_ms + rng.choice((0, 1, 4, 30)) * HOUR_MS)
        _step(table, rng)
    for ref in table.refs.values():
        _retain(ref, rng)
    table.write()
    return table


def _step(table: MetadataTable, rng: random.Random) -> None:
    known, kind = list(table.snapshots), rng.random()
    if kind < 0.5 or not known:
        table.append(branch=rng.choice(("main", "main", "main", "audit", "late")))
    elif kind < 0.6:
        table.set_ref(rng.choice(("v1", "v2", "v3")), rng.choice(known), "tag")
    elif kind < 0.7:
        table.set_main(rng.choice(known))
    elif kind < 0.8:
        table.set_ref(rng.choice(("audit", "late")), rng.choice(known), "branch")
    elif kind < 0.9:
        staged = table.stage(wap_id=str(rng.random()))
        if rng.random() < 0.5:
            table.cherry_pick(staged)
    else:
        heads = {ref["snapshot-id"] for ref in table.refs.values()}
        table.expire(*rng.sample(rest := [one for one in known if one not in heads], len(rest) // 3))


def _retain(ref: dict[str, Any], rng: random.Random) -> None:
    if ref["type"] == "branch" and rng.random() < 0.5:
        ref["max-snapshot-age-ms"] = rng.randint(24, 200) * HOUR_MS + HALF_HOUR_MS
    if ref["type"] == "branch" and rng.random() < 0.5:
        ref["min-snapshots-to-keep"] = rng.randint(2, 6)
    if rng.random() < 0.3:
        ref["max-ref-age-ms"] = rng.randint(1, 200) * HOUR_MS + HALF_HOUR_MS


class IcebergExpiry:
    """Iceberg's RemoveSnapshots on one metadata file, which commits nothing."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        java = spark._jvm
        io = java.org.apache.iceberg.hadoop.HadoopFileIO(spark._jsc.hadoopConfiguration())
        self._table = java.org.apache.iceberg.BaseTable(
            java.org.apache.iceberg.StaticTableOperations(location, io), "t"
        )

    def by_age(self, older_than: int, retain_last: int) -> set[int]:
        """`expire_snapshots(older_than, retain_last)`."""
        return self._ids(self._table.expireSnapshots().expireOlderThan(older_than).retainLast(retain_last))

    def named(self, snapshot_ids: frozenset[int]) -> set[int]:
        """The statement of a plan: `expire_snapshots(snapshot_ids, older_than => 1970-01-02)`."""
        removal = self._table.expireSnapshots()
        for snapshot_id in snapshot_ids:
            removal = removal.expireSnapshotId(snapshot_id)
        return self._ids(removal.expireOlderThan(EPOCH_DAY_MS))

    @staticmethod
    def _ids(removal: Any) -> set[int]:
        return {each.snapshotId() for each in removal.apply()}


def parsed(table: MetadataTable) -> TableMetadata:
    path = table.folder / "metadata" / table.metadata_location.rpartition("/")[2]
    return parse_metadata(path.read_bytes(), table.metadata_location)


def without_max_ages(table: MetadataTable) -> str:
    """The same table with refs that never expire; its location."""
    before = {name: dict(ref) for name, ref in table.refs.items()}
    for ref in table.refs.values():
        ref.pop("max-ref-age-ms", None)
    location = table.write()
    table.refs = before
    return location


def staged(table: MetadataTable, found: Expiry, expected: set[int]) -> set[int]:
    """What Iceberg removes beyond a plan: only staged commits that no one published."""
    rest = expected - found.snapshot_ids
    summaries = [table.snapshots[one]["summary"] for one in rest]
    published = {one["summary"].get("published-wap-id") for one in table.snapshots.values()}
    assert all(each.get("wap.id", None) not in {None, *published} for each in summaries), rest
    return rest


def test_snapshots_past_retention_are_those_that_iceberg_names(spark: SparkSession, tmp_path: Path) -> None:
    seen = {"expired": 0, "staged": 0, "past": 0, "unstated": 0, "stated": 0}
    for seed in range(TABLES):
        now = Millis(int(time.time() * 1_000))
        table = random_history(tmp_path / str(seed), seed, now)
        rng, metadata = random.Random(seed), parsed(table)
        rule = RetentionRule(rng.randint(24, 200) * HOUR_MS + HALF_HOUR_MS, rng.randint(2, 6))
        found = expiry_at(metadata, now, rule)
        expected = IcebergExpiry(spark, without_max_ages(table)).by_age(now - rule.age_ms, rule.kept)
        assert found.snapshot_ids <= expected, seed
        assert len(staged(table, found, expected)) == found.staged, seed
        seen["expired"] += len(found.snapshot_ids)
        seen["staged"] += found.staged
        seen["past"] += len(past_refs(metadata, now))
        if own_ages(metadata, now, found.snapshot_ids):
            seen["unstated"] += 1
        else:
            seen["stated"] += 1
            removed = IcebergExpiry(spark, metadata.metadata_location).named(found.snapshot_ids)
            assert removed == found.snapshot_ids, seed
        shutil.rmtree(table.folder)
    assert min(seen.values()) > 30, seen


def test_every_statement_that_is_withheld_would_remove_more(spark: SparkSession, tmp_path: Path) -> None:
    """A branch whose own age is below a plan's floor, or a ref past its age: Spark would remove more than the plan."""
    withheld = 0
    for seed in range(TABLES, TABLES + 60):
        now = Millis(int(time.time() * 1_000))
        table = random_history(tmp_path / str(seed), seed, now)
        for ref in table.refs.values():
            ref.pop("max-ref-age-ms", None)
            if ref["type"] == "branch":
                ref["max-snapshot-age-ms"] = HALF_HOUR_MS
        table.write()
        metadata = parsed(table)
        found = expiry_at(metadata, now, RetentionRule(48 * HOUR_MS + HALF_HOUR_MS, 2))
        removed = IcebergExpiry(spark, table.metadata_location).named(found.snapshot_ids)
        assert bool(own_ages(metadata, now, found.snapshot_ids)) is (removed != found.snapshot_ids), seed
        withheld += removed != found.snapshot_ids
        shutil.rmtree(table.folder)
    assert withheld > 10
