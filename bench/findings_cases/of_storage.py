"""Cases of storage that the past holds, of readers that an expiry hits, and of small changes that write much."""

from __future__ import annotations

import random

from findings_cases.cases import fault, look_alike
from findings_cases.scene import DAY, GIB, HOUR, MIB, MINUTE, START, Scene
from limnograph.analysis.advice.own_retention import OwnRetention
from limnograph.analysis.advice.readers import DeclaredReader, RetainedRef, RetainedSnapshot, TableRead
from limnograph.analysis.findings.storage.held_bytes import held_levels
from limnograph.analysis.findings.storage.readers_at_risk import at_risk_levels
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

FILES_STAY = "https://github.com/apache/iceberg/issues/1476"
REFS = "https://github.com/apache/iceberg/pull/8224"
MONTHLY = "https://github.com/apache/iceberg/issues/8410"
STREAMS = "https://github.com/apache/iceberg/issues/18000"
REBUILT = "https://github.com/apache/iceberg/issues/9504"
INITIAL = "https://github.com/apache/iceberg/pull/2660"
WRITES = "https://github.com/trinodb/trino/pull/28958"
MODES = "https://github.com/apache/iceberg/pull/3432"
TINY = "https://github.com/apache/texera/pull/3286"
BLOCKS = "https://github.com/ClickHouse/ClickHouse/issues/86277"


def _holds(rng: random.Random, live: int, ages: list[tuple[int, int]], days: int = 5, **refs: int) -> bool:
    held = TableBytes(live=live, held=2 * live, metadata=MIB, by_ref=refs, by_age=ages)
    tags = [RetainedRef(name, 1, rng.random() < 0.5) for name in refs]
    rule = OwnRetention(days * DAY, rng.choice((1, 10, 100)))
    return any(each.is_over for each in held_levels(held, rule, tags, FindingLimits()))


@fault("held_bytes", FILES_STAY)
def weeks_of_rewritten_files(rng: random.Random) -> bool:
    live = rng.randint(5, 5_000) * GIB
    size = round(max(GIB, 0.05 * live) * rng.uniform(1.05, 20))
    return _holds(rng, live, [(0, 3 * size), (rng.randint(5, 30), size)])


@fault("held_bytes", REFS)
def a_tag_of_last_year(rng: random.Random) -> bool:
    live = rng.randint(5, 5_000) * GIB
    return _holds(rng, live, [(0, MIB)], **{"release-2025": round(max(GIB, 0.05 * live) * rng.uniform(1.05, 20))})


@look_alike("held_bytes", MONTHLY)
def history_within_the_retention(rng: random.Random) -> bool:
    live, days = rng.randint(5, 5_000) * GIB, rng.randint(7, 30)
    return _holds(rng, live, [(0, 4 * live), (days - 2, live), (days + 3, rng.randint(0, 900) * MIB)], days)


@look_alike("held_bytes", "https://github.com/apache/iceberg/issues/2793")
def little_beside_a_large_table(rng: random.Random) -> bool:
    live = rng.randint(200, 9_000) * GIB
    return _holds(rng, live, [(0, live), (7, round(live * rng.uniform(0.005, 0.045)))], audit=round(live * 0.03))


@look_alike("held_bytes", REFS)
def a_tag_that_shares_its_files(rng: random.Random) -> bool:
    live = rng.randint(5, 5_000) * GIB
    return _holds(
        rng, live, [(0, MIB)], **{f"v{place}": rng.randint(0, 900) * MIB for place in range(rng.randint(1, 9))}
    )


