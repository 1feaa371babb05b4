"""Cases of group metadata: snapshots, metadata files, manifests."""

from __future__ import annotations

import random

from findings_cases.cases import fault, look_alike
from findings_cases.scene import DAY, HOUR, MIB, MINUTE, Scene

FOREVER = "https://github.com/apache/iceberg/issues/4901"
LONG_LOGS = "https://github.com/apache/iceberg/issues/7383"
FAST_APPENDS = "https://github.com/trinodb/trino/pull/10105"
MERGES = "https://github.com/apache/iceberg/pull/420"
TARGETS = "https://github.com/apache/iceberg/issues/307"
KEPT_FILES = "https://github.com/apache/iceberg/issues/2931"


def _kept(rng: random.Random, gap: int, commits: int, keeps: int) -> Scene:
    """A table that keeps its newest snapshots only."""
    scene = Scene(rng)
    for place in range(commits):
        scene.commit(gap, live_snapshots=min(place + 1, keeps), added_data_files=1)
    return scene


@fault("snapshots_unbounded", FOREVER)
def snapshots_that_no_one_expires(rng: random.Random) -> bool:
    days, gap = rng.randint(7, 25), rng.choice((10, 15, 20)) * MINUTE
    commits = days * DAY // gap
    return _kept(rng, gap, commits, commits).opens("snapshots_unbounded")


@look_alike("snapshots_unbounded", "https://github.com/apache/iceberg/issues/2723")
def a_stream_that_expires_daily(rng: random.Random) -> bool:
    return _kept(rng, MINUTE, rng.randint(1_500, 2_500), rng.randint(900, 1_440)).opens("snapshots_unbounded")


@look_alike("snapshots_unbounded", "https://github.com/apache/iceberg/issues/8410")
def a_retention_of_a_month(rng: random.Random) -> bool:
    days = rng.randint(8, 25)
    scene = Scene(rng)
    scene.table.change(0, "property", None, str(30 * DAY // 1_000), subject="history.expire.max-snapshot-age-ms")
    for place in range(days * 48):
        scene.commit(30 * MINUTE, live_snapshots=place + 1)
    return scene.opens("snapshots_unbounded")


@look_alike("snapshots_unbounded", "https://github.com/apache/iceberg/pull/8224")
def a_few_hundred_old_snapshots(rng: random.Random) -> bool:
    commits = rng.randint(100, 490)
    return _kept(rng, 25 * DAY // commits, commits, commits).opens("snapshots_unbounded")


def _measured(rng: random.Random, **columns: float) -> Scene:
    scene = Scene(rng)
    for _ in range(rng.randint(3, 10)):
        scene.commit(**{name: round(value * rng.uniform(0.98, 1.02)) for name, value in columns.items()})
    return scene


@fault("metadata_large", LONG_LOGS)
def metadata_of_many_snapshots(rng: random.Random) -> bool:
    return _measured(rng, metadata_bytes=rng.uniform(5.3, 60) * MIB, live_snapshots=9_000).opens("metadata_large")


@look_alike("metadata_large", "https://github.com/apache/iceberg/issues/6800")
def metadata_of_a_wide_schema(rng: random.Random) -> bool:
    return _measured(rng, metadata_bytes=rng.uniform(1, 4.8) * MIB, live_snapshots=200).opens("metadata_large")


@look_alike("metadata_large", LONG_LOGS)
def metadata_just_before_an_expiry(rng: random.Random) -> bool:
    scene = _measured(rng, metadata_bytes=4.6 * MIB)
    scene.commit(metadata_bytes=round(rng.uniform(5.1, 6) * MIB))
    scene.commit(rng.randint(1, 8) * MINUTE, metadata_bytes=round(rng.uniform(0.2, 3.5) * MIB))
    return scene.opens("metadata_large")


@look_alike("metadata_large", "https://github.com/apache/iceberg/issues/1050")
def metadata_that_was_shortened(rng: random.Random) -> bool:
    scene = _measured(rng, metadata_bytes=rng.uniform(6, 40) * MIB)
    scene.commit(2 * HOUR, metadata_bytes=round(rng.uniform(0.2, 3.5) * MIB))
    return scene.opens("metadata_large", 2 * HOUR)


@fault("manifests_fragmented", FAST_APPENDS)
def a_manifest_per_commit(rng: random.Random) -> bool:
    manifests = rng.randint(150, 4_000)
    return _measured(rng, manifests=manifests, manifest_bytes=manifests * rng.uniform(0.005, 0.3) * MIB).opens(
        "manifests_fragmented"
    )


@look_alike("manifests_fragmented", TARGETS)
def as_many_manifests_as_their_bytes_need(rng: random.Random) -> bool:
    manifests = rng.randint(150, 4_000)
    return _measured(rng, manifests=manifests, manifest_bytes=manifests * rng.uniform(5, 8) * MIB).opens(
        "manifests_fragmented"
    )


@look_alike("manifests_fragmented", FAST_APPENDS)
def manifests_before_the_next_merge(rng: random.Random) -> bool:
    manifests = rng.randint(30, 95)
    return _measured(rng, manifests=manifests, manifest_bytes=manifests * rng.uniform(0.01, 0.3) * MIB).opens(
        "manifests_fragmented"
    )


@look_alike("manifests_fragmented", MERGES)
def a_table_that_wants_small_manifests(rng: random.Random) -> bool:
    scene, manifests, target = Scene(rng), rng.randint(150, 1_000), rng.choice((1, 2)) * MIB
    scene.table.change(0, "property", None, str(target), subject="commit.manifest.target-size-bytes")
    for _ in range(4):
        scene.commit(manifests=manifests, manifest_bytes=round(manifests * target * rng.uniform(0.7, 1.0)))
    return scene.opens("manifests_fragmented")


@fault("metadata_versions_kept", KEPT_FILES)
def metadata_files_that_no_one_deletes(rng: random.Random) -> bool:
    return _measured(rng, metadata_log_entries=rng.randint(110, 9_000)).opens("metadata_versions_kept")


@look_alike("metadata_versions_kept", KEPT_FILES)
def metadata_files_that_are_deleted_after_commits(rng: random.Random) -> bool:
    scene = Scene(rng)
    scene.table.change(0, "property", None, "true", subject="write.metadata.delete-after-commit.enabled")
    for _ in range(4):
        scene.commit(metadata_log_entries=rng.randint(110, 2_000))
    return scene.opens("metadata_versions_kept")


@look_alike("metadata_versions_kept", "https://github.com/apache/iceberg/pull/13432")
def the_hundred_that_the_format_tracks(rng: random.Random) -> bool:
    return _measured(rng, metadata_log_entries=rng.randint(20, 97)).opens("metadata_versions_kept")


@look_alike("metadata_versions_kept", "https://github.com/apache/iceberg/pull/631")
def a_log_that_was_cut(rng: random.Random) -> bool:
    scene = _measured(rng, metadata_log_entries=rng.randint(110, 900))
    scene.commit(2 * HOUR, metadata_log_entries=rng.randint(5, 75))
    return scene.opens("metadata_versions_kept", 2 * HOUR)
