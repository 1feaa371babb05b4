"""Cases of group files: bursts, debt, too many files, compaction that stopped or does nothing."""

from __future__ import annotations

import random

from findings_cases.cases import fault, look_alike
from findings_cases.lake import GeneratedTable
from findings_cases.scene import DAY, HOUR, MIB, MINUTE, Scene

STREAMS = "https://github.com/apache/iceberg/issues/1061"
CDC = "https://github.com/viggy28/streambed/issues/48"
SKEWED_WRITES = "https://github.com/apache/iceberg/pull/16855"
GROUPS = "https://github.com/apache/amoro/issues/2330"
PLANNING = "https://github.com/apache/datafusion-ballista/issues/1617"
LIMITED = "https://github.com/apache/iceberg/issues/5675"


def _regular(rng: random.Random, most: int = 20) -> Scene:
    scene = Scene(rng)
    scene.live = rng.randint(500, 5_000)
    for _ in range(rng.randint(8, 40)):
        added = rng.randint(1, most)
        scene.live += added
        size = round(added * scene.target * rng.uniform(0.05, 1.0))
        scene.commit(added_data_files=added, added_bytes=size, total_data_files=scene.live)
    return scene


def _burst(scene: Scene, files: int, share: float, operation: str = "append") -> bool:
    size = round(files * share * scene.target)
    live = scene.live + files
    scene.commit(operation=operation, added_data_files=files, added_bytes=size, total_data_files=live)
    return scene.opens("file_burst")


@fault("file_burst", STREAMS)
def one_commit_of_many_small_files(rng: random.Random) -> bool:
    return _burst(_regular(rng), rng.randint(1_050, 20_000), rng.uniform(0.001, 0.2))


@fault("file_burst", CDC)
def several_commits_within_minutes(rng: random.Random) -> bool:
    scene = _regular(rng)
    for _ in range(4):
        files = rng.randint(400, 3_000)
        scene.live += files
        size = round(files * rng.uniform(0.001, 0.2) * scene.target)
        scene.commit(MINUTE, added_data_files=files, added_bytes=size, total_data_files=scene.live)
    return scene.opens("file_burst")


@look_alike("file_burst", "https://github.com/apache/iceberg/issues/2723")
def backfill_of_large_files(rng: random.Random) -> bool:
    return _burst(_regular(rng), rng.randint(1_050, 20_000), rng.uniform(0.3, 1.0))


