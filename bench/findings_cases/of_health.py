"""Cases of tables that cannot be read, and of commits that expired before they were read."""

from __future__ import annotations

import random
from pathlib import Path

from findings_cases.cases import fault, look_alike
from findings_cases.lake import GeneratedTable

LOST_METADATA = "https://github.com/apache/iceberg/issues/9618"
DELETED_METADATA = "https://github.com/apache/iceberg/issues/12016"
BROKEN_METADATA = "https://github.com/linkedin/openhouse/pull/576"
OLD_METADATA = "https://github.com/apache/iceberg/issues/6136"
LOST_DATA = "https://github.com/apache/iceberg/issues/8338"
ORPHANS = "https://github.com/apache/iceberg/issues/7258"
EXPIRED = "https://github.com/apache/incubator-xtable/issues/147"
STREAMS = "https://github.com/apache/iceberg/issues/9504"
PARENTS = "https://github.com/apache/iceberg-go/pull/671"
SINGLE = "https://github.com/apache/iceberg/issues/2221"


def _written(rng: random.Random, commits: tuple[int, int] = (3, 12)) -> GeneratedTable:
    """A table that was observed after each of its first commits."""
    table = GeneratedTable(rng)
    for _ in range(rng.randint(*commits)):
        table.later(rng.uniform(0.2, 12)).table.append(table.file("eu"))
        table.observe()
    return table


def _metadata(table: GeneratedTable) -> Path:
    return Path(table.table.metadata_location.removeprefix("file://"))


@fault("unreadable", LOST_METADATA)
def metadata_that_a_failed_commit_deleted(rng: random.Random) -> bool:
    table = _written(rng)
    table.later(1).table.append(table.file("eu"))
    _metadata(table).unlink()
    return table.opens("unreadable", rng.uniform(0.1, 60))


@fault("unreadable", BROKEN_METADATA)
def metadata_that_is_cut_or_overwritten(rng: random.Random) -> bool:
    table = _written(rng)
    table.later(1).table.append(table.file("eu"))
    path = _metadata(table)
    text = path.read_text()
    path.write_text(rng.choice((text[: rng.randrange(1, len(text) - 1)], "", "[]", "<html>503 Slow Down</html>")))
    return table.opens("unreadable", rng.uniform(0.1, 60))


@look_alike("unreadable", DELETED_METADATA)
def metadata_that_was_restored(rng: random.Random) -> bool:
    table = _written(rng)
    table.later(1).table.append(table.file("eu"))
    path = _metadata(table)
    text = path.read_text()
    path.unlink()
    table.look()
    table.later(rng.uniform(0.1, 20))
    path.write_text(text)
    return table.opens("unreadable", rng.uniform(0.1, 20))


@look_alike("unreadable", OLD_METADATA)
def older_metadata_files_that_a_lifecycle_rule_deleted(rng: random.Random) -> bool:
    table = _written(rng)
    current = _metadata(table)
    for path in current.parent.glob("*.metadata.json"):
        if path != current:
            path.unlink()
    table.later(1).table.append(table.file("eu"))
    return table.opens("unreadable", rng.uniform(0.1, 20))


@look_alike("unreadable", LOST_DATA)
def data_files_that_are_gone(rng: random.Random) -> bool:
    """Generated tables have no data files: only metadata is read."""
    table = _written(rng)
    table.later(1).table.delete(*table.table.files()[:1])
    return table.opens("unreadable", rng.uniform(0.1, 20))


@look_alike("unreadable", ORPHANS)
def files_that_no_commit_names(rng: random.Random) -> bool:
    table = _written(rng)
    folder = _metadata(table).parent
    (folder / f"{rng.randrange(90_000, 99_999)}-torn.metadata.json").write_text('{"format-version": 2, "snap')
    (folder / "snap-1.avro").write_bytes(b"Obj")
    return table.opens("unreadable", rng.uniform(0.1, 20))


def _burst_of(table: GeneratedTable, commits: int) -> list[int]:
    """Commits that no one observes; their snapshots."""
    return [table.later(0.01).table.append(table.file("eu")) for _ in range(commits)]


@fault("history_gap", EXPIRED)
def commits_that_expire_between_two_passes(rng: random.Random) -> bool:
    table = _written(rng)
    *lost, _ = _burst_of(table, rng.randint(2, 20))
    table.table.expire(*lost)
    return table.opens("history_gap", rng.uniform(0.1, 100))


@fault("history_gap", STREAMS)
def a_stream_that_keeps_one_snapshot(rng: random.Random) -> bool:
    table = _written(rng)
    for _ in range(rng.randint(2, 5)):
        _burst_of(table, rng.randint(2, 6))
        head = table.table.head()
        table.table.expire(*(each for each in list(table.table.snapshots) if each != head))
        table.observe()
        table.later(rng.uniform(0.1, 5))
    return table.opens("history_gap", rng.uniform(0.1, 100))


@look_alike("history_gap", PARENTS)
def an_expiry_of_commits_that_were_read(rng: random.Random) -> bool:
    table = _written(rng)
    head = table.table.head()
    table.table.expire(*(each for each in list(table.table.snapshots) if each != head))
    table.observe()
    table.later(1).table.append(table.file("eu"))
    return table.opens("history_gap", rng.uniform(0.1, 100))


@look_alike("history_gap", EXPIRED)
def a_history_that_had_expired_when_the_table_was_found(rng: random.Random) -> bool:
    table = GeneratedTable(rng)
    *lost, _ = _burst_of(table, rng.randint(3, 20))
    table.table.expire(*lost)
    table.observe()
    table.later(1).table.append(table.file("eu"))
    return table.opens("history_gap", rng.uniform(0.1, 100))


@look_alike("history_gap", SINGLE)
def an_expiry_of_single_snapshots_that_were_read(rng: random.Random) -> bool:
    """Compactions, say, from the middle of the history."""
    table = _written(rng, (6, 14))
    middle = list(table.table.snapshots)[1:-1]
    table.table.expire(*rng.sample(middle, rng.randint(1, len(middle) // 2)))
    table.later(1).table.append(table.file("eu"))
    return table.opens("history_gap", rng.uniform(0.1, 100))


@look_alike("history_gap", STREAMS)
def many_commits_between_two_passes(rng: random.Random) -> bool:
    """Sequence numbers and times jump, but every commit is still there."""
    table = _written(rng)
    table.later(rng.uniform(2, 200))
    _burst_of(table, rng.randint(5, 40))
    return table.opens("history_gap", rng.uniform(0.1, 100))


@look_alike("history_gap", EXPIRED)
def a_gap_of_last_week(rng: random.Random) -> bool:
    table = _written(rng)
    *lost, _ = _burst_of(table, rng.randint(2, 20))
    table.table.expire(*lost)
    table.observe()
    return table.opens("history_gap", rng.uniform(7.2, 20) * 24)