def _at_risk(
    rng: random.Random,
    reads: list[tuple[int, int]],
    rule: OwnRetention | None = None,
    refs: tuple[RetainedRef, ...] = (),
    lag: int = 0,
) -> bool:
    """A table with a commit an hour for ten days. `reads`: hours before now of the snapshot, and of its read."""
    now = Micros(START + rng.randrange(DAY))
    snapshots = [RetainedSnapshot(hours, Micros(now - hours * HOUR)) for hours in range(240, 0, -1)]
    seen = [TableRead("job", hours, Micros(now - at * HOUR - rng.randint(0, 10) * MINUTE)) for hours, at in reads]
    declared = [DeclaredReader("job", lag)] if lag else []
    rule = OwnRetention(5 * DAY) if rule is None else rule
    found = at_risk_levels(seen, snapshots, [RetainedRef("main", 1), *refs], rule, declared, now=now)
    return any(each.is_over for each in found)


@fault("reader_at_risk", STREAMS)
def a_stream_declared_with_a_longer_lag(rng: random.Random) -> bool:
    return _at_risk(rng, [], lag=rng.randint(6, 9) * DAY)


@fault("reader_at_risk", REBUILT)
def a_stream_that_falls_behind(rng: random.Random) -> bool:
    behind = rng.randint(100, 118)
    return _at_risk(rng, [(behind + 20 - step, 20 - step) for step in range(19)], OwnRetention(behind * HOUR))


@fault("reader_at_risk", "https://www.dremio.com/blog/apache-iceberg-and-the-right-to-be-forgotten/")
def a_training_job_on_one_snapshot(rng: random.Random) -> bool:
    pinned = rng.randint(100, 115)
    return _at_risk(rng, [(pinned, at) for at in range(pinned - 10, 0, -rng.randint(8, 20))])


@look_alike("reader_at_risk", INITIAL)
def a_stream_within_the_retention(rng: random.Random) -> bool:
    behind = rng.randint(2, 20)
    return _at_risk(rng, [(behind + 20 - step, 20 - step) for step in range(19)])


@look_alike("reader_at_risk", "https://github.com/apache/iceberg/issues/2319")
def reports_of_the_head(rng: random.Random) -> bool:
    return _at_risk(rng, [(at + 1, at + 1) for at in range(rng.randint(50, 200), 0, -rng.randint(1, 5))])


@look_alike("reader_at_risk", REFS)
def a_training_job_on_a_tag(rng: random.Random) -> bool:
    pinned = rng.randint(100, 200)
    tag = RetainedRef("model-7", pinned, is_tag=True)
    return _at_risk(rng, [(pinned, at) for at in range(90, 0, -12)], refs=(tag,))


@look_alike("reader_at_risk", "https://github.com/apache/iceberg/issues/6388")
def an_analyst_of_last_week(rng: random.Random) -> bool:
    return _at_risk(rng, [(rng.randint(160, 230), 150), (rng.randint(160, 230), 149)])


def _tiny(rng: random.Random, commits: int, rows: int, size: int, **more: int) -> bool:
    scene = Scene(rng)
    total = rng.randint(10**6, 10**9)
    gap = DAY // (commits + 20)
    for _ in range(commits + 10):
        changed = max(1, round(rows * rng.uniform(0.3, 1.3)))
        total += changed if not more else 0
        added = more.get("again", changed)
        scene.commit(
            gap,
            added_data_files=1,
            added_bytes=round(size * rng.uniform(0.9, 1.1)),
            added_records=added,
            total_records=total,
        )
    return scene.opens("tiny_commits")


@fault("tiny_commits", TINY)
def a_commit_per_event(rng: random.Random) -> bool:
    return _tiny(rng, rng.randint(210, 1_400), rng.randint(1, 60), rng.randint(2_000, 90_000))


@look_alike("tiny_commits", "https://github.com/apache/iceberg/issues/2723")
def micro_batches_of_thousands_of_rows(rng: random.Random) -> bool:
    return _tiny(rng, rng.randint(210, 1_400), rng.randint(500, 90_000), rng.randint(10**5, 10**7))


@look_alike("tiny_commits", BLOCKS)
def a_few_rows_a_few_times_an_hour(rng: random.Random) -> bool:
    return _tiny(rng, rng.randint(10, 170), rng.randint(1, 60), rng.randint(2_000, 90_000))