@look_alike("file_burst", SKEWED_WRITES)
def writer_that_always_adds_thousands(rng: random.Random) -> bool:
    scene, usual = Scene(rng), rng.randint(1_000, 4_000)
    scene.live = 50_000
    for _ in range(rng.randint(20, 40)):
        added = rng.randint(usual * 8 // 10, usual)
        scene.commit(12 * HOUR, added_data_files=added, added_bytes=added * MIB, total_data_files=scene.live)
    return _burst(scene, rng.randint(usual, 3 * usual), 0.05)


@look_alike("file_burst", "https://github.com/apache/iceberg/issues/5675")
def compaction_that_writes_many_files(rng: random.Random) -> bool:
    return _burst(_regular(rng), rng.randint(1_050, 5_000), rng.uniform(0.05, 0.2), "replace")


@look_alike("file_burst", CDC)
def usual_micro_batches(rng: random.Random) -> bool:
    return _burst(_regular(rng, 150), rng.randint(150, 600), rng.uniform(0.01, 0.2))


def _small(rng: random.Random, files: int, share: float, partitions: int, **properties: str) -> bool:
    """Files of a share of the target, added by several commits and spread over partitions."""
    table = GeneratedTable(rng, **properties)
    regions = [f"r{place}" for place in range(partitions)]
    added = [table.file(regions[place % partitions], share=share * rng.uniform(0.8, 1.0)) for place in range(files)]
    for start in range(0, files, max(1, files // 5)):
        table.later(rng.uniform(0.2, 3)).table.append(*added[start : start + max(1, files // 5)])
    table.later(0.3).table.append(table.file("r0"))
    return table.opens("small_files")


@fault("small_files", STREAMS)
def micro_batches_never_compacted(rng: random.Random) -> bool:
    return _small(rng, rng.randint(60, 300), rng.uniform(0.005, 0.15), rng.randint(1, 6))


@fault("small_files", GROUPS)
def segments_at_a_quarter_of_the_target(rng: random.Random) -> bool:
    return _small(rng, rng.randint(100, 300), rng.uniform(0.15, 0.3), rng.randint(1, 3))


@look_alike("small_files", SKEWED_WRITES)
def one_small_file_in_each_of_many_partitions(rng: random.Random) -> bool:
    files = rng.randint(60, 300)
    return _small(rng, files, rng.uniform(0.01, 0.2), files)


@look_alike("small_files", GROUPS)
def files_of_the_tables_own_target(rng: random.Random) -> bool:
    return _small(rng, rng.randint(60, 300), rng.uniform(0.95, 1.2), rng.randint(1, 6))


@look_alike("small_files", LIMITED)
def a_day_before_the_next_compaction(rng: random.Random) -> bool:
    return _small(rng, rng.randint(6, 19), rng.uniform(0.01, 0.3), 1)


@fault("too_many_files", PLANNING)
def hundreds_of_thousands_of_files(rng: random.Random) -> bool:
    scene, files = Scene(rng), rng.randint(101_000, 600_000)
    size = round(files * scene.target * rng.uniform(0.01, 0.7))
    for _ in range(4):
        scene.commit(total_bytes=size, total_data_files=files, partition_files_max=rng.randint(50, 9_000))
    return scene.opens("too_many_files")


@fault("too_many_files", PLANNING)
def one_partition_with_thousands_of_files(rng: random.Random) -> bool:
    scene, files = Scene(rng), rng.randint(10_100, 60_000)
    size = round(files * scene.target * rng.uniform(0.01, 0.7))
    for _ in range(4):
        scene.commit(total_bytes=size, total_data_files=files + rng.randint(0, 9_000), partition_files_max=files)
    return scene.opens("too_many_files")


@look_alike("too_many_files", "https://github.com/apache/iceberg/issues/307")
def a_table_of_petabytes(rng: random.Random) -> bool:
    scene, files = Scene(rng), rng.randint(101_000, 900_000)
    size = round(files * scene.target * rng.uniform(0.77, 1.1))
    for _ in range(4):
        scene.commit(total_bytes=size, total_data_files=files, partition_files_max=rng.randint(50, 9_000))
    return scene.opens("too_many_files")


@look_alike("too_many_files", SKEWED_WRITES)
def many_partitions_with_few_files_each(rng: random.Random) -> bool:
    scene = Scene(rng)
    for _ in range(4):
        scene.commit(total_data_files=rng.randint(40_000, 99_000), partition_files_max=rng.randint(1, 9_900))
    return scene.opens("too_many_files")


@look_alike("too_many_files", "https://github.com/apache/iceberg/issues/5675")
def a_commit_whose_files_are_merged_at_once(rng: random.Random) -> bool:
    scene = Scene(rng)
    scene.commit(total_data_files=90_000).commit(total_data_files=rng.randint(101_000, 120_000))
    scene.commit(rng.randint(1, 8) * MINUTE, "replace", total_data_files=rng.randint(20_000, 79_000))
    return scene.opens("too_many_files")


def _compacted(rng: random.Random, gap: int, times: int, left: int = 0) -> Scene:
    scene = Scene(rng)
    scene.live = rng.randint(800, 5_000)
    for _ in range(times):
        debt = rng.randint(100, 400)
        for _ in range(4):
            scene.commit(
                gap // 5, added_data_files=20, debt_files=debt, debt_saved_files=debt - 10, total_data_files=scene.live
            )
        done = {"debt_files": left, "debt_saved_files": left}
        scene.commit(gap // 5, "replace", removed_data_files=debt, total_data_files=scene.live, **done)
    return scene


@fault("compaction_stopped", "https://github.com/apache/amoro/issues/948")
def compaction_that_no_longer_comes(rng: random.Random) -> bool:
    gap = rng.randint(2, 24) * HOUR
    scene = _compacted(rng, gap, rng.randint(3, 6))
    silence, saved = max(3 * gap, DAY) + rng.randint(1, 20) * HOUR, rng.randint(120, 900)
    for _ in range(10):
        scene.commit(silence // 10, debt_files=saved + 20, debt_saved_files=saved, total_data_files=scene.live)
    return scene.opens("compaction_stopped")


@look_alike("compaction_stopped", "https://github.com/apache/iceberg/pull/16855")
def nothing_left_to_compact(rng: random.Random) -> bool:
    scene = _compacted(rng, rng.randint(2, 24) * HOUR, rng.randint(3, 6))
    for _ in range(10):
        scene.commit(12 * HOUR, debt_files=rng.randint(0, 5), debt_saved_files=0, total_data_files=scene.live)
    return scene.opens("compaction_stopped")


@look_alike("compaction_stopped", "https://github.com/dbt-labs/dbt-core/issues/4450")
def a_weekly_compaction(rng: random.Random) -> bool:
    scene = _compacted(rng, 7 * DAY, rng.randint(3, 4))
    for _ in range(10):
        scene.commit(DAY, debt_files=300, debt_saved_files=rng.randint(100, 280), total_data_files=scene.live)
    return scene.opens("compaction_stopped")


@look_alike("compaction_stopped", "https://github.com/apache/iceberg/issues/1061")
def a_table_that_is_no_longer_written(rng: random.Random) -> bool:
    scene = _compacted(rng, rng.randint(2, 24) * HOUR, rng.randint(3, 6))
    return scene.opens("compaction_stopped", rng.randint(3, 9) * DAY)


@fault("compaction_ineffective", "https://github.com/apache/amoro/issues/2330")
def rewrites_that_leave_the_debt(rng: random.Random) -> bool:
    scene = _compacted(rng, rng.randint(2, 12) * HOUR, 2)
    debt = rng.randint(300, 1_000)
    for _ in range(2):
        scene.commit(debt_files=debt, debt_saved_files=debt - 20, total_data_files=scene.live)
        left = debt - rng.randint(0, debt // 12)
        rewritten = rng.randint(25, 200)
        scene.commit(
            operation="replace", removed_data_files=rewritten, debt_files=left, debt_saved_files=left - 20,
            total_data_files=scene.live,
        )  # fmt: skip
    return scene.opens("compaction_ineffective")


@look_alike("compaction_ineffective", "https://github.com/apache/iceberg/issues/5675")
def partial_progress_that_gets_somewhere(rng: random.Random) -> bool:
    scene = _compacted(rng, rng.randint(2, 12) * HOUR, 2)
    debt = rng.randint(400, 1_000)
    for _ in range(4):
        scene.commit(debt_files=debt, debt_saved_files=debt - 20, total_data_files=scene.live)
        left = round(debt * rng.uniform(0.5, 0.85))
        scene.commit(
            operation="replace", removed_data_files=debt - left + 20, debt_files=left, debt_saved_files=left - 20,
            total_data_files=scene.live,
        )  # fmt: skip
        debt = left
    return scene.opens("compaction_ineffective")


@look_alike("compaction_ineffective", "https://github.com/apache/iceberg/pull/2867")
def one_rewrite_beside_a_writer(rng: random.Random) -> bool:
    scene = _compacted(rng, rng.randint(2, 12) * HOUR, 2)
    for left in (rng.randint(290, 300), rng.randint(0, 40)):
        scene.commit(debt_files=300, debt_saved_files=280, total_data_files=scene.live)
        scene.commit(
            operation="replace", removed_data_files=90, debt_files=left, debt_saved_files=0, total_data_files=scene.live
        )
    return scene.opens("compaction_ineffective")


@look_alike("compaction_ineffective", "https://github.com/apache/iceberg/pull/200")
def rewrites_of_manifests(rng: random.Random) -> bool:
    scene = _compacted(rng, rng.randint(2, 12) * HOUR, 2)
    for _ in range(3):
        scene.commit(debt_files=300, debt_saved_files=280, total_data_files=scene.live)
        scene.commit(
            operation="replace",
            removed_data_files=rng.choice((0, 0, 15)),
            debt_files=300,
            debt_saved_files=280,
            total_data_files=scene.live,
        )
    return scene.opens("compaction_ineffective")
