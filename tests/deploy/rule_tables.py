"""Tables that are scraped, each a case of the alert rules: what happens, which scrapes fail, and what must fire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rule_lake import MB, TARGET, Gap, Table

MINUTE, HOUR = 60, 3_600
AT = 2_707
"""When it happens: no multiple of any interval."""
BURST = {"SmallFileProliferation": 1}


class Case(NamedTuple):
    """A table, the scrapes that fail, and how often alerts begin to fire. `ends`: alerts that still fire at the end."""

    table: Table
    fires: dict[str, int]
    gaps: tuple[Gap, ...] = ()
    ends: frozenset[str] = frozenset()
    new_files: int | None = None


def steady(files: int, size: int = MB, until: float = 2 * HOUR, every: int = MINUTE) -> Table:
    """Equal commits. So many files that small ones stay few among them."""
    table = Table(files=200_000)
    for at in range(37, int(until), every):
        table.append(at, files, size)
    return table


def big() -> Table:
    return Table().append(AT, 50_000, TARGET)


def burst(files: int = 50_000, at: float = AT) -> Table:
    return Table(files=200_000).append(at, files)


def missed(seconds: float, at: float = AT - 2 * MINUTE, *, marked: bool = True) -> tuple[Gap, ...]:
    return (Gap(at, at + seconds, marked),)


def one_in_five(interval: int, until: float, *, marked: bool = True) -> tuple[Gap, ...]:
    """Every fifth scrape fails, from the second minute on."""
    return tuple(Gap(at, at + interval, marked) for at in range(2 * MINUTE, int(until), 5 * interval))


def moved(table: Table) -> Table:
    """An exporter with fresh counters."""
    return table.forget_counters(AT)


def short_cases(interval: int) -> dict[str, Case]:
    """Two hours."""
    ten, some = 10 * MINUTE, one_in_five(interval, 2 * HOUR)
    retries = {"LakehouseCommitContention": 1}
    every, quiet = {"SmallFileProliferation": 1}, dict[str, int]()
    level = {"snapshots": 5_000, "metadata_bytes": 1e8, "partition_skew_ratio": 40}
    levels = {"LakehouseSnapshotsTooMany": 1, "LakehouseMetadataGrowing": 1, "LakehousePartitionSkew": 1}
    backlog = {"LakehouseCompactionBacklog": 1}
    return {
        "burst": Case(burst(), every, new_files=50_000),
        "burst, counters only known": Case(burst().put(0, data_files=None, small_files=None, bytes=None), every),
        "burst, sizes unknown": Case(burst().put(0, small_files=None, bytes=None, added_bytes_total=None), every),
        "burst of 1,100": Case(burst(1_100), every, new_files=1_100),
        "burst of 900": Case(burst(900), quiet, new_files=900),
        "burst of 900, scrapes missing": Case(burst(900), quiet, some, new_files=900),
        "burst in two halves": Case(burst(600).append(AT + 200, 600), every, new_files=1_200),
        "burst while not scraped": Case(burst(2_000), every, missed(ten)),
        "burst while not scraped, no markers": Case(burst(2_000), every, missed(ten, marked=False)),
        "burst in steady growth, while not scraped": Case(steady(150).append(AT, 3_000), every, missed(ten)),
        "burst, then not scraped": Case(burst(), every, missed(ten, AT + 90)),
        "burst that compaction merges": Case(burst().compact(AT + 130, 49_900, 100), every),
        "burst, counters lost before": Case(burst().forget_counters(AT - 150), every),
        "burst and big files at once": Case(burst(1_500).append(AT + 30, 5_000, TARGET), every),
        "backfill of big files": Case(big(), quiet),
        "backfill of big files, small ones unknown": Case(big().put(0, small_files=None), quiet),
        "backfill of big files, counters unknown": Case(
            big().put(0, small_files=None, added_data_files_total=None, added_bytes_total=None), quiet
        ),
        "backfill of big files, counters begin later": Case(
            big().put(0, added_data_files_total=None, added_bytes_total=None).put(AT + 99, added_data_files_total=0),
            quiet,
        ),
        "backfill of big files, scrapes missing": Case(big(), quiet, some),
        "backfill of big files, not scraped": Case(big(), quiet, missed(ten)),
        "backfill of big files, then not scraped": Case(big(), quiet, missed(ten, AT + 90, marked=False)),
        "backfill of big files, small unknown, not scraped": Case(big().put(0, small_files=None), quiet, missed(ten)),
        "backfill of big files, counters lost": Case(big().forget_counters(AT + 100), quiet),
        "backfill of big files beside a compaction": Case(
            Table(200_000, small=40_000).append(AT, 5_000, TARGET).compact(AT + 20, 30_000, 100), quiet
        ),
        "slow growth": Case(steady(180), quiet),
        "slow growth, one scrape missing": Case(steady(180), quiet, missed(interval, 80 * MINUTE)),
        "slow growth, several scrapes missing": Case(steady(180), quiet, missed(4 * interval, 80 * MINUTE)),
        "slow growth, every fifth scrape missing": Case(steady(180), quiet, some),
        "slow growth, not scraped": Case(steady(180), quiet, missed(ten, 80 * MINUTE)),
        "slow growth, not scraped, no markers": Case(steady(180), quiet, missed(ten, 80 * MINUTE, marked=False)),
        "slow growth, not scraped soon after the start": Case(steady(180), quiet, missed(ten, 11 * MINUTE)),
        "seldom growth": Case(steady(900, every=5 * MINUTE), quiet),
        "seldom growth, one scrape missing": Case(steady(900, every=5 * MINUTE), quiet, missed(interval, 80 * MINUTE)),
        "seldom growth, every fifth scrape missing": Case(steady(900, every=5 * MINUTE), quiet, some),
        "seldom growth, not scraped": Case(steady(900, every=5 * MINUTE), quiet, missed(ten, 80 * MINUTE)),
        "slow growth and a compaction, then not scraped": Case(
            steady(180).compact(AT, 10_000, 100), quiet, missed(ten, AT + 15 * MINUTE)
        ),
        "compaction": Case(Table(51_000, small=50_000).compact(1_500, 49_500, 300), quiet),
        "compaction in parts": Case(_in_parts(), quiet),
        "counters lost": Case(steady(20).forget_counters(AT), quiet),
        "created again, smaller": Case(_again(1_000), quiet, missed(150, AT)),
        "created again, larger": Case(_again(60_000), quiet, missed(150, AT)),
        "exporter restart": Case(steady(20), quiet, missed(180)),
        "first sight": Case(_unseen_until(AT), quiet),
        "burst soon after first sight": Case(_unseen_until(AT).append(AT + 130, 5_000), every, new_files=5_000),
        "backfill soon after first sight": Case(_unseen_until(AT).append(AT + 130, 5_000, TARGET), quiet),
        "compaction soon after first sight": Case(_unseen_until(AT).compact(AT + 130, 49_000, 300), quiet),
        "larger target": Case(Table(9_000, small=100).put(AT, small_files=4_000, target_file_bytes=4 * TARGET), quiet),
        "levels": Case(Table().put(0, **level), levels, ends=frozenset(levels)),
        "levels, one scrape missing": Case(Table().put(0, **level), levels, missed(interval, 20 * MINUTE)),
        "levels, every fifth scrape missing": Case(Table().put(0, **level), levels, some, frozenset(levels)),
        "levels, not scraped for ten minutes": Case(Table().put(0, **level), levels, missed(ten, 20 * MINUTE)),
        "levels for twenty minutes": Case(_for_a_while(level, 20 * MINUTE), quiet),
        "levels over a restart": Case(Table().put(0, **level), levels, missed(180, 80 * MINUTE), frozenset(levels)),
        "skew of a small table": Case(Table(files=300, mean=MB).put(0, partition_skew_ratio=90), quiet),
        "skew, bytes unknown": Case(Table().put(0, bytes=None, partition_skew_ratio=90), {"LakehousePartitionSkew": 1}),
        "retries": Case(reported(3), retries, ends=frozenset(retries)),
        "retries, every fifth scrape missing": Case(reported(3), retries, some, frozenset(retries)),
        "retries over restarts": Case(
            reported(3, restarts=(AT, AT + 900)), retries, missed(120, AT), frozenset(retries)
        ),
        "no retries, every fifth scrape missing": Case(reported(1), quiet, some),
        "no retries over restarts": Case(reported(1, restarts=(AT, AT + 900)), quiet, missed(120, AT)),
        "retries long ago": Case(reported(1).put(0, reported_commit_attempts_total=90_000), quiet),
        "four commits with retries": Case(reported(9, until=4 * MINUTE + 30), quiet),
        "backlog, every fifth scrape missing": Case(Table(files=5_000, small=4_500), backlog, some, frozenset(backlog)),
        "backlog, debt unknown": Case(Table(files=5_000, small=4_500).put(0, debt_files=None), backlog),
        "backlog, merged": Case(Table(files=5_000, small=4_500).compact(AT, 4_400, 40), backlog),
    }


def reported(attempts: int, *, until: float = 2 * HOUR, restarts: Iterable[float] = ()) -> Table:
    """One commit a minute is reported, of so many attempts each; the server forgets its counts when it restarts."""
    table = Table().put(0, reported_commits_total=0, reported_commit_attempts_total=0)
    for at in range(37, int(until), MINUTE):
        table.add(at, reported_commits_total=1, reported_commit_attempts_total=attempts)
    for at in restarts:
        table.put(at, reported_commits_total=0, reported_commit_attempts_total=0)
    return table


def _in_parts() -> Table:
    table = Table(51_000, small=50_000)
    for part in range(10):
        table.compact(600 + 130 * part, 4_900, 30)
    return table


def _again(files: int) -> Table:
    """Dropped and created again under its name; its counters begin at 0."""
    table = steady(20, until=AT).forget_counters(AT)
    return table.put(AT, data_files=files, small_files=files - 20, bytes=float(files * MB), debt_files=0)


def _unseen_until(at: float) -> Table:
    table = Table(51_000, small=51_000 - 30_000)
    names = ("data_files", "small_files", "debt_files", "bytes", "added_data_files_total", "added_bytes_total")
    known = {"data_files": 51_000, "small_files": 21_000, "bytes": 1e10, "debt_files": 0}
    unknown = dict.fromkeys(names)
    return table.put(0, **unknown).put(at, **known, added_data_files_total=0, added_bytes_total=0.0)


def _for_a_while(values: dict[str, float], seconds: float) -> Table:
    usual = {"snapshots": 50, "metadata_bytes": 50_000, "partition_skew_ratio": 2}
    return Table().put(0, **usual).put(AT, **values).put(AT + seconds, **usual)


def long_cases(interval: int) -> dict[str, Case]:
    """Twelve hours."""
    growing, end = {"LakehouseDeleteFilesGrowing": 1}, 12 * HOUR
    stays = frozenset(growing)
    some = one_in_five(interval, end)
    stale = {"LakehouseTableStale": 1}
    return {
        "merged every hour": Case(deletes(2, merges=range(HOUR, end, HOUR)), {}),
        "merged every hour, later": Case(deletes(2, merges=range(2_000, end, HOUR)), {}),
        "merged every hour, scrapes missing": Case(deletes(2, merges=range(HOUR, end, HOUR)), {}, some),
        "merged every hour, restarts": Case(
            deletes(2, merges=range(HOUR, end, HOUR)), {}, (Gap(5_000, 5_180), Gap(20_000, 23_000, marked=False))
        ),
        "merged in part every hour": Case(deletes(1, merges=range(HOUR, end, HOUR), left=300, first=300), {}),
        "merged every three hours": Case(
            deletes(1, merges=range(3 * HOUR, end, 3 * HOUR)), {"LakehouseDeleteFilesGrowing": 2}
        ),
        "never merged": Case(deletes(2), growing, ends=stays),
        "never merged, then unchanged": Case(deletes(2, until=2 * HOUR), growing, ends=stays),
        "never merged, scrapes missing": Case(deletes(2), growing, some, stays),
        "never merged, restarts": Case(
            deletes(2, until=2 * HOUR), growing, (Gap(20_000, 20_180), Gap(25_000, 25_600, marked=False)), stays
        ),
        "merged for hours, then never": Case(deletes(2, merges=range(HOUR, 6 * HOUR, HOUR)), growing, ends=stays),
        "merged once, late": Case(deletes(2, merges=[8 * HOUR], until=8 * HOUR), growing),
        "merged a little": Case(deletes(2, merges=range(4 * HOUR, end, HOUR), kept=0.95), growing, ends=stays),
        "many deletes that do not grow": Case(Table().put(0, delete_files=900, delete_bytes=9e9), {}),
        "few deletes of much data": Case(deletes(2, files=200_000), {}),
        "deletes by bytes": Case(deletes(2, files=200_000, size=20_000 * MB), growing, ends=stays),
        "deletes of a table created again": Case(deletes(2, merges=[AT], until=AT), {}),
        "written every ten minutes": Case(written(range(0, end, 600), 600), {}),
        "written every ten minutes, then never": Case(
            written(range(0, 2 * HOUR, 600), 600), stale, ends=frozenset(stale)
        ),
        "written never again, scrapes missing": Case(
            written(range(0, 2 * HOUR, 600), 600), stale, some, frozenset(stale)
        ),
        "late once": Case(written([*range(0, 2 * HOUR, 600), *range(6 * HOUR, end, 600)], 600), stale),
        "written twice a day": Case(written([0, 5], 43_195), {}),
        "a clock that goes back once": Case(written(range(0, end, 600), 600, back=(AT, AT + 600, 9_000)), {}),
        "a clock that stays back": Case(written(range(0, end, 600), 600, back=(AT, end, 9_000)), {}),
        "a clock that stays far back, written seldom": Case(
            written(range(0, end, 2 * HOUR), 2 * HOUR, back=(AT, end, 40_000)), {}
        ),
        "a clock that goes back, then no commit": Case(
            written(range(0, 3 * HOUR, 600), 600, back=(AT, 3 * HOUR, 9_000)), stale, ends=frozenset(stale)
        ),
        "a clock that went back and an index in the order of time": Case(
            written(range(0, end, 600), 600, back=(AT, end, 9_000), in_order=True), {}
        ),
        "stale over a restart": Case(
            written(range(0, 2 * HOUR, 600), 600), stale, (Gap(20_000, 20_180),), frozenset(stale)
        ),
    }


def deletes(
    a_minute: int,
    *,
    merges: Iterable[int] = (),
    until: int = 12 * HOUR,
    kept: float = 0.0,
    left: int = 0,
    first: int = 0,
    files: int = 500,
    size: int = MB,
) -> Table:
    """Delete files that grow until a second; a merge leaves `left` of them, or a share `kept`."""
    table, count, at_merge = Table(files=files, small=20), first, sorted(merges)
    table.put(0, delete_files=count, delete_bytes=float(count * size))
    for at in range(MINUTE, 12 * HOUR, MINUTE):
        count += a_minute if at <= until else 0
        while at_merge and at_merge[0] <= at:
            at_merge.pop(0)
            count = max(left, int(count * kept))
        table.put(at, delete_files=count, delete_bytes=float(count * size))
    return table


def written(
    commits: Iterable[int], usual: float, *, back: tuple[int, int, int] = (0, 0, 0), in_order: bool = False
) -> Table:
    """Commits at these seconds. From second `back[0]` until before `back[1]` the writer's clock is `back[2]` behind.
    `in_order`: the gauge keeps the latest time of all, and only the counter of commits moves.
    """
    table, newest = Table().put(0, usual_commit_interval_seconds=usual), float("-inf")
    for at in commits:
        stamp = at - back[2] if back[0] <= at < back[1] else at
        newest = max(newest, stamp)
        table.put(at, last_commit_timestamp_seconds=newest if in_order else stamp).add(at, commits_total=1)
    return table