@look_alike("tiny_commits", "https://github.com/apache/iceberg/pull/6335")
def few_rows_that_are_large(rng: random.Random) -> bool:
    return _tiny(rng, rng.randint(210, 600), rng.randint(1, 60), rng.randint(300, 600) * MIB)


@look_alike("tiny_commits", "https://github.com/trinodb/trino/pull/27844")
def merges_whose_changes_are_not_known(rng: random.Random) -> bool:
    return _tiny(rng, rng.randint(210, 600), 1, rng.randint(10**6, 10**8), again=rng.randint(10_000, 900_000))


def _rewrites(rng: random.Random, commits: int, share: float, dropped: float, **more: int) -> bool:
    """Commits that each write a share of the table again and drop a share of these rows."""
    scene = Scene(rng)
    files, rows = rng.randint(40, 2_000), rng.randint(10**6, 10**9)
    touched = more.get("files", max(1, round(files * share)))
    scene.commit(added_data_files=1, total_data_files=files, total_records=rows, added_records=1, added_bytes=MIB)
    for _ in range(commits):
        again = round(rows * share)
        kept = round(again * (1 - dropped * rng.uniform(0.2, 1)))
        rows -= again - kept
        scene.commit(
            6 * DAY // commits, "overwrite", added_data_files=touched, removed_data_files=touched, added_records=kept,
            added_bytes=round(share * scene.size), total_data_files=files, total_records=rows,
            added_delete_files=more.get("deletes", 0),
        )  # fmt: skip
    return scene.opens("write_mode_mismatch")


@fault("write_mode_mismatch", WRITES)
def updates_of_a_few_rows(rng: random.Random) -> bool:
    return _rewrites(rng, rng.randint(12, 60), rng.uniform(0.12, 0.6), rng.choice((0.0, 0.005, 0.009)))


@look_alike("write_mode_mismatch", "https://github.com/apache/iceberg-python/pull/363")
def a_table_that_is_reloaded(rng: random.Random) -> bool:
    scene = Scene(rng)
    files, rows = rng.randint(40, 2_000), rng.randint(10**6, 10**9)
    for _ in range(rng.randint(12, 60)):
        scene.commit(
            2 * HOUR, "overwrite", added_data_files=files, removed_data_files=files, added_records=rows,
            added_bytes=scene.size, total_data_files=files, total_records=rows,
        )  # fmt: skip
    return scene.opens("write_mode_mismatch")


@look_alike("write_mode_mismatch", MODES)
def occasional_erasures(rng: random.Random) -> bool:
    return _rewrites(rng, rng.randint(2, 8), rng.uniform(0.2, 0.8), 0.005)


@look_alike("write_mode_mismatch", "https://github.com/apache/iceberg/issues/6928")
def merges_into_the_newest_partition(rng: random.Random) -> bool:
    commits = rng.randint(12, 100)
    return _rewrites(rng, commits, rng.uniform(0.1, 0.8) / commits, 0.005)


@look_alike("write_mode_mismatch", MODES)
def deletions_of_much(rng: random.Random) -> bool:
    scene = Scene(rng)
    files, rows = rng.randint(400, 2_000), rng.randint(10**8, 10**9)
    for _ in range(rng.randint(12, 30)):
        again = rows // 4
        kept = round(again * rng.uniform(0.5, 0.95))
        rows -= again - kept
        scene.commit(
            4 * HOUR, "overwrite", added_data_files=100, removed_data_files=120, added_records=kept,
            added_bytes=scene.size // 4, total_data_files=files, total_records=rows,
        )  # fmt: skip
    return scene.opens("write_mode_mismatch")


@look_alike("write_mode_mismatch", WRITES)
def merges_that_add_delete_files(rng: random.Random) -> bool:
    return _rewrites(rng, rng.randint(12, 60), rng.uniform(0.12, 0.6), 0.005, deletes=1)
